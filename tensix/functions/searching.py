"""The array API standard's chapter on searching: where elements are, how many, and choice among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tensix.dispatch import native_functions
from tensix.dispatch.annotations import Axes, Mask, Operand
from tensix.dispatch.tensor_function import operator

if TYPE_CHECKING:
    from tensix._tensor import Tensor

__all__ = ["argmax", "argmin", "argwhere", "count_nonzero", "nonzero", "searchsorted", "where"]


@operator(native_functions.ARGMAX)
def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return where the largest element is; the first of several, and NaN before all others.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int, optional
        The axis to search along; if not given, positions are those in the flattened tensor.
    keepdims : bool, optional
        Whether reduced axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If there are no elements.

    Examples
    --------
    >>> tensix.argmax(tensix.tensor([[1, 5], [7, 2]]), axis=1)
    tensor([1, 0])
    """


@operator(native_functions.ARGMIN)
def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return where the smallest element is; the first of several, and NaN before all others.

    It takes parameters as for `argmax`.

    Examples
    --------
    >>> tensix.argmin(tensix.tensor([[1, 5], [7, 2]]), axis=1)
    tensor([0, 1])
    """


@operator(native_functions.ARGWHERE)
def argwhere(x: Tensor, /) -> Tensor:
    """Return the positions of the elements that are not zero as a matrix: a row for each, a column per dimension.

    Examples
    --------
    >>> tensix.argwhere(tensix.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
    """


@operator(native_functions.COUNT_NONZERO)
def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return how many elements are not zero; parameters as for `mean`.

    Examples
    --------
    >>> tensix.count_nonzero(tensix.tensor([[0, 5], [7, 2]]), axis=0)
    tensor([1, 2])
    """


@operator(native_functions.NONZERO)
def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Return the positions of the elements that are not zero: a tensor per dimension, such as may be an index.

    Raises
    ------
    ValueError
        If the tensor has no dimensions.

    Examples
    --------
    >>> x = tensix.tensor([[0, 1], [2, 0]])
    >>> tensix.nonzero(x)
    (tensor([0, 1]), tensor([1, 0]))
    >>> x[tensix.nonzero(x)]
    tensor([1, 2])
    """


@operator(native_functions.SEARCHSORTED, method=False)
def searchsorted(
    x1: Tensor, x2: Operand, /, *, side: Literal["left", "right"] = "left", sorter: Tensor | None = None
) -> Tensor:
    """Return the positions where values would have to be put into a sorted tensor for it to stay sorted.

    Parameters
    ----------
    x1 : Tensor
        Of one dimension, in ascending order.
    x2 : Tensor, int or float
        The values.
    side : str, optional
        Before equal elements, ``"left"``, or behind them, ``"right"``.
    sorter : Tensor, optional
        The positions that bring `x1` into order, if it is not, as `argsort` returns them.

    Raises
    ------
    ValueError
        If there is no such side, or `x1` has not one dimension.

    Examples
    --------
    >>> tensix.searchsorted(tensix.tensor([1, 3, 5]), tensix.tensor([3, 4]))
    tensor([1, 2])
    """


@operator(native_functions.WHERE, method=False, hint="nonzero(condition) returns where it holds.")
def where(condition: Mask, x1: Operand, x2: Operand, /) -> Tensor:
    """Return the elements of one tensor where a condition holds, and of another where it does not.

    Parameters
    ----------
    condition : Tensor
        Of bools; of other types what is not zero holds.
    x1, x2 : Tensor or number
        What to choose from. All three are broadcast, and the result has the common element type.

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast together.

    Examples
    --------
    >>> tensix.where(tensix.tensor([True, False]), tensix.tensor([1, 2]), 0)
    tensor([1, 0])
    """
