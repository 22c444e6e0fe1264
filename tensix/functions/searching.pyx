"""The array API standard's chapter on searching: where elements are, how many, and choice among them."""
cimport cython
from tensix.dispatch.operands cimport is_number, scalar_like
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.reduction cimport reduce
from tensix.tensors.tensor_base cimport TensorBase
from tensix._tensor cimport Tensor

import numpy as np

from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import method
from tensix.functions.creation import full
from tensix.tensors.tensor_base import found_no_tensor

__all__ = ["argmax", "argmin", "argwhere", "count_nonzero", "nonzero", "searchsorted", "where"]

cdef OperatorTable ARGWHERE = native_functions.ARGWHERE
cdef OperatorTable ARGMAX = native_functions.ARGMAX
cdef OperatorTable ARGMIN = native_functions.ARGMIN
cdef OperatorTable COUNT_NONZERO = native_functions.COUNT_NONZERO
cdef OperatorTable NONZERO = native_functions.NONZERO
cdef OperatorTable SEARCHSORTED = native_functions.SEARCHSORTED
cdef OperatorTable WHERE = native_functions.WHERE


@method
def argmax(Tensor x not None, /, *, axis=None, keepdims=False):
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
    >>> import tensix
    >>> tensix.argmax(tensix.tensor([[1, 5], [7, 2]]), axis=1)
    tensor([1, 0])
    """
    return reduce(ARGMAX, x, axis, keepdims)


@method
def argmin(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return where the smallest element is; the first of several, and NaN before all others.

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
    >>> import tensix
    >>> tensix.argmin(tensix.tensor([[1, 5], [7, 2]]), axis=1)
    tensor([0, 1])
    """
    return reduce(ARGMIN, x, axis, keepdims)


@method
def argwhere(Tensor x not None, /):
    """Return the positions of the elements that are not zero as a matrix: a row for each, a column per dimension.

    Examples
    --------
    >>> import tensix
    >>> tensix.argwhere(tensix.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    return ARGWHERE.call1(x)


@method
def count_nonzero(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return how many elements are not zero.

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

    Examples
    --------
    >>> import tensix
    >>> tensix.count_nonzero(tensix.tensor([[0, 5], [7, 2]]), axis=0)
    tensor([1, 2])
    """
    return reduce(COUNT_NONZERO, x, axis, keepdims)


@method
def nonzero(Tensor x not None, /):
    """Return the positions of the elements that are not zero: a tensor per dimension, such as may be an index.

    Raises
    ------
    ValueError
        If the tensor has no dimensions.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.tensor([[0, 1], [2, 0]])
    >>> tensix.nonzero(x)
    (tensor([0, 1]), tensor([1, 0]))
    >>> x[tensix.nonzero(x)]
    tensor([1, 2])
    """
    return NONZERO.call1(x)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
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
    >>> import tensix
    >>> tensix.searchsorted(tensix.tensor([1, 3, 5]), tensix.tensor([3, 4]))
    tensor([1, 2])
    """
    if not isinstance(x2, TensorBase) and isinstance(x1, TensorBase):
        if not is_number(x2):
            raise TypeError(f"searchsorted() takes values that are a tensor or a number, {found_no_tensor(x2)}")
        x2 = scalar_like(x1, x2)
    if sorter is None and isinstance(x1, TensorBase):
        keys = (<TensorBase>x1).impl.key_set | (<TensorBase>x2).impl.key_set
        return SEARCHSORTED.call_complete((x1, x2, side, None), keys)
    return SEARCHSORTED(x1, x2, side=side, sorter=sorter)


@cython.embedsignature(False)  # the last two are optional only for the error to say what serves instead
def where(condition, x1=None, x2=None, /):
    """where(condition, x1, x2, /)
--

    Return the elements of one tensor where a condition holds, and of another where it does not.

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
    >>> import tensix
    >>> tensix.where(tensix.tensor([True, False]), tensix.tensor([1, 2]), 0)
    tensor([1, 0])
    """
    if x2 is None:
        raise TypeError(
            "where() takes a condition and two to choose from, where(condition, x1, x2); nonzero(condition) says where "
            "it holds."
        )
    if not isinstance(x1, TensorBase):
        x1 = number_beside(x1, x2, condition)
    if not isinstance(x2, TensorBase):
        x2 = number_beside(x2, x1, condition)
    if not isinstance(condition, TensorBase):
        raise TypeError(f"where() takes a condition that is a tensor, {found_no_tensor(condition)}")
    keys = (<TensorBase>condition).impl.key_set | (<TensorBase>x1).impl.key_set | (<TensorBase>x2).impl.key_set
    return WHERE.call((condition, x1, x2), None, keys)


cdef object number_beside(object number, object other, object condition):
    """Return a number as a tensor, of the type that it has beside another tensor or number."""
    if not isinstance(number, (int, float, complex)) and not isinstance(number, np.generic):
        raise TypeError(f"where() chooses from tensors and numbers, {found_no_tensor(number)}")
    if isinstance(other, TensorBase):
        return scalar_like(other, number)
    dtype = number.dtype if isinstance(number, np.generic) else None
    return full((), number, dtype=dtype, device=condition.device if isinstance(condition, TensorBase) else None)
