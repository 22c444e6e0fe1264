"""The tensor that users hold: a handle whose methods call operators.

A method does three things: it takes its arguments in the forms that users write, calls the operator's table, and
returns what came back. What an operator does stands in its kernel. The methods stand in chapters, each a class on the
one before: `TensorBase` (what a tensor is), `ViewMethods`, `OperatorMethods`, `SparseMethods`, and here the rest.
"""

import sys

import cython
import numpy as np
from cython.cimports.libc.stdint import uint64_t
from cython.cimports.tensix.core.device import CPU, META, Device_from_any
from cython.cimports.tensix.core.handle import retain
from cython.cimports.tensix.core.storage import Storage
from cython.cimports.tensix.dispatch.dispatch_key import dense_keys_of_device
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.dtype import dtype_from_any, dtype_of_code
from cython.cimports.tensix.tensors.index_key import is_basic
from cython.cimports.tensix.tensors.ndarray import (
    impl_of_ndarray,
    ndarray_of_impl,
    printable_of_impl,
    readable_of_impl,
)
from cython.cimports.tensix.tensors.sparse_methods import SparseMethods
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, TensorBase, TensorBase_own_new
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
from tensix.tensors.memory_format import preserve_format

__all__ = ["Tensor"]

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

INDEX = cython.declare(OperatorTable, native_functions.INDEX)
INDEX_TENSOR = cython.declare(OperatorTable, native_functions.INDEX_TENSOR)
INDEX_PUT_ = cython.declare(OperatorTable, native_functions.INDEX_PUT_)
EMPTY = cython.declare(OperatorTable, native_functions.EMPTY)
CLONE = cython.declare(OperatorTable, native_functions.CLONE)
LAZY_CLONE = cython.declare(OperatorTable, native_functions.LAZY_CLONE)
TO_COPY = cython.declare(OperatorTable, native_functions.TO_COPY)
COPY_ = cython.declare(OperatorTable, native_functions.COPY_)
FILL_ = cython.declare(OperatorTable, native_functions.FILL_)


