"""The array API standard's elementwise functions; all but `clip` are declared in `tensix.kernels.elementwise`."""
from libc.stdint cimport uint64_t
from tensix.dispatch.operands cimport is_number, scalar_like
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.tensor_base cimport TensorBase

from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import alias, method
from tensix.kernels import elementwise
from tensix.kernels.elementwise import *
from tensix.tensors.tensor_base import found_no_tensor

__all__ = ["clamp", "clip", *elementwise.__all__]

cdef OperatorTable CLIP = native_functions.CLIP


@method
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
    cdef uint64_t keys = (<TensorBase>x).impl.key_set
    low, high = bound(x, min, "min"), bound(x, max, "max")
    for limit in (low, high):
        if limit is not None:
            keys |= (<TensorBase>limit).impl.key_set
    return CLIP.call((x, low, high), None, keys)


clamp = alias("clamp", clip)  # in PyTorch


cdef object bound(TensorBase x, object limit, str name):
    """Return a bound as a tensor, or None."""
    if limit is None or isinstance(limit, TensorBase):
        return limit
    if not is_number(limit):
        raise TypeError(f"clip(): {name} must be a tensor or a number, {found_no_tensor(limit)}")
    return scalar_like(x, limit)
