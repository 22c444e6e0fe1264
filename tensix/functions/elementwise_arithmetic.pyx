"""The array API standard's elementwise functions: arithmetic.

See Note [Elementwise functions].
"""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.elementwise cimport call_one, call_two

from tensix.dispatch import native_functions

__all__ = [
    "abs", "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow", "negative", "positive",
    "reciprocal", "sign", "square", "sqrt", "hypot",
]

cdef OperatorTable ABS = native_functions.ABS
cdef OperatorTable ADD = native_functions.ADD
cdef OperatorTable SUB = native_functions.SUB
cdef OperatorTable MUL = native_functions.MUL
cdef OperatorTable DIV = native_functions.DIV
cdef OperatorTable FLOOR_DIVIDE = native_functions.FLOOR_DIVIDE
cdef OperatorTable REMAINDER = native_functions.REMAINDER
cdef OperatorTable POW = native_functions.POW
cdef OperatorTable NEG = native_functions.NEG
cdef OperatorTable POSITIVE = native_functions.POSITIVE
cdef OperatorTable RECIPROCAL = native_functions.RECIPROCAL
cdef OperatorTable SIGN = native_functions.SIGN
cdef OperatorTable SQUARE = native_functions.SQUARE
cdef OperatorTable SQRT = native_functions.SQRT
cdef OperatorTable HYPOT = native_functions.HYPOT


def abs(x, /, *, out=None):
    """Return the absolute value of each element; of complex numbers a real tensor.

    Examples
    --------
    >>> import tensix
    >>> tensix.abs(tensix.tensor([-2, 3]))
    tensor([2, 3])
    """
    return call_one(ABS, x, out)


def add(x1, x2, /, *, out=None):
    """Return the sum of each pair of elements.

    Parameters
    ----------
    x1, x2 : Tensor or number
        The operands, one of them a tensor at least.
    out : Tensor, optional
        Where the result is written, as described in Note [Elementwise functions]; a new tensor if not given.

    Returns
    -------
    Tensor
        Of the operands' common element type and shape; `out`, if that is given.

    Raises
    ------
    TypeError
        If the element types have none in common, or that of the result cannot be converted to that of `out`.
    ValueError
        If the shapes cannot be broadcast together, or `out` has another one than the result.
    RuntimeError
        If `out` is read-only, or several of its elements lie at the same place.

    Examples
    --------
    >>> import tensix
    >>> tensix.add(tensix.tensor([1, 2]), 10)
    tensor([11, 12])
    """
    return call_two(ADD, x1, x2, out)


def subtract(x1, x2, /, *, out=None):
    """Return the difference of each pair of elements.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.subtract(10, tensix.tensor([1, 2]))
    tensor([9, 8])
    """
    return call_two(SUB, x1, x2, out)


def multiply(x1, x2, /, *, out=None):
    """Return the product of each pair of elements.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.multiply(tensix.tensor([1.5, 2.0]), 2)
    tensor([3., 4.])
    """
    return call_two(MUL, x1, x2, out)


def divide(x1, x2, /, *, out=None):
    """Return the quotient of each pair of elements, a real or complex number.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.divide(tensix.tensor([1, 2]), 4)
    tensor([0.25, 0.50])
    """
    return call_two(DIV, x1, x2, out)


def floor_divide(x1, x2, /, *, out=None):
    """Return the quotient of each pair of elements, rounded down.

    Infinite operands give what the rounded quotient gives, as the standard has it and NumPy has not. An integer
    divided by zero is 0. It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.floor_divide(tensix.tensor([7, -7]), 2)
    tensor([ 3, -4])
    """
    return call_two(FLOOR_DIVIDE, x1, x2, out)


def remainder(x1, x2, /, *, out=None):
    """Return what each division rounded down leaves, of the divisor's sign; of integers by zero 0.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.remainder(tensix.tensor([7, -7]), 4)
    tensor([3, 1])
    """
    return call_two(REMAINDER, x1, x2, out)


def pow(x1, x2, /, *, out=None):
    """Return the first element of each pair to the power of the second.

    It takes parameters as for `add`.

    Raises
    ------
    ValueError
        If an integer shall be raised to a negative integer power.

    Examples
    --------
    >>> import tensix
    >>> tensix.pow(tensix.tensor([2, 3]), 2)
    tensor([4, 9])
    """
    return call_two(POW, x1, x2, out)


def negative(x, /, *, out=None):
    """Return each element times -1.

    Examples
    --------
    >>> import tensix
    >>> tensix.negative(tensix.tensor([1, -2]))
    tensor([-1,  2])
    """
    return call_one(NEG, x, out)


def positive(x, /, *, out=None):
    """Return a copy: each element times 1.

    Examples
    --------
    >>> import tensix
    >>> tensix.positive(tensix.tensor([1, -2]))
    tensor([ 1, -2])
    """
    return call_one(POSITIVE, x, out)


def reciprocal(x, /, *, out=None):
    """Return 1 divided by each element, a real or complex number.

    Examples
    --------
    >>> import tensix
    >>> tensix.reciprocal(tensix.tensor([2.0, 4.0]))
    tensor([0.50, 0.25])
    """
    return call_one(RECIPROCAL, x, out)


def sign(x, /, *, out=None):
    """Return -1, 0 or 1 for each element; of complex numbers the direction from zero.

    Examples
    --------
    >>> import tensix
    >>> tensix.sign(tensix.tensor([-2.5, 0.0, 3.0]))
    tensor([-1.,  0.,  1.])
    """
    return call_one(SIGN, x, out)


def square(x, /, *, out=None):
    """Return each element times itself.

    Examples
    --------
    >>> import tensix
    >>> tensix.square(tensix.tensor([2, 3]))
    tensor([4, 9])
    """
    return call_one(SQUARE, x, out)


def sqrt(x, /, *, out=None):
    """Return the square root of each element; of negative real numbers not a number.

    Examples
    --------
    >>> import tensix
    >>> tensix.sqrt(tensix.tensor([4.0, 9.0]))
    tensor([2., 3.])
    """
    return call_one(SQRT, x, out)


def hypot(x1, x2, /, *, out=None):
    """Return the length of the hypotenuse for each pair of legs.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.hypot(tensix.tensor([3.0]), 4.0)
    tensor([5.])
    """
    return call_two(HYPOT, x1, x2, out)
