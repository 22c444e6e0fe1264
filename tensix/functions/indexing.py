"""The array API standard's chapter on indexing by tensors, beside ``x[...]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import operator

if TYPE_CHECKING:
    from tensix._tensor import Tensor

__all__ = ["take", "take_along_axis"]


@operator(native_functions.TAKE)
def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Return the elements at given positions of a dimension.

    Parameters
    ----------
    x : Tensor
        The tensor.
    indices : Tensor
        The positions, of any shape, which takes the dimension's place; negative ones count from the end.
    axis : int or None, optional
        The dimension; None takes from the elements in row-major order.

    Raises
    ------
    IndexError
        If there is no such position or dimension.
    TypeError
        If the positions are not integers.

    Examples
    --------
    >>> tensix.take(tensix.tensor([[1, 2, 3], [4, 5, 6]]), tensix.tensor([2, 0]), axis=1)
    tensor([[3, 1],
            [6, 4]])
    """


@operator(native_functions.TAKE_ALONG_AXIS)
def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return elements whose positions in one dimension are given for each place of the others.

    Parameters
    ----------
    x : Tensor
        The tensor.
    indices : Tensor
        The positions; a tensor of as many dimensions, such as `argsort` returns.
    axis : int, optional
        The dimension that they are positions in.

    Raises
    ------
    IndexError
        If there is no such position or dimension.

    Examples
    --------
    >>> x = tensix.tensor([[3, 1, 2]])
    >>> tensix.take_along_axis(x, tensix.argsort(x))
    tensor([[1, 2, 3]])
    """
