"""The array API standard's chapter on searching: where elements are, and how many."""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix._tensor cimport Tensor

from tensix.dispatch import native_functions

__all__ = ["argmax", "argmin", "count_nonzero"]

cdef OperatorTable COUNT_NONZERO = native_functions.COUNT_NONZERO


def argmax(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return where the largest element is; the first of several, and NaN before all others.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int, optional
        The axis to look along; if not given, positions are those in the flattened tensor.
    keepdims : bool, optional
        Whether folded axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If there are no elements.

    Examples
    --------
    >>> import tensix
    >>> tensix.argmax(tensix.tensor([[1, 5], [7, 2]]), axis=1)
    tensor([1, 0])
    """
    return x.argmax(axis, keepdims)


def argmin(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return where the smallest element is; the first of several, and NaN before all others.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int, optional
        The axis to look along; if not given, positions are those in the flattened tensor.
    keepdims : bool, optional
        Whether folded axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If there are no elements.

    Examples
    --------
    >>> import tensix
    >>> tensix.argmin(tensix.tensor([[1, 5], [7, 2]]), axis=1)
    tensor([0, 1])
    """
    return x.argmin(axis, keepdims)


def count_nonzero(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return how many elements are not zero.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : int or tuple of int, optional
        The axes to fold; all if not given. Negative ones count from the end.
    keepdims : bool, optional
        Whether folded axes stay, with size 1.

    Raises
    ------
    IndexError
        If there is no such axis.
    ValueError
        If an axis is named twice.

    Examples
    --------
    >>> import tensix
    >>> tensix.count_nonzero(tensix.tensor([[0, 5], [7, 2]]), axis=0)
    tensor([1, 2])
    """
    return COUNT_NONZERO.call((x,), {"axis": axis, "keepdims": keepdims}, x.impl.key_set)
