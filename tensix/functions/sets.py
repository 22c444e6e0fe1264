"""The array API standard's chapter on sets: which values there are, and whether one is among them.

Values come in ascending order. Each not-a-number counts as a value of its own.
"""

from typing import NamedTuple

import numpy as np

from tensix._tensor import Tensor
from tensix.dispatch import native_functions
from tensix.dispatch.operands import scalar_like
from tensix.dispatch.tensor_function import function
from tensix.tensors.tensor_base import found_no_tensor

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


@function
def isin(x1: Tensor | complex, x2: Tensor | complex, /, *, invert: bool = False) -> Tensor:
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
    >>> import tensix
    >>> tensix.isin(tensix.tensor([1, 2, 3]), tensix.tensor([3, 1]))
    tensor([ True, False,  True])
    """
    for x in (x1, x2):
        if not isinstance(x, Tensor | int | float | complex | np.generic):
            raise TypeError(f"isin() takes tensors, and a number for one of two, {found_no_tensor(x)}")
    if not isinstance(x1, Tensor) and isinstance(x2, Tensor):
        x1 = scalar_like(x2, x1)
    elif isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        x2 = scalar_like(x1, x2)
    return native_functions.ISIN(x1, x2, invert=invert)


@function
def unique_all(x: Tensor, /) -> UniqueAll:
    """Return the different values, where each is first, which of them each element is, and how often each is there.

    Returns
    -------
    UniqueAll
        A named tuple of `values`, `indices` (into the elements in row-major order), `inverse_indices` (of the shape of
        `x`) and `counts`.

    Examples
    --------
    >>> import tensix
    >>> values, indices, inverse_indices, counts = tensix.unique_all(tensix.tensor([3, 1, 3]))
    >>> values, indices, inverse_indices, counts
    (tensor([1, 3]), tensor([1, 0]), tensor([1, 0, 1]), tensor([1, 2]))
    """
    return UniqueAll(*native_functions.UNIQUE_ALL(x))


@function
def unique_counts(x: Tensor, /) -> UniqueCounts:
    """Return the different values, and how often each is there: a named tuple of `values` and `counts`.

    Examples
    --------
    >>> import tensix
    >>> tensix.unique_counts(tensix.tensor([3, 1, 3])).counts
    tensor([1, 2])
    """
    return UniqueCounts(*native_functions.UNIQUE_COUNTS(x))


@function
def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """Return the different values, and which each element is: a named tuple of `values` and `inverse_indices`.

    Examples
    --------
    >>> import tensix
    >>> tensix.unique_inverse(tensix.tensor([3, 1, 3])).inverse_indices
    tensor([1, 0, 1])
    """
    return UniqueInverse(*native_functions.UNIQUE_INVERSE(x))


@function
def unique_values(x: Tensor, /) -> Tensor:
    """Return the different values.

    Examples
    --------
    >>> import tensix
    >>> tensix.unique_values(tensix.tensor([3, 1, 3]))
    tensor([1, 3])
    """
    return native_functions.UNIQUE_VALUES(x)
