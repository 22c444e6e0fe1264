"""The array API standard's chapter of utilities: whether all elements, or any, are true, and differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensix.dispatch import native_functions
from tensix.dispatch.annotations import Axes
from tensix.dispatch.tensor_function import operator

if TYPE_CHECKING:
    from tensix._tensor import Tensor

__all__ = ["all", "any", "diff"]


@operator(native_functions.ALL)
def all(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return whether all elements are not zero; of no elements, all are; parameters as for `mean`.

    Examples
    --------
    >>> tensix.all(tensix.tensor([[0, 5], [7, 2]]), axis=0)
    tensor([False,  True])
    """


@operator(native_functions.ANY)
def any(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Return whether any element is not zero; of no elements, none is; parameters as for `mean`.

    Examples
    --------
    >>> tensix.any(tensix.tensor([[0, 0], [7, 0]]), axis=0)
    tensor([ True, False])
    """


@operator(native_functions.DIFF)
def diff(
    x: Tensor, /, n: int = 1, *, axis: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Return the differences of neighbours along a dimension.

    Parameters
    ----------
    x : Tensor
        The tensor.
    n : int, optional
        How many times differences are taken, 0 or more; if there are fewer elements, none are left. Here it may
        stand by position, as in NumPy.
    axis : int, optional
        The dimension.
    prepend, append : Tensor, optional
        What to put before and behind the elements first.

    Raises
    ------
    IndexError
        If there is no such dimension.
    ValueError
        If `n` is negative.

    Examples
    --------
    >>> tensix.diff(tensix.tensor([1, 4, 9]))
    tensor([3, 5])
    """
