from typing import TypeAlias

from tensix._tensor import Tensor

__all__ = ["argmax", "argmin", "count_nonzero"]

_Axes: TypeAlias = int | tuple[int, ...] | None

def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor: ...
def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor: ...
def count_nonzero(x: Tensor, /, *, axis: _Axes = None, keepdims: bool = False) -> Tensor: ...
