# Made of linear_algebra.py by tests/typing/stubs.py.
from collections.abc import Sequence

from tensix._tensor import Tensor

__all__ = ["dot", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]  # fmt: skip

def dot(x1: Tensor, x2: Tensor, /) -> Tensor: ...
def matmul(x1: Tensor, x2: Tensor, /) -> Tensor: ...
def matrix_transpose(x: Tensor, /) -> Tensor: ...
def outer(x1: Tensor, x2: Tensor, /) -> Tensor: ...
def tensordot(
    x1: Tensor,
    x2: Tensor,
    /,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
    *,
    dim: int | tuple[Sequence[int], Sequence[int]] = 2,
    dims: int | tuple[Sequence[int], Sequence[int]] = 2,
) -> Tensor: ...
def vecdot(x1: Tensor, x2: Tensor, /, axis: int = -1, *, dim: int = -1) -> Tensor: ...
