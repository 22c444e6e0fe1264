"""The array API standard's chapter of utilities: whether all elements, or any, are true, and differences."""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.reduction cimport reduce
from tensix._tensor cimport Tensor

from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import method

__all__ = ["all", "any", "diff"]

cdef OperatorTable ALL = native_functions.ALL
cdef OperatorTable ANY = native_functions.ANY


@method
def all(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return whether all elements are not zero; of no elements, all are.

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
    >>> tensix.all(tensix.tensor([[0, 5], [7, 2]]), axis=0)
    tensor([False,  True])
    """
    return reduce(ALL, x, axis, keepdims)


@method
def any(Tensor x not None, /, *, axis=None, keepdims=False):
    """Return whether any element is not zero; of no elements, none is.

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
    >>> tensix.any(tensix.tensor([[0, 0], [7, 0]]), axis=0)
    tensor([ True, False])
    """
    return reduce(ANY, x, axis, keepdims)


@method
def diff(x, /, n=1, *, axis=-1, prepend=None, append=None):
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
    >>> import tensix
    >>> tensix.diff(tensix.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    return native_functions.DIFF(x, n, axis, prepend, append)
