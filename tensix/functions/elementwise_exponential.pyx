"""The array API standard's elementwise functions: exponentials and logarithms.

See Note [Elementwise functions].
"""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.elementwise cimport call_one, call_two

from tensix.dispatch import native_functions

__all__ = ["exp", "expm1", "log", "log1p", "log2", "log10", "logaddexp"]

cdef OperatorTable EXP = native_functions.EXP
cdef OperatorTable EXPM1 = native_functions.EXPM1
cdef OperatorTable LOG = native_functions.LOG
cdef OperatorTable LOG1P = native_functions.LOG1P
cdef OperatorTable LOG2 = native_functions.LOG2
cdef OperatorTable LOG10 = native_functions.LOG10
cdef OperatorTable LOGADDEXP = native_functions.LOGADDEXP


def exp(x, /, *, out=None):
    """Return e to the power of each element.

    Examples
    --------
    >>> import tensix
    >>> tensix.exp(tensix.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """
    return call_one(EXP, x, out)


def expm1(x, /, *, out=None):
    """Return e to the power of each element, minus 1, precise near zero.

    Complex numbers with infinite parts give what the standard says, where NumPy leaves it to the C library.

    Examples
    --------
    >>> import tensix
    >>> tensix.expm1(tensix.tensor([0.0, 1e-5]))
    tensor([0.e+00, 1.e-05])
    """
    return call_one(EXPM1, x, out)


def log(x, /, *, out=None):
    """Return the natural logarithm of each element.

    Examples
    --------
    >>> import tensix
    >>> tensix.log(tensix.tensor([1.0, float("inf")]))
    tensor([ 0., inf])
    """
    return call_one(LOG, x, out)


def log1p(x, /, *, out=None):
    """Return the natural logarithm of 1 plus each element, precise near zero.

    Examples
    --------
    >>> import tensix
    >>> tensix.log1p(tensix.tensor([0.0, 1e-5]))
    tensor([0.0000e+00, 9.9999e-06])
    """
    return call_one(LOG1P, x, out)


def log2(x, /, *, out=None):
    """Return the logarithm of each element to base 2.

    Examples
    --------
    >>> import tensix
    >>> tensix.log2(tensix.tensor([1.0, 8.0]))
    tensor([0., 3.])
    """
    return call_one(LOG2, x, out)


def log10(x, /, *, out=None):
    """Return the logarithm of each element to base 10.

    Examples
    --------
    >>> import tensix
    >>> tensix.log10(tensix.tensor([1.0, 100.0]))
    tensor([0., 2.])
    """
    return call_one(LOG10, x, out)


def logaddexp(x1, x2, /, *, out=None):
    """Return the logarithm of the sum of the exponentials of each pair, without overflow.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.logaddexp(tensix.tensor([1000.0]), 1000.0)
    tensor([1000.6932])
    """
    return call_two(LOGADDEXP, x1, x2, out)
