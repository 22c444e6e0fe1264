# Made of utility.py by tests/typing/stubs.py.
from tensix._tensor import Tensor
from tensix.dispatch.annotations import Axes

__all__ = ["all", "any", "diff"]  # fmt: skip

def all(
    x: Tensor, /, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None, keepdim: bool = False
) -> Tensor: ...
def any(
    x: Tensor, /, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None, keepdim: bool = False
) -> Tensor: ...
def diff(
    x: Tensor,
    /,
    n: int = 1,
    axis: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    dim: int = -1,
) -> Tensor: ...
