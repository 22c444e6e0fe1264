# cython: c_api_binop_methods=True
"""The tensor that users hold: a handle whose methods call operators.

A method does three things: it takes its arguments in the forms that users write, calls the operator's table, and
returns what came back. What an operator does stands in its kernel. Methods that are functions of the same name, too,
are not here: see Note [Functions as methods].

Operators of two operands take a number or an array of NumPy for one of them. No element equals None: ``x == None`` is
a tensor of False, ``x < None`` an error. What is neither a number nor an array is not compared: ``x == "a"`` is False.
"""

import sys
from importlib import import_module

import cython
import numpy as np
from cython.cimports.cpython.buffer import Py_buffer
from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
from cython.cimports.cpython.number import PyIndex_Check
from cython.cimports.cpython.object import Py_EQ, Py_NE
from cython.cimports.libc.stdint import int64_t, uint8_t, uint64_t, uintptr_t
from cython.cimports.libc.string import memcpy
from cython.cimports.tensix.core.cow_context import cow_is_cow
from cython.cimports.tensix.core.device import CPU, META, Device, Device_from_any, Device_get
from cython.cimports.tensix.core.handle import retain
from cython.cimports.tensix.core.intrusive_ptr import IntrusivePtr
from cython.cimports.tensix.core.intrusive_target import use_count, weak_use_count
from cython.cimports.tensix.core.memory_reports import OUT_OF_SIGHT
from cython.cimports.tensix.core.storage import Storage, Storage_from_owned, owned
from cython.cimports.tensix.core.storage_impl import (
    StorageImpl, StorageImpl_begin_use, StorageImpl_end_use, StorageImpl_report_use,
)
from cython.cimports.tensix.dispatch.kernel import Kernel, kernel_function_t
from cython.cimports.tensix.dispatch.local_state import active_hooks
from cython.cimports.tensix.dispatch.operands import (
    call_in_place, call_operator, is_number, is_plain_number, read_number, scalar_like, tensor_of_array, write_number,
)
from cython.cimports.tensix.dispatch.operator_table import OperatorTable, OperatorTable_slot
from cython.cimports.tensix.exchange.buffer import buffer_format, fill_buffer, release_buffer
from cython.cimports.tensix.exchange.dlpack import exchange_api_capsule
from cython.cimports.tensix.exchange.dlpack_export import dlpack_capsule
from cython.cimports.tensix.exchange.ndarray import (
    exported_ndarray_of_impl, impl_of_ndarray, readable_of_impl,
)
from cython.cimports.tensix.exchange.numpy_calls import call_ignoring_errors
from cython.cimports.tensix.exchange.pickling import reduce_tensor
from cython.cimports.tensix.kernels.views import index as index_kernel
from cython.cimports.tensix.loops.copy import fill_ as fill_kernel
from cython.cimports.tensix.tensors.dispatch_key import bits_of_key, dense_keys_of_device
from cython.cimports.tensix.tensors.dtype import (
    BFLOAT16, BOOL, FLOAT16, DType, dtype_from_any, dtype_of_code, is_integer, itemsize_of, refuse_undefined,
)
from cython.cimports.tensix.tensors.index_key import finds_element, is_basic
from cython.cimports.tensix.tensors.memory_format import (
    TensorImpl_is_channels_last, TensorImpl_is_contiguous_in, memory_format_from_any,
)
from cython.cimports.tensix.tensors.promotion import check_result_type
from cython.cimports.tensix.tensors.sparse_tensor_impl import SparseTensorImpl
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, Tensor_wrap, TensorBase, set_tensor_class
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl, TensorImpl_adopt, TensorImpl_bump_version, TensorImpl_check_bounds, TensorImpl_const_data,
    TensorImpl_mutable_data, TensorImpl_new, TensorImpl_refresh, TensorImpl_same_sizes, TensorImpl_shape,
    TensorImpl_sizes, TensorImpl_stride, TensorImpl_strides, int64_of, tx_multiply_overflows, wrap_dim,
)

from tensix import exchange
from tensix.core.weak_intrusive_ptr import WeakIntrusivePtr
from tensix.dispatch.native_functions import (
    EMPTY, CLONE, LAZY_CLONE, DETACH, ASTYPE, TO_COPY, INDEX_TENSOR, COPY_, SET_, FILL_, FULL_LIKE, INDEX_PUT_,
    UNIFORM_, NORMAL_, INDEX, VIEW, VIEW_DTYPE, CONTIGUOUS, FLATTEN, UNFLATTEN, RESHAPE, PERMUTE, TRANSPOSE, MOVEDIM,
    T as T_, MATRIX_TRANSPOSE, REVERSE_DIMS, EXPAND, UNSQUEEZE, SELECT, NARROW, DIAGONAL, UNFOLD, AS_STRIDED, UNBIND,
    SPLIT, SPLIT_WITH_SIZES, CHUNK, REAL, IMAG, MATMUL, ANY, INDICES, VALUES, NNZ, IS_COALESCED, COALESCE, TO_DENSE,
    TO_SPARSE,
)
from tensix.dispatch.tensor_function import enter
from tensix.exchange.formatting import format_tensor
from tensix.kernels import elementwise
from tensix.tensors import dtype as dtypes
from tensix.tensors import names_elsewhere
from tensix.tensors.layout import sparse_coo, strided
from tensix.tensors.memory_format import channels_last, channels_last_3d, contiguous_format, preserve_format
from tensix.tensors.tensor_base import found_no_tensor

__all__ = ["Tensor"]

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
SOMETIMES_ABSENT = ("T", "__array_interface__", "device", "imag", "mT", "nnz", "real")  # attributes that can fail
SPARSE = cython.declare(uint64_t, bits_of_key("SparseCPU") & ~bits_of_key("CPU"))  # the functionality alone

(
    ROUND, ABS, BITWISE_INVERT, NEG, POSITIVE, ADD, SUB, MUL, DIV, FLOOR_DIVIDE, REMAINDER, POW, BITWISE_AND,
    BITWISE_OR, BITWISE_XOR, BITWISE_LEFT_SHIFT, BITWISE_RIGHT_SHIFT, EQUAL,
) = [getattr(elementwise, name).table for name in (
    "round", "abs", "bitwise_invert", "negative", "positive", "add", "subtract", "multiply", "divide", "floor_divide",
    "remainder", "pow", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
    "equal",
)]  # fmt: skip
(
    ADD_, SUB_, MUL_, DIV_, FLOOR_DIVIDE_, REMAINDER_, POW_, BITWISE_AND_, BITWISE_OR_, BITWISE_XOR_,
    BITWISE_LEFT_SHIFT_, BITWISE_RIGHT_SHIFT_,
) = [getattr(elementwise, name).in_place for name in (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow", "bitwise_and", "bitwise_or",
    "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
)]  # fmt: skip
ROUND_OUT = elementwise.round.out
COMPARISONS = cython.declare(tuple, tuple([getattr(elementwise, name).table for name in (
    "less", "less_equal", "equal", "not_equal", "greater", "greater_equal",  # as CPython numbers them
)]))  # fmt: skip


