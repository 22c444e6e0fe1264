"""The array API standard's elementwise functions: comparisons and bounds.

See Note [Elementwise functions].
"""
from libc.stdint cimport uint64_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.elementwise cimport call_two
from tensix.dispatch.operands cimport is_number, scalar_like
from tensix.tensors.tensor_base cimport TensorBase

from tensix.dispatch import native_functions

__all__ = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "maximum", "minimum", "clip"]

cdef OperatorTable EQUAL = native_functions.EQUAL
cdef OperatorTable NOT_EQUAL = native_functions.NOT_EQUAL
cdef OperatorTable LESS = native_functions.LESS
cdef OperatorTable LESS_EQUAL = native_functions.LESS_EQUAL
cdef OperatorTable GREATER = native_functions.GREATER
cdef OperatorTable GREATER_EQUAL = native_functions.GREATER_EQUAL
cdef OperatorTable MAXIMUM = native_functions.MAXIMUM
cdef OperatorTable MINIMUM = native_functions.MINIMUM
cdef OperatorTable CLIP = native_functions.CLIP
cdef OperatorTable CLONE = native_functions.CLONE


def equal(x1, x2, /, *, out=None):
    """Return whether the elements of each pair are equal.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.equal(tensix.tensor([1, 2]), 2)
    tensor([False,  True])
    """
    return call_two(EQUAL, x1, x2, out)


def not_equal(x1, x2, /, *, out=None):
    """Return whether the elements of each pair differ.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.not_equal(tensix.tensor([1, 2]), 2)
    tensor([ True, False])
    """
    return call_two(NOT_EQUAL, x1, x2, out)


def less(x1, x2, /, *, out=None):
    """Return whether the first element of each pair is the smaller one.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.less(tensix.tensor([1, 2]), 2)
    tensor([ True, False])
    """
    return call_two(LESS, x1, x2, out)


def less_equal(x1, x2, /, *, out=None):
    """Return whether the first element of each pair is not above the second.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.less_equal(tensix.tensor([1, 2]), 1)
    tensor([ True, False])
    """
    return call_two(LESS_EQUAL, x1, x2, out)


def greater(x1, x2, /, *, out=None):
    """Return whether the first element of each pair is the larger one.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.greater(tensix.tensor([1, 2]), 1)
    tensor([False,  True])
    """
    return call_two(GREATER, x1, x2, out)


def greater_equal(x1, x2, /, *, out=None):
    """Return whether the first element of each pair is not below the second.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.greater_equal(tensix.tensor([1, 2]), 2)
    tensor([False,  True])
    """
    return call_two(GREATER_EQUAL, x1, x2, out)


def maximum(x1, x2, /, *, out=None):
    """Return the larger element of each pair; not a number, if one is not.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.maximum(tensix.tensor([1, 5]), 3)
    tensor([3, 5])
    """
    return call_two(MAXIMUM, x1, x2, out)


def minimum(x1, x2, /, *, out=None):
    """Return the smaller element of each pair; not a number, if one is not.

    It takes parameters as for `add`.

    Examples
    --------
    >>> import tensix
    >>> tensix.minimum(tensix.tensor([1, 5]), 3)
    tensor([1, 3])
    """
    return call_two(MINIMUM, x1, x2, out)


def clip(x, /, min=None, max=None):
    """Return each element, or the bound that it lies beyond.

    The result's element type is the one that `maximum` and `minimum` give: that of `x` with bounds of its type, or with
    numbers of its kind.

    Parameters
    ----------
    x : Tensor
        The elements.
    min, max : Tensor or number, optional
        The lower and the upper bound; None means none. Where the lower one is above the upper, the latter holds.

    Returns
    -------
    Tensor
        A copy, also if there are no bounds.

    Examples
    --------
    >>> import tensix
    >>> tensix.clip(tensix.tensor([1, 5, 9]), 2, 6)
    tensor([2, 5, 6])
    """
    if not isinstance(x, TensorBase):
        raise TypeError(f"clip() takes a tensor, found {type(x).__name__}. Make a tensor of it with tensor().")
    cdef uint64_t keys = (<TensorBase>x).impl.key_set
    low, high = bound(x, min, "min"), bound(x, max, "max")
    for limit in (low, high):
        if limit is not None:
            keys |= (<TensorBase>limit).impl.key_set
    return CLIP.call((x, low, high), None, keys)


cdef object bound(TensorBase x, object limit, str name):
    """Return a bound as a tensor, or None."""
    if limit is None or isinstance(limit, TensorBase):
        return limit
    if not is_number(limit):
        raise TypeError(f"clip(): {name} must be a tensor or a number, found {type(limit).__name__}.")
    return scalar_like(x, limit)


def clip_kernel(TensorBase self not None, TensorBase min=None, TensorBase max=None):
    """Be made of two operators, so as to serve every device."""
    cdef TensorBase raised = self if min is None else MAXIMUM.call2(self, min)
    if max is not None:
        return MINIMUM.call2(raised, max)
    return raised if min is not None else CLONE.call1(self)


CLIP.register("CompositeImplicitAutograd", clip_kernel)
