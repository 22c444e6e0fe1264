from typing import Self

from tensix.tensors.dispatch_key import DispatchKey

__all__ = ["exclude_keys", "include_keys"]

class _Guard:
    def __init__(self, *keys: DispatchKey | str) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...

class include_keys(_Guard):
    """Include dispatch keys in every call of this thread, within a scope."""
class exclude_keys(_Guard):
    """Exclude dispatch keys from every call of this thread, within a scope; wins over `include_keys`."""
