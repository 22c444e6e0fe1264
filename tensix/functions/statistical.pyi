# Made of statistical.py by tests/typing/stubs.py.
from tensix._tensor import Tensor
from tensix.dispatch.annotations import Axes
from tensix.tensors.dtype import _DTypeLike

__all__ = [
    "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var",
]  # fmt: skip

def cumulative_prod(
    x: Tensor,
    /,
    axis: int | None = None,
    dtype: _DTypeLike | None = None,
    include_initial: bool = False,
    *,
    dim: int | None = None,
) -> Tensor: ...
def cumulative_sum(
    x: Tensor,
    /,
    axis: int | None = None,
    dtype: _DTypeLike | None = None,
    include_initial: bool = False,
    *,
    dim: int | None = None,
) -> Tensor: ...
def max(
    x: Tensor, /, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None, keepdim: bool = False
) -> Tensor: ...
def mean(
    x: Tensor, /, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None, keepdim: bool = False
) -> Tensor: ...
def min(
    x: Tensor, /, axis: Axes = None, keepdims: bool = False, *, dim: Axes = None, keepdim: bool = False
) -> Tensor: ...
def prod(
    x: Tensor,
    /,
    axis: Axes = None,
    dtype: _DTypeLike | None = None,
    keepdims: bool = False,
    *,
    dim: Axes = None,
    keepdim: bool = False,
) -> Tensor: ...
def std(
    x: Tensor,
    /,
    axis: Axes = None,
    correction: float = 0.0,
    keepdims: bool = False,
    *,
    dim: Axes = None,
    ddof: float = 0.0,
    unbiased: float = 0.0,
    keepdim: bool = False,
) -> Tensor: ...
def sum(
    x: Tensor,
    /,
    axis: Axes = None,
    dtype: _DTypeLike | None = None,
    keepdims: bool = False,
    *,
    dim: Axes = None,
    keepdim: bool = False,
) -> Tensor: ...
def var(
    x: Tensor,
    /,
    axis: Axes = None,
    correction: float = 0.0,
    keepdims: bool = False,
    *,
    dim: Axes = None,
    ddof: float = 0.0,
    unbiased: float = 0.0,
    keepdim: bool = False,
) -> Tensor: ...

cumprod = cumulative_prod
cumsum = cumulative_sum