@cython.no_gc  # as its base: nothing that a tensor holds can lead back to it
@cython.cclass
class Tensor(SparseMethods):
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
        shape, stride = tuple(shape), tuple(stride)  # See Note [Lists that change]
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

    def clone(self, *, memory_format=preserve_format):
        """Return a copy, made at once; dense strides are kept unless another memory format is asked for."""
        if memory_format is preserve_format:
            return CLONE.call1(self)
        return CLONE.call((self,), {"memory_format": memory_format}, self.impl.key_set)

    def lazy_clone(self):
        """Return a tensor that shares the bytes until one of the two is written (copy-on-write)."""
        return LAZY_CLONE.call1(self)

    def to_device(self, device, /, *, stream=None):
        """Return the tensor on a device: itself if it is there, else a copy in row-major order.

        Parameters
        ----------
        device : str or Device
            Where the elements shall be.
        stream : None, optional
            No device of tensix has streams.

        Raises
        ------
        NotImplementedError
            If one of the two devices has no kernel to copy; ``meta`` has no elements to copy from.
        """
        if stream is not None:
            raise ValueError(f"to_device() knows no streams, found stream={stream!r}.")
        where = Device_from_any(device)
        if where.type_code == self.impl.device_type and where.index in (-1, self.impl.device_index):
            return self
        return TO_COPY.call((self,), {"device": where}, self.impl.key_set)

    def cpu(self):
        """Return the tensor on the CPU, as `to_device` does."""
        return self.to_device("cpu")

    # ---- elements

    def __getitem__(self, index):
        if is_basic(index):
            return INDEX.call_with(self, index)
        return INDEX_TENSOR.call((self, index), None, keys_with(self, index))

    def __setitem__(self, index, value):
        if is_basic(index):
            assign(INDEX.call_with(self, index), value)
        else:
            values: TensorBase = assignable(self, value)
            INDEX_PUT_.call((self, index, values), None, keys_with(self, index) | values.impl.key_set)

    def __delitem__(self, index):
        raise TypeError("elements of a tensor cannot be deleted; an index of those to keep makes a smaller tensor.")

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
        source = on_cpu(self)
        return readable_of_impl(source.impl).tolist()

    def item(self):
        """Return the only element as a Python number.

        Raises
        ------
        ValueError
            If there is not exactly one.
        """
        if self.impl.numel != 1:
            raise ValueError(f"only a tensor with one element is a number, this one has {self.impl.numel}.")
        source = on_cpu(self)
        return readable_of_impl(source.impl).item()

    def __array__(self, dtype=None, copy=None):
        """Be an array for NumPy: a view on the same memory, unless it needs another type or asks for a copy."""
        array = ndarray_of_impl(self.impl, not self.readonly)
        self.impl.storage.is_exported = True  # whoever holds the array may write behind our back
        return np.array(array, dtype, copy=copy)

    def __array_namespace__(self, /, *, api_version=None):
        """Return tensix, the namespace of functions that take this tensor, by the array API standard.

        Raises
        ------
        ValueError
            If another version of the standard is asked for than tensix follows.
        """
        if api_version not in (None, *API_VERSIONS):
            raise ValueError(f"tensix follows the array API standard's versions {API_VERSIONS}, found {api_version!r}.")
        return sys.modules[__name__.partition(".")[0]]

    def __dlpack_device__(self):
        """Return the kind and the number of the device, in DLPack's numbers."""
        if self.impl.device_type != CPU:
            raise BufferError(f"DLPack knows no device {self.device}: copy the tensor to the CPU with cpu().")
        return 1, 0

    def __dlpack__(self, /, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Return a DLPack capsule of the elements.

        Parameters
        ----------
        stream : None, optional
            The CPU has no streams.
        max_version : tuple of int, optional
            What the caller understands; before (1, 0) nobody can be told that memory is read-only.
        dl_device : tuple of int, optional
            Where the caller wants the elements: ``(1, 0)``, the CPU.
        copy : bool, optional
            True: always copy; otherwise memory is shared.

        Raises
        ------
        BufferError
            If the tensor is not on the CPU, or is read-only and the caller cannot be told so.

        Notes
        -----
        Lifetime: the capsule keeps the storage alive. A write to one is seen in the other.
        """
        if stream is not None:
            raise ValueError(f"__dlpack__() knows no streams, found stream={stream!r}.")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"__dlpack__() exports from {self.device} to the CPU only, found dl_device={dl_device}.")
        source: TensorBase = self.clone() if copy else self
        array = ndarray_of_impl(source.impl, not source.readonly)
        source.impl.storage.is_exported = True  # whoever takes the capsule may write behind our back
        return array.__dlpack__() if max_version is None else array.__dlpack__(max_version=max_version)

    def __float__(self):
        return float(self.item())

    def __complex__(self):
        return complex(self.item())

    def __int__(self):
        return int(self.item())

    def __index__(self):
        if self.impl.ndim != 0 or "integer" not in dtype_of_code(self.impl.dtype_code).kind:
            raise TypeError(
                "only a tensor without dimensions and of an integer type stands for an integer, this one has "
                f"{self.impl.ndim} dimensions and the type {dtype_of_code(self.impl.dtype_code)}."
            )
        return self.item()

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
        return format_tensor(self, printable)

    def __format__(self, spec):
        """Format the only element of a tensor without dimensions like the number it is."""
        if self.impl.ndim == 0 and self.impl.device_type != META:
            return format(self.item(), spec)
        if spec:
            raise TypeError(f"a format such as {spec!r} needs a tensor without dimensions, found shape {self.shape}.")
        return str(self)


@cython.cfunc
def on_cpu(tensor: TensorBase) -> TensorBase:
    """Return the tensor on the CPU, itself if it is there. Hold it in a variable: it may be its body's only owner."""
    return tensor if tensor.impl.device_type == CPU else Tensor.to_device(tensor, "cpu")


def printable(tensor: TensorBase):
    """Return a tensor's elements for printing, as an array."""
    source = on_cpu(tensor)
    return printable_of_impl(source.impl)


def Tensor_wrap(impl):
    """Return the first handle on a new body."""
    made: Tensor = Tensor.__new__(Tensor)
    TensorBase_own_new(made, impl)
    return made


@cython.cfunc
def keys_with(tensor: TensorBase, index) -> uint64_t:
    """Unite the dispatch keys of a tensor and of the tensors in an index."""
    keys = tensor.impl.key_set
    for key in index if isinstance(index, tuple) else (index,):
        if isinstance(key, TensorBase):
            keys |= cython.cast(TensorBase, key).impl.key_set
    return keys


@cython.cfunc
def is_number(value) -> cython.bint:
    return isinstance(value, (int, float, complex, np.generic))


@cython.cfunc
@cython.exceptval(-1)
def assign(target: TensorBase, value) -> cython.int:
    """Write a value to a view; dimensions of size 1 that the value has in front of the view's are left out."""
    if is_number(value):
        FILL_.call_with(target, value)
        return 0
    values: TensorBase = assignable(target, value)
    extra = values.impl.ndim - target.impl.ndim
    for i in range(extra):
        if TensorImpl_sizes(values.impl)[i] != 1:
            break
    else:
        if extra > 0:
            values = INDEX.call_with(values, (0,) * extra)
    COPY_.call2(target, values)
    return 0


@cython.cfunc
def assignable(target: TensorBase, value) -> TensorBase:
    """Return what shall be written as a tensor: numbers and lists of the target's type, arrays of their own."""
    if isinstance(value, Tensor):
        return value
    if value is None:
        raise TypeError("what is assigned must be a tensor, a number, an array or nested lists of numbers, found None.")
    impl = target.impl
    if is_number(value):
        scalar = EMPTY.call_empty(0, cython.NULL, impl.dtype_code, impl.device_type, impl.device_index)
        return FILL_.call_with(scalar, value)
    if isinstance(value, np.ndarray):
        array = np.array(value, value.dtype.newbyteorder("="))
    else:
        array = np.array(value, dtype_of_code(impl.dtype_code).numpy)
    return Tensor_wrap(impl_of_ndarray(array, False))
