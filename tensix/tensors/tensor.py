"""The tensor that users hold: a handle whose methods call operators.

A method does three things: it takes its arguments in the forms that users write, calls the operator's table, and
returns what came back. What an operator does stands in its kernel. The methods stand in chapters, each a class on the
one before: `TensorBase` (what a tensor is), `ViewMethods`, `OperatorMethods`, and here the rest.
"""

import cython
import numpy as np
from cython.cimports.tensix.core.handle import retain
from cython.cimports.tensix.core.storage import Storage
from cython.cimports.tensix.dispatch.dispatch_key import dense_keys_of_device
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.dtype import dtype_from_any
from cython.cimports.tensix.tensors.ndarray import impl_of_ndarray, ndarray_of_impl, printable_of_impl
from cython.cimports.tensix.tensors.operator_methods import OperatorMethods
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, TensorBase_own_new
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl_adopt,
    TensorImpl_check_bounds,
    TensorImpl_new,
    TensorImpl_refresh,
    TensorImpl_sizes,
    TensorImpl_strides,
    int64_of,
)

from tensix.dispatch import native_functions
from tensix.tensors.formatting import format_tensor

__all__ = ["Tensor"]

INDEX = cython.declare(OperatorTable, native_functions.INDEX)
CLONE = cython.declare(OperatorTable, native_functions.CLONE)
LAZY_CLONE = cython.declare(OperatorTable, native_functions.LAZY_CLONE)
COPY_ = cython.declare(OperatorTable, native_functions.COPY_)
FILL_ = cython.declare(OperatorTable, native_functions.FILL_)


@cython.no_gc  # as its base: nothing that a tensor holds can lead back to it
@cython.cclass
class Tensor(OperatorMethods):
    """Hold a tensor: a typed, shaped view on a storage.

    ``Tensor()`` is undefined, the null of tensors; use `tensor`, `empty`, `rand`, … to make one.

    Notes
    -----
    Lifetime: the body lives as long as a handle holds it, the storage as long as any body does. A view keeps the
    storage alive, not the tensor it was made from.

    Thread-safety: as any Python object; elements are not locked.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x[0] + x[1]
    tensor([4., 6.])
    >>> x[0].is_alias_of(x)
    True
    """

    __array_ufunc__ = None  # NumPy's operators leave ours the word

    def __init__(self, *args):
        if args:
            raise TypeError("Tensor() takes nothing and is undefined: use tensor() to make one of numbers.")

    @staticmethod
    def from_storage(storage: Storage, storage_offset, shape, stride, dtype):
        """Make a tensor over a storage.

        Parameters
        ----------
        storage : Storage
            Kept alive by the tensor.
        storage_offset : int
            Of the first element, in elements.
        shape, stride : sequence of int
            Sizes, and steps in elements; a step may be negative.
        dtype : DType
            How the bytes are read.

        Raises
        ------
        RuntimeError
            If an element would lie outside the storage.
        """
        if storage.target is None:
            raise RuntimeError("cannot make a tensor of a null Storage.")
        if len(shape) != len(stride):
            raise ValueError(
                f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(stride)})."
            )
        target = storage.target
        impl = TensorImpl_new(dtype_from_any(dtype).code, dense_keys_of_device(target.block.device_type), len(shape))
        retain(target)
        TensorImpl_adopt(impl, target)
        sizes = TensorImpl_sizes(impl)
        strides = TensorImpl_strides(impl)
        for i in range(impl.ndim):
            sizes[i], strides[i] = int64_of(shape[i]), int64_of(stride[i])
            if sizes[i] < 0:
                raise ValueError(f"Trying to create tensor with negative dimension {shape[i]}: {list(shape)}.")
        impl.storage_offset = int64_of(storage_offset)
        TensorImpl_refresh(impl)
        TensorImpl_check_bounds(impl)
        return Tensor_wrap(impl)

    # ---- copies

    def clone(self):
        """Return a copy, made at once; dense strides are kept."""
        return CLONE.call1(self)

    def lazy_clone(self):
        """Return a tensor that shares the bytes until one of the two is written (copy-on-write)."""
        return LAZY_CLONE.call1(self)

    # ---- elements

    def __getitem__(self, index):
        return INDEX.call_with(self, index)

    def __setitem__(self, index, value):
        target: Tensor = INDEX.call_with(self, index)
        if isinstance(value, Tensor):
            COPY_.call2(target, value)
        elif isinstance(value, (list, tuple, np.ndarray)):
            array = np.array(value, self.dtype.numpy)
            COPY_.call2(target, Tensor_wrap(impl_of_ndarray(array, False)))
        else:
            FILL_.call_with(target, value)

    # ---- in place

    def copy_(self, src: Tensor):
        """Write the elements of another tensor, broadcast and converted, and return this one."""
        return COPY_.call2(self, src)

    def fill_(self, value):
        """Write one value everywhere and return this tensor."""
        return FILL_.call_with(self, value)

    def zero_(self):
        """Write zeros and return this tensor."""
        return FILL_.call_with(self, 0)

    # ---- conversions

    def tolist(self):
        """Return the elements as nested lists of Python numbers."""
        return printable_of_impl(self.impl).tolist()

    def item(self):
        """Return the only element as a Python number.

        Raises
        ------
        ValueError
            If there is not exactly one.
        """
        if self.impl.numel != 1:
            raise ValueError(f"only a tensor with one element is a number, this one has {self.impl.numel}.")
        return printable_of_impl(self.impl).item()

    def __array__(self, dtype=None, copy=None):
        """Be an array for NumPy: a view on the same memory, unless it needs another type or asks for a copy."""
        array = ndarray_of_impl(self.impl, not self.readonly)
        self.impl.storage.is_exported = True  # whoever holds the array may write behind our back
        return np.array(array, dtype, copy=copy)

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        return bool(self.item())

    def __len__(self):
        if self.impl.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return TensorImpl_sizes(self.impl)[0]

    def __iter__(self):
        if self.impl.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        if self.impl is UNDEFINED:
            return "Tensor(undefined)"
        return format_tensor(printable_of_impl(self.impl), self.dtype, self.readonly)


def Tensor_wrap(impl):
    """Return the first handle on a new body."""
    made: Tensor = Tensor.__new__(Tensor)
    TensorBase_own_new(made, impl)
    return made