@cython.no_gc  # as its base: nothing that a tensor holds can lead back to it
@cython.cclass
class Tensor(TensorBase):
    """Tensor()\n--\n
    Hold a tensor: a typed, shaped view on a storage.

    ``Tensor()`` is undefined, the null of tensors; use `tensor`, `empty`, `rand`, … to make one.

    Notes
    -----
    Lifetime: the body lives as long as a handle holds it, the storage as long as any body does. A view keeps the
    storage alive, not the tensor it was made from.

    Thread-safety: as any Python object; elements are not locked.

    Examples
    --------
    >>> x = tensix.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x[0] + x[1]
    tensor([4., 6.])
    >>> x[0].is_alias_of(x)
    True
    """

    __dlpack_c_exchange_api__ = exchange_api_capsule()
    __array_priority__ = 1000.0  # above NumPy's: where Dask has chunks of both it calls what serves tensors

    def __init__(self, *args, **kwargs):
        if args or kwargs:
            raise TypeError("Tensor() takes no arguments: Tensor(). Use tensor() to make one of numbers.")

    @staticmethod
    @cython.binding(True)
    def from_storage(storage: Storage, storage_offset, shape, stride, dtype):
        """Make a tensor over a storage.

        Parameters
        ----------
        storage : Storage
            Kept alive by the tensor.
        storage_offset : int
            Of the first element, in elements.
        shape, stride : sequence of int
            Sizes, and strides in elements; a stride may be negative.
        dtype : DType
            How the bytes are read.

        Raises
        ------
        RuntimeError
            If an element would lie outside the storage.
        """
        shape, stride = tuple(shape), tuple(stride)  # See Note [Lists that change]
        if len(shape) != len(stride):
            raise ValueError(
                f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(stride)})."
            )
        code = dtype_from_any(dtype).code
        target = owned(storage)  # after what may run other code
        impl = TensorImpl_new(code, dense_keys_of_device(target.block.device_type), len(shape))
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

    @staticmethod
    @cython.binding(True)
    def from_impl(impl: IntrusivePtr):
        """Make a handle of a pointer to a `TensorImpl`, which keeps its own count; null gives an undefined tensor."""
        made = Tensor()
        if impl.target is not None:
            if not isinstance(impl.target, TensorImpl):
                raise TypeError(
                    f"from_impl() needs a pointer to a TensorImpl, found one to {type(impl.target).__name__}."
                )
            retain(impl.target)
            made.impl = impl.target
        return made

    # ---- what it is

    @property
    def shape(self):
        """The sizes, a tuple of ints."""
        return TensorImpl_shape(self.impl)

    @property
    def dtype(self):
        """The element type."""
        return dtype_of_code(self.impl.dtype_code)

    @property
    def device(self):
        """Where the elements are; an undefined tensor has no device."""
        if self.impl is UNDEFINED:
            refuse_undefined()
        return Device_get(self.impl.device_type, self.impl.device_index)

    @property
    def layout(self):
        """How the elements are kept: `strided` or `sparse_coo`."""
        return sparse_coo if self.impl.key_set & SPARSE else strided

    @property
    def ndim(self):
        """The number of dimensions."""
        return self.impl.ndim

    @property
    def size(self):
        """The number of elements; what is ``size()`` in PyTorch is `shape`."""
        return self.impl.numel

    @property
    def itemsize(self):
        """Bytes per element."""
        return itemsize_of(self.impl.dtype_code)

    @property
    def nbytes(self):
        """Bytes of all elements, gaps not counted."""
        nbytes: int64_t = 0
        if tx_multiply_overflows(self.impl.numel, itemsize_of(self.impl.dtype_code), cython.address(nbytes)):
            return int(self.impl.numel) * int(self.itemsize)  # Python ints: the tensor is expanded
        return nbytes

    @property
    def readonly(self):
        """Whether writing is refused."""
        return self.impl.storage is not None and cython.cast(StorageImpl, self.impl.storage).is_readonly != 0

    @property
    def version(self):
        """How often the elements, or others in the same storage, were written in place; all views see the same."""
        return self.impl.version

    @property
    def allocator(self):
        """The allocator that made the memory, or None for memory from outside."""
        return None if self.impl.storage is None else cython.cast(StorageImpl, self.impl.storage).owner

    def numel(self):
        """Return the number of elements."""
        return self.impl.numel

    def stride(self, dim=None):
        """Return the strides, in elements: a tuple, or that of one dimension."""
        check_strided(self, "stride()")
        if dim is None:
            return TensorImpl_stride(self.impl)
        number = int64_of(dim)
        return TensorImpl_strides(self.impl)[wrap_dim(number, self.impl.ndim)]

    def storage_offset(self):
        """Return where in the storage the first element is, in elements."""
        check_strided(self, "storage_offset()")
        return self.impl.storage_offset

    def is_contiguous(self, memory_format=None):
        """Return whether the elements lie in the order of a memory format without gaps; in row-major order if none."""
        check_strided(self, "is_contiguous()")
        if memory_format is None:
            return self.impl.contiguous != 0
        return TensorImpl_is_contiguous_in(self.impl, memory_format_from_any(memory_format)) != 0

    def suggest_memory_format(self):
        """Return the memory format that the strides are like, gaps allowed: a channels-last one, or row-major."""
        check_strided(self, "suggest_memory_format()")
        if not TensorImpl_is_channels_last(self.impl):
            return contiguous_format
        return channels_last if self.impl.ndim == 4 else channels_last_3d

    def defined(self):
        """Return whether this is a tensor at all."""
        return self.impl is not UNDEFINED

    # ---- who owns what

    def storage(self):
        """Return a handle on the storage.

        Raises
        ------
        RuntimeError
            If the tensor has none.
        """
        check_strided(self, "storage()")
        if self.impl.storage is None:
            raise RuntimeError("the tensor has no storage: it is undefined. Make one with empty() or tensor().")
        retain(self.impl.storage)
        return Storage_from_owned(cython.cast(StorageImpl, self.impl.storage))

    def data_ptr(self):
        """Return the address of the first element for reading; never materializes."""
        return cython.cast(uintptr_t, TensorImpl_const_data(self.impl))

    def mutable_data_ptr(self):
        """Return the address of the first element for writing; a copy-on-write tensor gets its own bytes first."""
        return cython.cast(uintptr_t, TensorImpl_mutable_data(self.impl))

    def use_count(self):
        """Return how many handles own the body, 0 if undefined."""
        return use_count(self.impl) if self.impl is not UNDEFINED else 0

    def weak_use_count(self):
        """Return the number of weak handles plus one, 0 if undefined."""
        return weak_use_count(self.impl) if self.impl is not UNDEFINED else 0

    def weak(self):
        """Return a weak pointer to the body; it keeps no element alive. `Tensor.from_impl` takes what it locks."""
        return WeakIntrusivePtr.reclaim_copy(self.impl) if self.impl is not UNDEFINED else WeakIntrusivePtr()

    def body_address(self):
        """Return the address of the body, which tells whether two handles are on the same tensor."""
        return cython.cast(uintptr_t, cython.cast(cython.p_void, self.impl))

    def is_cow(self):
        """Return whether the bytes may be shared copy-on-write, so that a first write may copy."""
        storage = cython.cast(StorageImpl, self.impl.storage)
        return storage is not None and cow_is_cow(cython.address(storage.block))

    def is_shared(self):
        """Return whether the elements are in memory that other processes can have too, of a `SharedMemoryAllocator`."""
        return self.impl.storage is not None and self.storage().is_shared()

    def is_alias_of(self, other: TensorBase):
        """Return whether both have the same storage, so that a write to one may be seen in the other."""
        if self.impl.storage is None or other.impl.storage is None:
            return False
        return self.storage().is_alias_of(other.storage())

    # ---- copies

    def clone(self, *, memory_format=None):
        """Return a copy, made at once; dense strides are kept unless another memory format is asked for."""
        if memory_format is None or memory_format is preserve_format:
            return CLONE.call1(self)
        return CLONE.call_with(self, memory_format)

    def copy(self):
        """Return a copy, made at once: `clone` by the name that arrays have."""
        return CLONE.call1(self)

    def lazy_clone(self):
        """Return a tensor that shares the bytes until one of the two is written (copy-on-write)."""
        return LAZY_CLONE.call1(self)

    def __copy__(self):
        """Return a tensor with a body of its own over the same elements."""
        return exchange.copy_of(self)

    def __deepcopy__(self, memo: dict):
        """Return a copy on a storage of its own, which tensors that are copied together share."""
        return exchange.deep_copy_of(self, memo)

    def to_device(self, device, /, *, stream=None):
        """Return the tensor on a device: itself if it is there, else a copy in row-major order.

        Parameters
        ----------
        device : str or Device
            Where the elements are put.
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
        return TO_COPY.call((self,), {"device": where})

    def cpu(self):
        """Return the tensor on the CPU, as `to_device` does."""
        return self.to_device("cpu")

    # ---- other element types

    def to(self, *args, dtype=None, device=None, copy=False):
        """Return the tensor in another element type, on another device, or both; itself if it is so already.

        Parameters
        ----------
        *args : DType, Device, str or Tensor
            The type, the device, or a tensor that has both; a str is the name of either.
        dtype : DType, optional
            The element type.
        device : str or Device, optional
            Where the elements are put.
        copy : bool, optional
            Whether to copy even if nothing changes.

        Raises
        ------
        TypeError
            If the tensor is complex and the type is not.

        Examples
        --------
        >>> tensix.tensor([1.5, 2.5]).to(tensix.int64)
        tensor([1, 2])
        """
        for arg in args:
            if isinstance(arg, TensorBase):
                dtype, device = arg.dtype, arg.device
            elif isinstance(arg, Device) or (isinstance(arg, str) and not is_dtype_name(arg)):
                device = arg
            else:
                dtype = arg
        made = self if device is None else self.to_device(device)
        if dtype is not None:
            made = ASTYPE.call_with(made, dtype_from_any(dtype))
        return CLONE.call1(made) if copy and made is self else made

    def half(self):
        """Return the tensor in float16; itself if it is so already."""
        return ASTYPE.call_with(self, dtypes.float16)

    def float(self):
        """Return the tensor in float32; itself if it is so already."""
        return ASTYPE.call_with(self, dtypes.float32)

    def double(self):
        """Return the tensor in float64; itself if it is so already."""
        return ASTYPE.call_with(self, dtypes.float64)

    def int(self):
        """Return the tensor in int32; itself if it is so already."""
        return ASTYPE.call_with(self, dtypes.int32)

    def long(self):
        """Return the tensor in int64; itself if it is so already."""
        return ASTYPE.call_with(self, dtypes.int64)

    def bool(self):
        """Return whether each element is not zero; itself if it is bool already."""
        return ASTYPE.call_with(self, dtypes.bool)

    @property
    def real(self):
        """The real parts of the elements: a view, of real numbers the tensor itself in a new handle; none of bools."""
        return REAL.call1(self) if has_numbers(self) else attribute_by(REAL, self, "real")

    @property
    def imag(self):
        """The imaginary parts of the elements: a view; of real numbers new zeros; none of bools."""
        return IMAG.call1(self) if has_numbers(self) else attribute_by(IMAG, self, "imag")

    def detach(self):
        """Return a tensor with a body of its own over the same elements, without what records gradients."""
        return DETACH.call1(self)

    # ---- elements

    def __getitem__(self, index):
        if is_basic(index):
            return INDEX.call_with(self, index)
        return INDEX_TENSOR.call((self, index), None)

    def __setitem__(self, index, value):
        if writes_element(self, index, value):
            return
        if is_basic(index):
            assign(self if index is Ellipsis else INDEX.call_with(self, index), value)
        else:
            values: TensorBase = assignable(self, value)
            INDEX_PUT_.call((self, index, values), None)

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

    def uniform_(self, low=0.0, high=1.0, *, generator=None):
        """Write random numbers from [low, high) and return this tensor.

        Parameters
        ----------
        low, high : float, optional
            The least number, and the bound; where the type has no number between, rounding may reach the bound.
        generator : Generator, optional
            The generator of the numbers; the default one if not given.

        Raises
        ------
        ValueError
            If `low` is above `high`, or the distance is not a finite number.

        Examples
        --------
        >>> x = tensix.empty(1000).uniform_(-2, 3)
        >>> bool(tensix.min(x) >= -2), bool(tensix.max(x) <= 3)
        (True, True)
        """
        if not 0 <= float(high - low) < np.inf:
            raise ValueError(f"uniform_() needs finite bounds, low at most high, found {low} and {high}.")
        return fill_scaled(UNIFORM_, self, generator, high - low, low)

    def normal_(self, mean=0.0, std=1.0, *, generator=None):
        """Write random numbers of a normal distribution and return this tensor.

        Parameters
        ----------
        mean, std : float, optional
            Their mean, and their standard deviation.
        generator : Generator, optional
            The generator of the numbers; the default one if not given.

        Raises
        ------
        ValueError
            If the standard deviation is negative.

        Examples
        --------
        >>> tensix.empty(2).normal_(5, 0)
        tensor([5., 5.])
        """
        if not std >= 0:
            raise ValueError(f"normal_() needs a standard deviation of 0 or more, found {std}.")
        return fill_scaled(NORMAL_, self, generator, std, mean)

    def set_(self, source: Tensor):
        """Refer to another tensor's elements from now on, in every handle on this tensor, and return this one.

        The body takes over storage, geometry, type, device and keys of `source`; it keeps its own identity and what
        records its gradients.
        """
        return SET_.call2(self, source)

    def resize_(self, *shape):
        """Give this tensor, in every handle on it, another number of elements, in row-major order, and return it.

        Parameters
        ----------
        *shape : int, or one sequence of ints
            The new sizes. Those that it has already change nothing, strides included.

        Returns
        -------
        Tensor
            Itself. Elements stay where they are in the storage, which grows if it is too small and never shrinks;
            new ones are not initialised.

        Raises
        ------
        RuntimeError
            If the storage has to grow and is not resizable or read-only, or others use its memory.
        ValueError
            If a size is negative.

        Notes
        -----
        Lifetime: addresses change if the storage grows. Views on it keep their shapes and see the same elements.

        Examples
        --------
        >>> x = tensix.arange(4).resize_(2)
        >>> x
        tensor([0, 1])
        >>> x.resize_(2, 2)
        tensor([[0, 1],
                [2, 3]])
        """
        sizes = sizes_of(shape)
        if sizes == self.shape:
            return self
        storage, offset = self.storage(), self.storage_offset()
        wanted: Tensor = EMPTY(sizes, dtype=self.dtype, device="meta")  # checks the sizes, and says the strides
        nbytes = (offset + wanted.numel()) * self.itemsize
        if wanted.numel() and nbytes > storage.nbytes():
            storage.resize_(nbytes)
        return SET_.call2(self, AS_STRIDED(self, sizes, wanted.stride(), offset))

    # ---- other shapes

    def view(self, *shape):
        """Return a view of another shape with the same elements in the same order, or of another type; never copies.

        Parameters
        ----------
        *shape : int, or one sequence of int, or one DType
            The sizes, one of which may be -1. A type reads the same bytes again; where its item size is another, the
            last dimension becomes longer or shorter.

        Raises
        ------
        ValueError
            If the strides do not allow it, or the number of elements differs, or bytes are left over.
        """
        if (
            len(shape) == 1
            and not PyIndex_Check(shape[0])
            and (isinstance(shape[0], (DType, str, type)) or isinstance(shape[0], np.dtype))
        ):
            return VIEW_DTYPE.call_with(self, dtype_from_any(shape[0]))
        return VIEW.call_with(self, sizes_of(shape))

    def view_as(self, other: TensorBase):
        """Return a view of another tensor's shape; never copies."""
        return VIEW.call_with(self, other.shape)

    def reshape(self, *shape):
        """Return the same elements in another shape: a view where strides allow it, else a copy."""
        return RESHAPE.call_with(self, sizes_of(shape))

    def ravel(self):
        """Return the elements in one dimension: a view where strides allow it, else a copy."""
        return RESHAPE.call_with(self, (-1,))

    def reshape_as(self, other: TensorBase):
        """Return the same elements in another tensor's shape: a view where strides allow it, else a copy."""
        return RESHAPE.call_with(self, other.shape)

    def contiguous(self, memory_format=None):
        """Return this very tensor if its elements lie in the order of a memory format without gaps, else a copy.

        The order is row-major unless told otherwise.

        Raises
        ------
        ValueError
            If a channels-last format is asked for and the tensor is not of its number of dimensions.
        """
        if memory_format is None or memory_format is contiguous_format:
            return CONTIGUOUS.call1(self)
        return CONTIGUOUS.call_with(self, memory_format)

    def flatten(self, start_dim=0, end_dim=-1):
        """Return the elements with a run of dimensions merged into one: a view where strides allow it, else a copy."""
        return FLATTEN.call((self, start_dim, end_dim), None)

    def unflatten(self, dim, sizes):
        """Return the view with one dimension split into many; one of the sizes may be -1."""
        return UNFLATTEN.call((self, dim, sizes), None)

    # ---- dimensions of size 1

    def expand(self, *shape):
        """Return the view with dimensions of size 1 repeated, and new ones in front; -1 keeps a size."""
        return EXPAND.call_with(self, sizes_of(shape))

    def expand_as(self, other: TensorBase):
        """Return the view with dimensions of size 1 repeated up to another tensor's shape."""
        return EXPAND.call_with(self, other.shape)

    def unsqueeze(self, dim):
        """Return the view with a dimension of size 1 before `dim`."""
        return UNSQUEEZE.call_with(self, dim)

    # ---- order of dimensions

    @property
    def T(self):
        """The view with its dimensions in reverse order."""
        return REVERSE_DIMS.call1(self) if self.impl.storage is not None else attribute_by(REVERSE_DIMS, self, "T")

    @property
    def mT(self):
        """The view with its last two dimensions exchanged: matrices transposed; there is none below 2 dimensions."""
        if self.impl.ndim < 2:
            if self.impl is UNDEFINED:
                refuse_undefined()
            raise AttributeError(f"mT is for 2 dimensions or more, found {self.impl.ndim}.")  # skipped by getmembers()
        if self.impl.storage is None:
            return attribute_by(MATRIX_TRANSPOSE, self, "mT")
        return MATRIX_TRANSPOSE.call1(self)

    def t(self):
        """Return a matrix transposed; of fewer than two dimensions, the tensor unchanged."""
        return T_.call1(self)

    def permute(self, *dims):
        """Return the view with its dimensions in the given order."""
        return PERMUTE.call_with(self, sizes_of(dims))

    def transpose(self, dim0=None, dim1=None, *dims):
        """Return the view with two dimensions exchanged; as in NumPy, with all in the given order, or in reverse.

        Parameters
        ----------
        dim0, dim1 : int, optional
            Two dimensions; or the first may be a tuple of all.
        *dims : int
            With those before all dimensions, in their new order.

        Examples
        --------
        >>> x = tensix.empty(2, 3, 4)
        >>> x.transpose(0, 1).shape, x.transpose(2, 0, 1).shape, x.transpose().shape
        ((3, 2, 4), (4, 2, 3), (4, 3, 2))
        """
        if dim1 is not None and not dims:
            return TRANSPOSE.call((self, dim0, dim1), None)
        if dim0 is None and dim1 is None and not dims:
            return REVERSE_DIMS.call1(self) if self.impl.storage is not None else attribute_by(REVERSE_DIMS, self, "T")
        if dim1 is None and PyIndex_Check(dim0):
            raise TypeError(
                "transpose() takes two dimensions to exchange, all of them in their new order, or none, found 1: "
                "transpose(dim0, dim1)."
            )
        return PERMUTE.call_with(self, sizes_of((dim0,) if dim1 is None else (dim0, dim1, *dims)))

    def movedim(self, source, destination):
        """Return the view with dimensions, one or a tuple, moved to other places; the others keep their order."""
        return MOVEDIM.call((self, source, destination), None)

    # ---- parts

    def select(self, dim, index):
        """Return the view at one index of a dimension, which goes away."""
        return SELECT.call((self, dim, index), None)

    def narrow(self, dim, start, length):
        """Return the view on a stretch of one dimension.

        Parameters
        ----------
        dim : int
            The dimension.
        start, length : int
            The first index, and how many; a negative start counts from the end.

        Raises
        ------
        IndexError
            If they are not all there.
        """
        return NARROW.call((self, dim, start, length), None)

    def diagonal(self, offset=0, dim1=0, dim2=1):
        """Return the view on a diagonal, which becomes the last dimension.

        Parameters
        ----------
        offset : int
            How far above the main diagonal; negative is below.
        dim1, dim2 : int
            The dimensions of rows and of columns.

        Examples
        --------
        >>> tensix.tensor([[1, 2], [3, 4]]).diagonal()
        tensor([1, 4])
        """
        return DIAGONAL.call((self, offset, dim1, dim2), None)

    def unfold(self, dimension, size, step):
        """Return the view on windows over a dimension; what is in a window becomes the last dimension.

        Parameters
        ----------
        dimension : int
            The dimension that the windows are laid over, afterwards that of the windows.
        size, step : int
            Elements in a window, and from the start of one to that of the next.

        Raises
        ------
        ValueError
            If the size is more than there is, or the step is not 1 or more.

        Examples
        --------
        >>> tensix.tensor([1, 2, 3, 4]).unfold(0, 3, 1)
        tensor([[1, 2, 3],
                [2, 3, 4]])
        """
        return UNFOLD.call((self, dimension, size, step), None)

    def as_strided(self, size, stride, storage_offset=None):
        """Return a view on any elements of the storage, this tensor's own or not.

        Parameters
        ----------
        size, stride : sequence of int
            Sizes, and strides in elements; a stride may be negative.
        storage_offset : int, optional
            Of the first element, in elements; that of this tensor if not given.

        Raises
        ------
        RuntimeError
            If an element would lie outside the storage.

        Examples
        --------
        >>> tensix.tensor([1, 2, 3, 4]).as_strided((2, 2), (-1, -2), 3)
        tensor([[4, 2],
                [3, 1]])
        """
        return AS_STRIDED.call((self, size, stride, storage_offset), None)

    # ---- many parts

    def unbind(self, dim=0):
        """Return the views at each index of a dimension, a tuple."""
        return UNBIND.call((self, dim), None)

    def split(self, split_size_or_sections, dim=0):
        """Return the views on consecutive parts of a dimension, a tuple.

        An int is the size of each part, of which the last may be smaller; a sequence gives the size of each.
        """
        table = SPLIT_WITH_SIZES if isinstance(split_size_or_sections, (tuple, list)) else SPLIT
        return table.call((self, split_size_or_sections, dim), None)

    def chunk(self, chunks, dim=0):
        """Return the views on so many equal parts of a dimension, or on fewer; the last may be smaller."""
        return CHUNK.call((self, chunks, dim), None)

    # ---- comparisons, element by element; the hash is that of the object

    def __richcmp__(self, other, op: cython.int):
        if other is None and op in (Py_EQ, Py_NE):
            return FULL_LIKE.call((self, op == Py_NE), {"dtype": dtypes.bool})
        return call_operator(cython.cast(OperatorTable, COMPARISONS[op]), self, other)

    def __hash__(self):
        return object.__hash__(self)

    # ---- operators of one operand

    def __neg__(self):
        return NEG.call1(self)

    def __pos__(self):
        return POSITIVE.call1(self)

    def __abs__(self):
        return ABS.call1(self)

    def __round__(self, ndigits=None):
        return self.round(0 if ndigits is None else ndigits)

    def round(self, decimals=0):
        """Return each element rounded to so many digits after the point, halves to the even one.

        Parameters
        ----------
        decimals : int, optional
            Negative ones count digits before the point. The function `tensix.round` rounds to integers alone.

        Examples
        --------
        >>> tensix.tensor([0.126, 2.5]).round(2), tensix.tensor([0.126, 2.5]).round()
        (tensor([0.13, 2.50]), tensor([0., 2.]))
        """
        if decimals == 0 or (decimals > 0 and dtype_of_code(self.impl.dtype_code).kind in "iu"):
            return ROUND.call1(self)
        factor = 10.0 ** abs(int64_of(decimals))
        if decimals > 0:
            result = self * factor
            return call_in_place(DIV_, ROUND_OUT.call2(result, result), factor)
        return ASTYPE.call_with(ROUND.call1(self / factor) * factor, self.dtype)

    def __invert__(self):
        return BITWISE_INVERT.call1(self)

    # ---- operators of two operands: `self` is the left one, perhaps a number, and `other` the tensor

    def __add__(self, other):
        return call_operator(ADD, self, other)

    def __sub__(self, other):
        return call_operator(SUB, self, other)

    def __mul__(self, other):
        return call_operator(MUL, self, other)

    def __truediv__(self, other):
        return call_operator(DIV, self, other)

    def __floordiv__(self, other):
        return call_operator(FLOOR_DIVIDE, self, other)

    def __mod__(self, other):
        return call_operator(REMAINDER, self, other)

    def __divmod__(self, other):
        quotient = call_operator(FLOOR_DIVIDE, self, other)
        return NotImplemented if quotient is NotImplemented else (quotient, call_operator(REMAINDER, self, other))

    def __pow__(self, other):
        return call_operator(POW, self, other)

    def __and__(self, other):
        return call_operator(BITWISE_AND, self, other)

    def __or__(self, other):
        return call_operator(BITWISE_OR, self, other)

    def __xor__(self, other):
        return call_operator(BITWISE_XOR, self, other)

    def __lshift__(self, other):
        return call_operator(BITWISE_LEFT_SHIFT, self, other)

    def __rshift__(self, other):
        return call_operator(BITWISE_RIGHT_SHIFT, self, other)

    def __matmul__(self, other):
        return product_of(self, other)

    # ---- operators in place

    def __iadd__(self, other):
        return call_in_place(ADD_, self, other)

    def __isub__(self, other):
        return call_in_place(SUB_, self, other)

    def __imul__(self, other):
        return call_in_place(MUL_, self, other)

    def __itruediv__(self, other):
        return call_in_place(DIV_, self, other)

    def __ifloordiv__(self, other):
        return call_in_place(FLOOR_DIVIDE_, self, other)

    def __imod__(self, other):
        return call_in_place(REMAINDER_, self, other)

    def __ipow__(self, other):
        return call_in_place(POW_, self, other)

    def __iand__(self, other):
        return call_in_place(BITWISE_AND_, self, other)

    def __ior__(self, other):
        return call_in_place(BITWISE_OR_, self, other)

    def __ixor__(self, other):
        return call_in_place(BITWISE_XOR_, self, other)

    def __ilshift__(self, other):
        return call_in_place(BITWISE_LEFT_SHIFT_, self, other)

    def __irshift__(self, other):
        return call_in_place(BITWISE_RIGHT_SHIFT_, self, other)

    def __imatmul__(self, other):
        other = tensor_of_array(self, other)
        return matmul_in_place(self, other) if isinstance(other, TensorBase) else NotImplemented

    def add_(self, other, *, alpha=1):
        """Add another tensor or a number, multiplied by `alpha`, in place, and return this tensor."""
        return in_place(ADD_, self, other, alpha)

    def sub_(self, other, *, alpha=1):
        """Subtract another tensor or a number, multiplied by `alpha`, in place, and return this tensor."""
        return in_place(SUB_, self, other, alpha)

    def mul_(self, other):
        """Multiply by another tensor or a number in place, and return this tensor."""
        return in_place(MUL_, self, other, 1)

    def div_(self, other):
        """Divide by another tensor or a number in place, and return this tensor."""
        return in_place(DIV_, self, other, 1)

    # ---- sparse tensors

    @property
    def is_sparse(self):
        """Whether the layout is `sparse_coo`."""
        return self.layout is sparse_coo

    @property
    def nnz(self):
        """The number of entries of a sparse tensor; those for one element count each."""
        if not self.impl.key_set & SPARSE:  # inspect.getmembers() expects an AttributeError
            raise AttributeError("a strided tensor has no nnz: count_nonzero() counts elements, to_sparse() has one.")
        return NNZ.call1(self)

    def indices(self):
        """Return the indices of a sparse tensor, int64 of shape (ndim, nnz): a read-only view."""
        return INDICES.call1(self)

    def values(self):
        """Return the values of a sparse tensor, of shape (nnz,): a view."""
        return VALUES.call1(self)

    def is_coalesced(self):
        """Return whether a sparse tensor is known to have sorted indices, and no two for one element."""
        return IS_COALESCED.call1(self)

    def coalesce(self):
        """Return a sparse tensor with indices sorted and values for one element summed; itself if it is that."""
        return COALESCE.call1(self)

    def to_dense(self):
        """Return the elements in a strided tensor; a strided one returns itself."""
        return TO_DENSE.call1(self)

    def to_sparse(self):
        """Return the elements that are not zero in a sparse tensor; a sparse one returns itself."""
        return TO_SPARSE.call1(self)

    # ---- numbers and text

    def tolist(self):
        """Return the elements as nested lists of Python numbers."""
        source = on_cpu(self)
        impl = source.impl
        if impl.storage is None or impl.dtype_code in (FLOAT16, BFLOAT16) or impl.numel == 0:
            return readable_of_impl(impl).tolist()
        return lists_of(impl)

    def tobytes(self):
        """Return a copy of the elements as bytes, in row-major order."""
        source = on_cpu(self)
        impl = source.impl
        if impl.contiguous and impl.storage is not None:
            return PyBytes_FromStringAndSize(
                cython.cast(cython.p_char, TensorImpl_const_data(impl)), impl.numel * itemsize_of(impl.dtype_code)
            )
        if self.dtype is dtypes.bfloat16:  # NumPy has no such numbers: those of the same size have the same bytes
            source = VIEW_DTYPE.call_with(source, dtypes.uint16)
        return readable_of_impl(source.impl).tobytes()

    def numpy(self, *, force=False):
        """Return an array on the same memory, read-only if the tensor is.

        Parameters
        ----------
        force : bool, optional
            Whether to copy where memory cannot be shared: from other devices, and of sparse tensors.

        Raises
        ------
        TypeError, RuntimeError
            If memory cannot be shared, and `force` is false.

        Examples
        --------
        >>> x = tensix.zeros(2)
        >>> x.numpy()[0] = 3
        >>> x
        tensor([3., 0.])
        """
        source = on_cpu(TO_DENSE.call1(self)) if force else self
        return exported_ndarray_of_impl(source.impl)

    def item(self):
        """Return the only element as a Python number.

        Raises
        ------
        RuntimeError
            If the tensor is undefined.
        ValueError
            If there is not exactly one.
        """
        return number_of(self)

    def __float__(self):
        return float(number_of(self))

    def __complex__(self):
        return complex(number_of(self))

    def __int__(self):
        return int(number_of(self))

    def __index__(self):
        if self.impl.ndim != 0 or not is_integer(self.impl.dtype_code):
            raise TypeError(
                "only a tensor without dimensions and of an integer type can be used as an integer, this one has "
                f"{self.impl.ndim} dimensions and the type {dtype_of_code(self.impl.dtype_code)}."
            )
        return number_of(self)

    def __bool__(self):
        if self.impl.numel != 1 and self.impl is not UNDEFINED:
            raise ValueError(
                f"the truth value of a tensor with {self.impl.numel} elements is ambiguous: use any() or all(), and & "
                "or | where elements are combined: `and`, `or`, `not` and `if` ask for one truth value."
            )
        return bool(number_of(self))

    def __sizeof__(self):
        """Return the bytes of the object and of its elements: of all memory that only this tensor keeps, or of a view.

        What `sys.getsizeof` and Dask ask. Elements of an expanded tensor that are the same count once.
        """
        return size_in_memory(self)

    def __dir__(self):
        """Return the names that this tensor has: a vector has no ``mT``, a strided tensor no ``nnz``."""
        is_undefined = self.impl is UNDEFINED
        # One without elements has the same attributes, but its `imag` does not need as many zeros.
        probe = self if is_undefined or self.impl.ndim == 0 or self.impl.key_set & SPARSE else self.narrow(0, 0, 0)
        absent = {*names_elsewhere.METHODS, *[name for name in SOMETIMES_ABSENT if not can_read(probe, name)]}
        return [name for name in object.__dir__(self) if name not in absent]

    def __len__(self):
        if self.impl.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return TensorImpl_sizes(self.impl)[0]

    def __contains__(self, value):
        """Return whether an element equals a value, or those of an array do, as in NumPy."""
        found = call_operator(EQUAL, self, value)
        return isinstance(found, TensorBase) and ANY.call1(found).item()

    def __iter__(self):
        if self.impl.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        if self.impl is UNDEFINED:
            return "Tensor(undefined)"
        return format_tensor(self)

    def _repr_html_(self):
        return exchange.table_of_tensor(self)

    def __format__(self, spec: str):
        """Format the only element of a tensor without dimensions like the number it is."""
        if self.impl.ndim == 0 and self.impl.device_type != META:
            return format(self.item(), spec)
        if spec:
            raise TypeError(
                f"a format such as {spec!r} needs a tensor without dimensions that has memory, found shape "
                f"{self.shape} on {self.device}."
            )
        return str(self)

    # ---- other libraries

    def __getbuffer__(self, buffer: cython.pointer(Py_buffer), flags: cython.int):
        fill_buffer(self.impl, buffer, flags)
        buffer.obj = self

    def __releasebuffer__(self, buffer: cython.pointer(Py_buffer)):
        release_buffer(buffer)

    def __reduce_ex__(self, protocol):
        return reduce_tensor(self)

    def __dask_tokenize__(self):
        """Return what Dask hashes for a token: the type, shape, strides and elements."""
        return "tensix.Tensor", import_module("dask.tokenize").normalize_token(reduce_tensor(self))

    def __array__(self, dtype=None, copy=None):
        """Return an array for NumPy: a view on the same memory, unless it needs another type or asks for a copy."""
        return np.array(exported_ndarray_of_impl(self.impl), dtype, copy=copy)

    @property
    def __array_interface__(self):
        """The address, shape and type by which NumPy and others share the memory of objects.

        Notes
        -----
        Lifetime: the caller keeps the tensor while it uses the address. As it does not say when that ends, the memory
        counts as handed out permanently from the moment that ``"data"`` is asked for, and not before: it cannot be
        resized, and `lazy_clone` copies at once.
        """
        impl = self.impl
        if impl.storage is None or impl.device_type != CPU or buffer_format(impl.dtype_code) is None:
            raise AttributeError(f"a tensor of {self.dtype} on {self.device} has no __array_interface__.")
        return exchange.ArrayInterface(interface_facts(self), lambda: address_for_good(self))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """Compute a ufunc of NumPy. See Note [NumPy's functions]."""
        return exchange.call_ufunc(self, ufunc, method, inputs, options)

    def __array_function__(self, function, types, args, options):
        """Call a function of NumPy on the elements. See Note [NumPy's functions]."""
        return exchange.call_function(self, function, types, args, options)

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
        if self.impl is UNDEFINED:
            refuse_undefined()
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
            What the caller understands; versions before (1, 0) cannot say that memory is read-only.
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
        Lifetime: the capsule keeps the memory alive. A write to one is seen in the other.
        """
        if stream is not None:
            raise ValueError(f"the CPU has no streams: __dlpack__() takes stream=None, found {stream!r}.")
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError(f"__dlpack__() exports from {self.device} to the CPU only, found dl_device={dl_device}.")
        is_versioned: cython.bint = max_version is not None and tuple(max_version) >= (1, 0)
        if copy is None or not copy:
            return dlpack_capsule(self.impl, is_versioned, False)
        source: TensorBase = CLONE.call1(self)
        return dlpack_capsule(source.impl, is_versioned, True)


@cython.cfunc
@cython.inline
def has_numbers(self: TensorBase) -> cython.bint:
    """Return whether it is a strided tensor of numbers, which has real and imaginary parts."""
    return self.impl.storage is not None and self.impl.dtype_code != BOOL


@cython.cfunc
def attribute_by(table: OperatorTable, tensor: TensorBase, name: str):
    """Return what an operator gives for an attribute; where it refuses the tensor there is no such attribute."""
    try:
        return table.call1(tensor)
    except (NotImplementedError, TypeError) as error:
        raise AttributeError(f"a {tensor.layout} tensor of {tensor.dtype} has no {name}.") from error


@cython.cfunc
def size_in_memory(tensor: TensorBase):
    """Return the bytes that the tensor refers to, or of all its storage if it is the only owner, and of the objects."""
    impl = tensor.impl
    own = Tensor.__basicsize__ + type(impl).__basicsize__
    if isinstance(impl, SparseTensorImpl):
        sparse = cython.cast(SparseTensorImpl, impl)
        return own + size_in_memory(sparse.indices) + size_in_memory(sparse.values)
    if impl.storage is None or impl.device_type == META:
        return own
    held = cython.cast(StorageImpl, impl.storage).size_bytes
    if use_count(impl.storage) == 1:
        return own + held
    distinct = tensor.itemsize  # elements that expand() repeats are the same memory
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        if stride or not size:
            distinct *= size
    return own + min(held, distinct)


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def check_strided(self: TensorBase, method: str) -> cython.int:
    """Check that there are strides to speak of. See Note [Sparse tensors have no storage]."""
    if self.impl.key_set & SPARSE:
        raise RuntimeError(
            f"{method}: a sparse_coo tensor has neither storage nor strides. Ask its values(), or to_dense()."
        )
    return 0


@cython.cfunc
def sizes_of(shape: tuple) -> tuple:
    """Return sizes given as ``f(3, 4)`` or ``f((3, 4))``."""
    if len(shape) == 1 and not PyIndex_Check(shape[0]):
        return tuple(shape[0])
    return shape


@cython.cfunc
def is_dtype_name(name: str) -> cython.bint:
    """Return whether a name is one of an element type, not of a device."""
    try:
        Device_from_any(name)
    except (TypeError, ValueError, RuntimeError):
        return True
    return False


@cython.cfunc
def in_place(table: OperatorTable, target: TensorBase, other, alpha):
    """Call an operator that writes to its first operand, from a method."""
    b: TensorBase
    if not isinstance(other, TensorBase) and not is_number(other):
        raise TypeError(f"{table.schema.name}() takes a tensor or a number, {found_no_tensor(other)}")
    if isinstance(alpha, int) and alpha == 1:
        return call_in_place(table, target, other)
    b = other if isinstance(other, TensorBase) else scalar_like(target, other)
    return table.call((target, b), {"alpha": alpha})


@cython.cfunc
def product_of(left, right):
    """Multiply matrices, one of which may be an array."""
    a = left if isinstance(left, TensorBase) else tensor_of_array(right, left)
    b = right if isinstance(right, TensorBase) else tensor_of_array(left, right)
    return MATMUL.call2(a, b) if isinstance(a, TensorBase) and isinstance(b, TensorBase) else NotImplemented


@cython.cfunc
def matmul_in_place(target: TensorBase, other: TensorBase):
    """Write a product over its left operand, which must have the product's shape."""
    product: TensorBase = MATMUL.call2(target, other)
    check_result_type(product.impl.dtype_code, target.impl.dtype_code)
    if not TensorImpl_same_sizes(product.impl, target.impl):
        raise ValueError(
            f"output with shape {target.shape} doesn't match the shape of the product {product.shape}: use x = x @ y."
        )
    return COPY_.call2(target, product)


