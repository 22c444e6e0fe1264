from typing import TypeAlias

from tensix._tensor import Tensor

__all__ = ["all", "any", "diff"]

_Axes: TypeAlias = int | tuple[int, ...] | None

def all(
    x: Tensor, /, axis: _Axes = None, keepdims: bool = False, *, dim: _Axes = None, keepdim: bool = False
) -> Tensor: ...
def any(
    x: Tensor, /, axis: _Axes = None, keepdims: bool = False, *, dim: _Axes = None, keepdim: bool = False
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
