"""The array API standard's chapter on statistics: sums, products, extremes, means and spreads.

NaN is passed on. Sums of floating numbers are made by pairs, so that the error grows with the logarithm of their count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensix.dispatch import native_functions
from tensix.dispatch.annotations import Axes
from tensix.dispatch.tensor_function import alias, operator

if TYPE_CHECKING:
    from tensix._tensor import Tensor
    from tensix.tensors.dtype import _DTypeLike

__all__ = [
    "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var",
]  # fmt: skip


@operator(native_functions.CUMULATIVE_PROD)
def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: _DTypeLike | None = None, include_initial: bool = False
) -> Tensor:
    """Return the products of the first, the first two, and so on up to all elements of an axis.

    It takes parameters as for `cumulative_sum`.

    Examples
    --------
    >>> tensix.cumulative_prod(tensix.tensor([1, 2, 3]), include_initial=True)
    tensor([1, 1, 2, 6])
    """


@operator(native_functions.CUMULATIVE_SUM)
def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: _DTypeLike | None = None, include_initial: bool = False
) -> Tensor:
    """Return the sums of the first, the first two, and so on up to all elements along an axis.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int, optional
        The axis to go along; may be left out for one dimension.
    dtype : DType, optional
        The type of the result. If not given, small integers become int64 or uint64, and bools int64.
    include_initial : bool, optional
        Whether the result begins with that of no elements, and so is one longer.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If no axis is given and there is not exactly one.

    Examples
    --------
    >>> tensix.cumulative_sum(tensix.tensor([1, 2, 3]), include_initial=True)
    tensor([0, 1, 3, 6])
    """


@operator(native_functions.MAX)
def max(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the largest elements; parameters as for `mean`.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice, or an element is asked for where there is none.

    Examples
    --------
    >>> tensix.max(tensix.tensor([[1, 5], [7, 2]]), axis=1)
    tensor([5, 7])
    """


@operator(native_functions.MEAN)
def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the means, of no elements nan.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to reduce; all if not given. Negative ones count from the end.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Notes
    -----
    The result has the type of the elements; that of integers and bools is float32.

    Examples
    --------
    >>> tensix.mean(tensix.tensor([[1.0, 5.0], [7.0, 3.0]]), axis=0)
    tensor([4., 4.])
    """


@operator(native_functions.MIN)
def min(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return the smallest elements; parameters as for `max`.

    Examples
    --------
    >>> tensix.min(tensix.tensor([[1, 5], [7, 2]]), axis=1)
    tensor([1, 2])
    """


@operator(native_functions.PROD)
def prod(x: Tensor, /, *, axis: Axes = None, dtype: _DTypeLike | None = None, keepdims: bool = False) -> Tensor:
    """Return the products, of no elements 1; parameters as for `sum`.

    Examples
    --------
    >>> tensix.prod(tensix.tensor([[1, 5], [7, 2]]))
    tensor(70)
    """


@operator(native_functions.STD)
def std(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Return the standard deviations: the square roots of the variances; errors as for `mean`.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to reduce; all if not given. Negative ones count from the end.
    correction : int or float, optional
        What is taken from the count that the squared distances are divided by; 1 estimates from a sample.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Examples
    --------
    >>> tensix.std(tensix.tensor([1.0, 3.0]))
    tensor(1.)
    """


@operator(native_functions.SUM)
def sum(x: Tensor, /, *, axis: Axes = None, dtype: _DTypeLike | None = None, keepdims: bool = False) -> Tensor:
    """Return the sums, of no elements 0; errors as for `mean`.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to reduce; all if not given. Negative ones count from the end.
    dtype : DType, optional
        The type of the result. If not given, small integers become int64 or uint64, and bools int64.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Examples
    --------
    >>> tensix.sum(tensix.tensor([[1, 5], [7, 2]]), axis=0, keepdims=True)
    tensor([[8, 7]])
    """


@operator(native_functions.VAR)
def var(x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Return the variances: the means of the squared distances to the mean; parameters as for `std`.

    Notes
    -----
    The result has the type of the elements; that of integers and bools is float32. That of complex
    numbers is real.

    Examples
    --------
    >>> tensix.var(tensix.tensor([1.0, 3.0]), correction=1)
    tensor(2.)
    """


cumprod = alias("cumprod", cumulative_prod)  # in NumPy and PyTorch
cumsum = alias("cumsum", cumulative_sum)
