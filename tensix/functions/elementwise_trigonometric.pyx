"""The array API standard's elementwise functions: trigonometric and hyperbolic functions.

See Note [Elementwise functions].
"""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.elementwise cimport call_one, call_two

from tensix.dispatch import native_functions

__all__ = ["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "sin", "sinh", "tan", "tanh"]

cdef OperatorTable ACOS = native_functions.ACOS
cdef OperatorTable ACOSH = native_functions.ACOSH
cdef OperatorTable ASIN = native_functions.ASIN
cdef OperatorTable ASINH = native_functions.ASINH
cdef OperatorTable ATAN = native_functions.ATAN
cdef OperatorTable ATAN2 = native_functions.ATAN2
cdef OperatorTable ATANH = native_functions.ATANH
cdef OperatorTable COS = native_functions.COS
cdef OperatorTable COSH = native_functions.COSH
cdef OperatorTable SIN = native_functions.SIN
cdef OperatorTable SINH = native_functions.SINH
cdef OperatorTable TAN = native_functions.TAN
cdef OperatorTable TANH = native_functions.TANH


def acos(x, /, *, out=None):
    """Return the angle whose cosine each element is.

    Examples
    --------
    >>> import tensix
    >>> tensix.acos(tensix.tensor([1.0, 0.0]))
    tensor([0.0000, 1.5708])
    """
    return call_one(ACOS, x, out)


def acosh(x, /, *, out=None):
    """Return the number whose hyperbolic cosine each element is.

    Examples
    --------
    >>> import tensix
    >>> tensix.acosh(tensix.tensor([1.0]))
    tensor([0.])
    """
    return call_one(ACOSH, x, out)


def asin(x, /, *, out=None):
    """Return the angle whose sine each element is.

    Examples
    --------
    >>> import tensix
    >>> tensix.asin(tensix.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5708])
    """
    return call_one(ASIN, x, out)


def asinh(x, /, *, out=None):
    """Return the number whose hyperbolic sine each element is.

    Examples
    --------
    >>> import tensix
    >>> tensix.asinh(tensix.tensor([0.0]))
    tensor([0.])
    """
    return call_one(ASINH, x, out)


def atan(x, /, *, out=None):
    """Return the angle whose tangent each element is.

    Examples
    --------
    >>> import tensix
    >>> tensix.atan(tensix.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
    """
    return call_one(ATAN, x, out)


def atan2(x1, x2, /, *, out=None):
    """Return the angle of each point (x2, x1) with the positive x axis.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.atan2(tensix.tensor([0.0, 1.0]), 1.0)
    tensor([0.0000, 0.7854])
    """
    return call_two(ATAN2, x1, x2, out)


def atanh(x, /, *, out=None):
    """Return the number whose hyperbolic tangent each element is.

    Examples
    --------
    >>> import tensix
    >>> tensix.atanh(tensix.tensor([0.0, 0.5]))
    tensor([0.0000, 0.5493])
    """
    return call_one(ATANH, x, out)


def cos(x, /, *, out=None):
    """Return the cosine of each angle in radians.

    Examples
    --------
    >>> import tensix
    >>> tensix.cos(tensix.tensor([0.0]))
    tensor([1.])
    """
    return call_one(COS, x, out)


def cosh(x, /, *, out=None):
    """Return the hyperbolic cosine of each element.

    Examples
    --------
    >>> import tensix
    >>> tensix.cosh(tensix.tensor([0.0]))
    tensor([1.])
    """
    return call_one(COSH, x, out)


def sin(x, /, *, out=None):
    """Return the sine of each angle in radians.

    Examples
    --------
    >>> import tensix
    >>> tensix.sin(tensix.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])
    """
    return call_one(SIN, x, out)


def sinh(x, /, *, out=None):
    """Return the hyperbolic sine of each element.

    Examples
    --------
    >>> import tensix
    >>> tensix.sinh(tensix.tensor([0.0]))
    tensor([0.])
    """
    return call_one(SINH, x, out)


def tan(x, /, *, out=None):
    """Return the tangent of each angle in radians.

    Examples
    --------
    >>> import tensix
    >>> tensix.tan(tensix.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5574])
    """
    return call_one(TAN, x, out)


def tanh(x, /, *, out=None):
    """Return the hyperbolic tangent of each element.

    The imaginary part of the result for an infinite real part is zero with the sign that the standard says.

    Examples
    --------
    >>> import tensix
    >>> tensix.tanh(tensix.tensor([0.0, float("inf")]))
    tensor([0., 1.])
    """
    return call_one(TANH, x, out)
