# Made of indexing.py by tests/typing/stubs.py.
from tensix._tensor import Tensor

__all__ = ["take", "take_along_axis"]  # fmt: skip

def take(x: Tensor, indices: Tensor, /, axis: int | None = None, *, dim: int | None = None) -> Tensor: ...
def take_along_axis(x: Tensor, indices: Tensor, /, axis: int = -1, *, dim: int = -1) -> Tensor: ...
