"""The array API standard's elementwise functions: the make-up of floating-point and complex numbers.

See Note [Elementwise functions].
"""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.elementwise cimport call_one, call_two

from tensix.dispatch import native_functions

__all__ = ["copysign", "nextafter", "signbit", "isfinite", "isinf", "isnan", "conj", "real", "imag"]

cdef OperatorTable COPYSIGN = native_functions.COPYSIGN
cdef OperatorTable NEXTAFTER = native_functions.NEXTAFTER
cdef OperatorTable SIGNBIT = native_functions.SIGNBIT
cdef OperatorTable ISFINITE = native_functions.ISFINITE
cdef OperatorTable ISINF = native_functions.ISINF
cdef OperatorTable ISNAN = native_functions.ISNAN
cdef OperatorTable CONJ = native_functions.CONJ
cdef OperatorTable REAL = native_functions.REAL
cdef OperatorTable IMAG = native_functions.IMAG


def copysign(x1, x2, /, *, out=None):
    """Return the first element of each pair with the sign of the second.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.copysign(tensix.tensor([1.0, -2.0]), -1.0)
    tensor([-1., -2.])
    """
    return call_two(COPYSIGN, x1, x2, out)


def nextafter(x1, x2, /, *, out=None):
    """Return the next number of the type from the first element of each pair towards the second.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.nextafter(tensix.tensor([0.0]), 1.0) > 0
    tensor([ True])
    """
    return call_two(NEXTAFTER, x1, x2, out)


def signbit(x, /, *, out=None):
    """Return whether the sign of each element is set, that of -0 too.

    Examples
    --------
    >>> import tensix
    >>> tensix.signbit(tensix.tensor([-0.0, 0.0]))
    tensor([ True, False])
    """
    return call_one(SIGNBIT, x, out)


def isfinite(x, /, *, out=None):
    """Return whether each element is neither infinite nor not a number.

    Examples
    --------
    >>> import tensix
    >>> tensix.isfinite(tensix.tensor([1.0, float("inf")]))
    tensor([ True, False])
    """
    return call_one(ISFINITE, x, out)


def isinf(x, /, *, out=None):
    """Return whether each element is infinite.

    Examples
    --------
    >>> import tensix
    >>> tensix.isinf(tensix.tensor([1.0, -float("inf")]))
    tensor([False,  True])
    """
    return call_one(ISINF, x, out)


def isnan(x, /, *, out=None):
    """Return whether each element is not a number.

    Examples
    --------
    >>> import tensix
    >>> tensix.isnan(tensix.tensor([1.0, float("nan")]))
    tensor([False,  True])
    """
    return call_one(ISNAN, x, out)


def conj(x, /, *, out=None):
    """Return each element with the sign of its imaginary part turned; a copy also of real numbers.

    Examples
    --------
    >>> import tensix
    >>> tensix.conj(tensix.tensor([1 + 2j]))
    tensor([1.-2.j], dtype=tensix.complex64)
    """
    return call_one(CONJ, x, out)


def real(x, /):
    """Return the real part of each element, as a view.

    Notes
    -----
    Lifetime: the result keeps the storage alive; a write to one is seen in the other, with real numbers too.

    Examples
    --------
    >>> import tensix
    >>> tensix.real(tensix.tensor([1 + 2j]))
    tensor([1.])
    """
    return call_one(REAL, x, None)


def imag(x, /):
    """Return the imaginary part of each element, as a view; of real numbers new zeros.

    Notes
    -----
    Lifetime: the result keeps the storage alive; a write to one is seen in the other.

    Examples
    --------
    >>> import tensix
    >>> tensix.imag(tensix.tensor([1 + 2j]))
    tensor([2.])
    """
    return call_one(IMAG, x, None)