@cython.cfunc
def on_cpu(tensor: TensorBase) -> TensorBase:
    """Return the tensor on the CPU, itself if it is there. Hold it in a variable: it may be its body's only owner."""
    return tensor if tensor.impl.device_type == CPU else TO_COPY.call((tensor,), {"device": "cpu"})


@cython.cfunc
def number_of(tensor: TensorBase):
    """Return the only element as a Python number."""
    impl = tensor.impl
    if impl.numel != 1:
        if impl is UNDEFINED:
            refuse_undefined()
        raise ValueError(f"only a tensor with one element is a number, this one has {impl.numel}.")
    if impl.device_type == CPU and impl.storage is not None:
        data = TensorImpl_const_data(impl)
        number = read_number(impl.dtype_code, data)
        if number is not None:
            return number
    source = on_cpu(tensor)
    return readable_of_impl(source.impl).item()


@cython.cfunc
def can_read(tensor: TensorBase, name: str) -> cython.bint:
    """Return whether a tensor has an attribute."""
    try:
        getattr(tensor, name)
    except Exception:
        return False
    return True


@cython.cfunc
def lists_of(impl: TensorImpl):
    """Return the elements as nested lists of Python numbers, of types that `read_number` knows."""
    dims: int64_t[128]
    data = cython.cast(cython.p_char, TensorImpl_const_data(impl))
    ndim = impl.ndim
    for i in range(ndim):
        dims[i], dims[ndim + i] = TensorImpl_sizes(impl)[i], TensorImpl_strides(impl)[i] * itemsize_of(impl.dtype_code)
    storage = cython.cast(StorageImpl, impl.storage)
    StorageImpl_begin_use(storage)  # making lists may run the collector, and that anything
    try:
        return list_along(impl.dtype_code, ndim, dims, cython.address(dims[ndim]), data)
    finally:
        StorageImpl_end_use(storage)


