"""The array API standard's elementwise functions: logical and bitwise functions.

See Note [Elementwise functions].
"""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.elementwise cimport call_one, call_two

from tensix.dispatch import native_functions

__all__ = [
    "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bitwise_invert", "bitwise_left_shift", "bitwise_right_shift",
]

cdef OperatorTable LOGICAL_AND = native_functions.LOGICAL_AND
cdef OperatorTable LOGICAL_OR = native_functions.LOGICAL_OR
cdef OperatorTable LOGICAL_XOR = native_functions.LOGICAL_XOR
cdef OperatorTable LOGICAL_NOT = native_functions.LOGICAL_NOT
cdef OperatorTable BITWISE_AND = native_functions.BITWISE_AND
cdef OperatorTable BITWISE_OR = native_functions.BITWISE_OR
cdef OperatorTable BITWISE_XOR = native_functions.BITWISE_XOR
cdef OperatorTable BITWISE_INVERT = native_functions.BITWISE_INVERT
cdef OperatorTable BITWISE_LEFT_SHIFT = native_functions.BITWISE_LEFT_SHIFT
cdef OperatorTable BITWISE_RIGHT_SHIFT = native_functions.BITWISE_RIGHT_SHIFT


def logical_and(x1, x2, /, *, out=None):
    """Return whether both elements of each pair are true, that is, not zero.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.logical_and(tensix.tensor([True, False]), True)
    tensor([ True, False])
    """
    return call_two(LOGICAL_AND, x1, x2, out)


def logical_or(x1, x2, /, *, out=None):
    """Return whether an element of each pair is true, that is, not zero.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.logical_or(tensix.tensor([True, False]), False)
    tensor([ True, False])
    """
    return call_two(LOGICAL_OR, x1, x2, out)


def logical_xor(x1, x2, /, *, out=None):
    """Return whether exactly one element of each pair is true, that is, not zero.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.logical_xor(tensix.tensor([True, False]), True)
    tensor([False,  True])
    """
    return call_two(LOGICAL_XOR, x1, x2, out)


def logical_not(x, /, *, out=None):
    """Return whether each element is false, that is, zero.

    Examples
    --------
    >>> import tensix
    >>> tensix.logical_not(tensix.tensor([True, False]))
    tensor([False,  True])
    """
    return call_one(LOGICAL_NOT, x, out)


def bitwise_and(x1, x2, /, *, out=None):
    """Return the bits that both elements of each pair have.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.bitwise_and(tensix.tensor([5, 6]), 3)
    tensor([1, 2])
    """
    return call_two(BITWISE_AND, x1, x2, out)


def bitwise_or(x1, x2, /, *, out=None):
    """Return the bits that an element of each pair has.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.bitwise_or(tensix.tensor([5, 6]), 3)
    tensor([7, 7])
    """
    return call_two(BITWISE_OR, x1, x2, out)


def bitwise_xor(x1, x2, /, *, out=None):
    """Return the bits that exactly one element of each pair has.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.bitwise_xor(tensix.tensor([5, 6]), 3)
    tensor([6, 5])
    """
    return call_two(BITWISE_XOR, x1, x2, out)


def bitwise_invert(x, /, *, out=None):
    """Return the bits that each element has not.

    Examples
    --------
    >>> import tensix
    >>> tensix.bitwise_invert(tensix.tensor([0, 5]))
    tensor([-1, -6])
    """
    return call_one(BITWISE_INVERT, x, out)


def bitwise_left_shift(x1, x2, /, *, out=None):
    """Return the bits of each first element moved up by the second; those beyond the type are lost.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.bitwise_left_shift(tensix.tensor([1, 2]), 3)
    tensor([ 8, 16])
    """
    return call_two(BITWISE_LEFT_SHIFT, x1, x2, out)


def bitwise_right_shift(x1, x2, /, *, out=None):
    """Return the bits of each first element moved down by the second; negative numbers stay so.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.bitwise_right_shift(tensix.tensor([8, -8]), 1)
    tensor([ 4, -4])
    """
    return call_two(BITWISE_RIGHT_SHIFT, x1, x2, out)
