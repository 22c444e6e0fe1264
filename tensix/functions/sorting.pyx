"""The array API standard's chapter on sorting."""
from tensix._tensor cimport Tensor
from tensix.dispatch.operator_table cimport OperatorTable

from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import method

__all__ = ["argsort", "sort"]

cdef OperatorTable ARGSORT = native_functions.ARGSORT
cdef OperatorTable SORT = native_functions.SORT


@method
def argsort(Tensor x not None, /, *, axis=-1, descending=False, stable=True):
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
    >>> import tensix
    >>> x = tensix.tensor([2, 1, 2])
    >>> tensix.argsort(x), tensix.argsort(x, descending=True)
    (tensor([1, 0, 2]), tensor([0, 2, 1]))
    """
    return ARGSORT.call_complete((x, axis, descending, stable), x.impl.key_set)


@method
def sort(Tensor x not None, /, *, axis=-1, descending=False, stable=True):
    """Return a copy with the elements of a dimension in order; parameters as for `argsort`.

    Not-a-numbers come last, in descending order first.

    Examples
    --------
    >>> import tensix
    >>> tensix.sort(tensix.tensor([2, 3, 1]), descending=True)
    tensor([3, 2, 1])
    """
    return SORT.call_complete((x, axis, descending, stable), x.impl.key_set)
