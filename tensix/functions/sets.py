"""The array API standard's chapter on sets: which values there are, and whether one is among them.

Values come in ascending order. Each not-a-number counts as a value of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from tensix._tensor import Tensor
from tensix.dispatch import native_functions
from tensix.dispatch.annotations import Operand
from tensix.dispatch.tensor_function import operator

__all__ = [
    "UniqueAll", "UniqueCounts", "UniqueInverse", "isin", "unique_all", "unique_counts", "unique_inverse",
    "unique_values",
]  # fmt: skip


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    __module__ = "tensix"  # See Note [Modules of classes]

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    __module__ = "tensix"  # See Note [Modules of classes]

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    __module__ = "tensix"  # See Note [Modules of classes]

    values: Tensor
    inverse_indices: Tensor


@operator(native_functions.ISIN, method=False)
def isin(x1: Operand, x2: Operand, /, *, invert: bool = False) -> Tensor:
    """Return for each element whether it is among the elements of another tensor.

    Parameters
    ----------
    x1 : Tensor or number
        The elements that are looked for.
    x2 : Tensor or number
        The elements to search; one of the two must be a tensor.
    invert : bool, optional
        Whether to tell of each that is not there instead.

    Returns
    -------
    Tensor
        Of bools, of the shape of `x1`.

    Examples
    --------
    >>> tensix.isin(tensix.tensor([1, 2, 3]), tensix.tensor([3, 1]))
    tensor([ True, False,  True])
    """


@operator(native_functions.UNIQUE_ALL, method=False, result_class=UniqueAll)
def unique_all(x: Tensor, /) -> UniqueAll:
    """Return the different values, where each is first, which of them each element is, and how often each is there.

    Returns
    -------
    UniqueAll
        A named tuple of `values`, `indices` (into the elements in row-major order), `inverse_indices` (of the shape of
        `x`) and `counts`.

    Examples
    --------
    >>> values, indices, inverse_indices, counts = tensix.unique_all(tensix.tensor([3, 1, 3]))
    >>> values, indices, inverse_indices, counts
    (tensor([1, 3]), tensor([1, 0]), tensor([1, 0, 1]), tensor([1, 2]))
    """


@operator(native_functions.UNIQUE_COUNTS, method=False, result_class=UniqueCounts)
def unique_counts(x: Tensor, /) -> UniqueCounts:
    """Return the different values, and how often each is there: a named tuple of `values` and `counts`.

    Examples
    --------
    >>> tensix.unique_counts(tensix.tensor([3, 1, 3])).counts
    tensor([1, 2])
    """


@operator(native_functions.UNIQUE_INVERSE, method=False, result_class=UniqueInverse)
def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """Return the different values, and which each element is: a named tuple of `values` and `inverse_indices`.

    Examples
    --------
    >>> tensix.unique_inverse(tensix.tensor([3, 1, 3])).inverse_indices
    tensor([1, 0, 1])
    """


@operator(native_functions.UNIQUE_VALUES, method=False)
def unique_values(x: Tensor, /) -> Tensor:
    """Return the different values.

    Examples
    --------
    >>> tensix.unique_values(tensix.tensor([3, 1, 3]))
    tensor([1, 3])
    """
