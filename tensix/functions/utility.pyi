from typing import TypeAlias

from tensix._tensor import Tensor

__all__ = ["all", "any"]

_Axes: TypeAlias = int | tuple[int, ...] | None

def all(x: Tensor, /, *, axis: _Axes = None, keepdims: bool = False) -> Tensor: ...
def any(x: Tensor, /, *, axis: _Axes = None, keepdims: bool = False) -> Tensor: ...
