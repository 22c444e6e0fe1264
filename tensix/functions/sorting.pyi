# Made of sorting.py by tests/typing/stubs.py.
from tensix._tensor import Tensor

__all__ = ["argsort", "sort"]  # fmt: skip

def argsort(
    x: Tensor, /, axis: int = -1, descending: bool = False, stable: bool = True, *, dim: int = -1
) -> Tensor: ...
def sort(x: Tensor, /, axis: int = -1, descending: bool = False, stable: bool = True, *, dim: int = -1) -> Tensor: ...