@cython.cfunc
def list_along(
    code: uint8_t, ndim: cython.int, sizes: cython.pointer(int64_t), strides: cython.pointer(int64_t),
    data: cython.p_char,
):  # fmt: skip
    if ndim == 0:
        return read_number(code, data)
    step = strides[0]
    found: list = [None] * sizes[0]  # at its full size at once: growing would be a tenth of the call
    for i in range(sizes[0]):
        place = data + i * step
        if ndim == 1:
            found[i] = read_number(code, place)
        else:
            found[i] = list_along(code, ndim - 1, sizes + 1, strides + 1, place)
    return found


@cython.cfunc
def interface_facts(tensor: TensorBase) -> dict:
    """Return what ``__array_interface__`` says, save where the memory is."""
    impl = tensor.impl
    itemsize = itemsize_of(impl.dtype_code)
    strides = None if impl.contiguous else tuple([stride * itemsize for stride in TensorImpl_stride(impl)])
    typestr = dtype_of_code(impl.dtype_code).numpy.str
    return {"version": 3, "shape": TensorImpl_shape(impl), "typestr": typestr, "strides": strides}


@cython.cfunc
def address_for_good(tensor: TensorBase) -> dict:
    """Return the facts with the address, for a consumer that does not report when it is done."""
    address = tensor.data_ptr() if tensor.readonly else tensor.mutable_data_ptr()  # may run Python code
    storage = cython.cast(StorageImpl, tensor.impl.storage)
    storage.has_escaped = True
    StorageImpl_report_use(storage, OUT_OF_SIGHT)
    return {**interface_facts(tensor), "data": (address, tensor.readonly)}


