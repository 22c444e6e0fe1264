"""The array API standard's chapter on sorting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import operator

if TYPE_CHECKING:
    from tensix._tensor import Tensor

__all__ = ["argsort", "sort"]


@operator(native_functions.ARGSORT)
def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the positions that bring the elements of a dimension into order.

    Parameters
    ----------
    x : Tensor
        The tensor.
    axis : int, optional
        The dimension.
    descending : bool, optional
        Whether the largest comes first.
    stable : bool, optional
        Whether equal elements keep their order, also in descending order.

    Raises
    ------
    IndexError
        If there is no such dimension.

    Examples
    --------
    >>> x = tensix.tensor([2, 1, 2])
    >>> tensix.argsort(x), tensix.argsort(x, descending=True)
    (tensor([1, 0, 2]), tensor([0, 2, 1]))
    """


@operator(native_functions.SORT)
def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return a copy with the elements of a dimension in order; parameters as for `argsort`.

    Not-a-numbers come last, in descending order first.

    Examples
    --------
    >>> tensix.sort(tensix.tensor([2, 3, 1]), descending=True)
    tensor([3, 2, 1])
    """
