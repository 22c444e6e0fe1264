"""The array API standard's elementwise functions: rounding.

See Note [Elementwise functions].
"""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.elementwise cimport call_one

from tensix.dispatch import native_functions

__all__ = ["ceil", "floor", "round", "trunc"]

cdef OperatorTable CEIL = native_functions.CEIL
cdef OperatorTable FLOOR = native_functions.FLOOR
cdef OperatorTable ROUND = native_functions.ROUND
cdef OperatorTable TRUNC = native_functions.TRUNC


def ceil(x, /, *, out=None):
    """Return the next integer above each element, of the same type.

    Examples
    --------
    >>> import tensix
    >>> tensix.ceil(tensix.tensor([1.2, -1.2]))
    tensor([ 2., -1.])
    """
    return call_one(CEIL, x, out)


def floor(x, /, *, out=None):
    """Return the next integer below each element, of the same type.

    Examples
    --------
    >>> import tensix
    >>> tensix.floor(tensix.tensor([1.2, -1.2]))
    tensor([ 1., -2.])
    """
    return call_one(FLOOR, x, out)


def round(x, /, *, out=None):
    """Return the integer next to each element, of two the even one, of the same type.

    Examples
    --------
    >>> import tensix
    >>> tensix.round(tensix.tensor([0.5, 1.5, -1.2]))
    tensor([ 0.,  2., -1.])
    """
    return call_one(ROUND, x, out)


def trunc(x, /, *, out=None):
    """Return the next integer towards zero, of the same type.

    Examples
    --------
    >>> import tensix
    >>> tensix.trunc(tensix.tensor([1.7, -1.7]))
    tensor([ 1., -1.])
    """
    return call_one(TRUNC, x, out)