@cython.cfunc
def fill_scaled(table: OperatorTable, target: Tensor, generator, factor, offset):
    """Write random numbers, multiplied and moved; what needs memory comes before the first of them is written."""
    if factor == 1 and offset == 0:
        return table.call_with(target, generator)
    factor = factor if isinstance(factor, TensorBase) else scalar_like(target, factor)
    offset = offset if isinstance(offset, TensorBase) else scalar_like(target, offset)
    table.call_with(target, generator)
    return target.mul_(factor).add_(offset)


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def writes_element(tensor: TensorBase, index, value) -> cython.bint:
    """Write a number to one element at once and return True, if no other code could tell that from INDEX and FILL_."""
    element: cython.double[2]  # of the widest type
    offset: int64_t = 0
    impl = tensor.impl
    if (
        not is_plain_number(value)
        or not finds_element(impl, index, cython.address(offset))
        or active_hooks
        or impl.storage is None
        or impl.device_type != CPU
    ):
        return False
    storage = cython.cast(StorageImpl, impl.storage)
    if (
        storage.guarded
        or storage.was_shrunk
        or storage.block.data == cython.NULL
        or not is_run_by(INDEX, impl.key_set, index_kernel)
        or not is_run_by(FILL_, impl.key_set, fill_kernel)
        or not write_number(impl.dtype_code, element, value)
    ):
        return False
    itemsize = itemsize_of(impl.dtype_code)
    memcpy(cython.cast(cython.p_char, storage.block.data) + offset * itemsize, element, itemsize)
    TensorImpl_bump_version(impl)
    return True


