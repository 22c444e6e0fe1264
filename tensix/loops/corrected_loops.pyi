from types import TracebackType

__all__ = ["get_math", "set_math"]

class set_math:
    """Choose how mathematical functions such as `exp` and `atan2` are computed, for float16 to float64."""
    def __init__(self, mode: str, /) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

def get_math() -> str: """Return how mathematical functions are computed: ``"default"``, ``"exact"`` or ``"fast"``."""
def math_in_use() -> str: """Return in words whose loops compute mathematical functions."""
def initial_math() -> str: """Return what the environment says."""