@cython.cfunc
@cython.inline
def is_run_by(table: OperatorTable, keys: uint64_t, function: kernel_function_t) -> cython.bint:
    """Return whether an operator has this kernel for tensors of these keys."""
    return cython.cast(Kernel, table.slots[OperatorTable_slot(table, keys)]).function == function


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
    """Return what is to be written as a tensor: numbers and lists of the target's type, arrays of their own."""
    if isinstance(value, Tensor):
        return value
    if value is None or isinstance(value, (str, bytes)):
        raise TypeError(
            "what is assigned must be a tensor, a number, an array or nested lists of numbers, found "
            f"{type(value).__name__}."
        )
    impl = target.impl
    if is_number(value):
        scalar = EMPTY.call_empty(0, cython.NULL, impl.dtype_code, impl.device_type, impl.device_index)
        return FILL_.call_with(scalar, value)
    if isinstance(value, np.ndarray):
        array = np.array(value, value.dtype.newbyteorder("="))
    else:
        array = call_ignoring_errors(np.array, (value, dtype_of_code(impl.dtype_code).numpy))
    return Tensor_wrap(impl_of_ndarray(array, False))


set_tensor_class(Tensor)
for _name in names_elsewhere.METHODS:
    enter(_name, names_elsewhere.AbsentName(_name))
