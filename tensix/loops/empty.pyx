"""New tensors without values: the device's allocator makes the block, the storage owns it, a body refers to it.

Factories declare the options `layout` and `pin_memory` as PyTorch's do. Those of tensix make strided tensors in memory
that is not pinned, so each option has one value: it is checked here, and kernels do not get it.
"""
from libc.stdint cimport int8_t, int64_t, uint8_t
from tensix.core.allocator cimport current_allocator
from tensix.core.device cimport Device, Device_from_any
from tensix.core.handle cimport own_new
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_allocate
from tensix.tensors.dispatch_key cimport dense_keys_of_device
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.tensors.dtype cimport default_float_code, dtype_from_any, itemsize_of
from tensix.tensors.memory_format cimport memory_format_from_any, strides_of_format
from tensix.tensors.tensor_base cimport Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_copy_dims, TensorImpl_is_dense, TensorImpl_new, TensorImpl_refresh, TensorImpl_refresh_order,
    TensorImpl_sizes, TensorImpl_strides, contiguous_strides, int64_of, tx_multiply_overflows,
)

from tensix.dispatch import native_functions
from tensix.tensors.layout import Layout, strided
from tensix.tensors.memory_format import contiguous_format, preserve_format


cdef int give_storage(TensorImpl self, int8_t device_type, int8_t device_index) except -1:
    """Let the device's allocator make a storage for the elements of a body that has none."""
    cdef int64_t nbytes = 0
    if itemsize_of(self.dtype_code) == 0:
        refuse_type()
    if tx_multiply_overflows(self.numel, itemsize_of(self.dtype_code), &nbytes):
        refuse_overflow(self)
    cdef StorageImpl storage = StorageImpl_allocate(nbytes, current_allocator(device_type), True)
    storage.block.device_type, storage.block.device_index = device_type, device_index
    own_new(storage)
    self.storage = storage
    self.device_type, self.device_index = device_type, device_index
    return 0


cdef int refuse_type() except -1:
    raise TypeError("undefined is not an element type, and there are no elements of it. Name another one.")


cdef int refuse_overflow(TensorImpl self) except -1:
    raise ValueError(
        f"Storage size calculation overflowed: {self.numel:,} elements of {itemsize_of(self.dtype_code)} bytes."
    )


cdef TensorImpl empty_impl(
        int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type, int8_t device_index):
    """Return a row-major tensor's body, without owners and values."""
    cdef TensorImpl impl = TensorImpl_new(dtype_code, dense_keys_of_device(device_type), ndim)
    cdef int i
    for i in range(ndim):
        TensorImpl_sizes(impl)[i] = sizes[i]
    impl.numel = contiguous_strides(ndim, sizes, TensorImpl_strides(impl))
    impl.contiguous = True
    give_storage(impl, device_type, device_index)
    return impl


cdef TensorImpl empty_impl_in(
        object memory_format, int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type,
        int8_t device_index):
    """Return a tensor's body in the order of a memory format, without owners and values."""
    cdef TensorImpl impl = TensorImpl_new(dtype_code, dense_keys_of_device(device_type), ndim)
    cdef int i
    for i in range(ndim):
        TensorImpl_sizes(impl)[i] = sizes[i]
    strides_of_format(memory_format, ndim, sizes, TensorImpl_strides(impl))
    TensorImpl_refresh(impl)
    give_storage(impl, device_type, device_index)
    return impl


cdef TensorImpl empty_like_impl(TensorImpl like, object memory_format):
    """Return a body of the same shape, type and device in the order of a memory format; None preserves."""
    if memory_format is not None:
        memory_format = memory_format_from_any(memory_format)
        if memory_format is not preserve_format:
            return empty_impl_in(
                memory_format, like.ndim, TensorImpl_sizes(like), like.dtype_code, like.device_type, like.device_index)
    return empty_strided_impl(like, like.dtype_code)


cdef TensorImpl empty_strided_impl(TensorImpl like, uint8_t dtype_code):
    """Return a body of the same shape and device: with the same strides if those are dense, else row-major."""
    if like.contiguous or not TensorImpl_is_dense(like):
        return empty_impl(like.ndim, TensorImpl_sizes(like), dtype_code, like.device_type, like.device_index)
    cdef TensorImpl impl = TensorImpl_new(dtype_code, dense_keys_of_device(like.device_type), like.ndim)
    TensorImpl_copy_dims(like, impl, 0, 0, like.ndim)
    TensorImpl_refresh(impl)
    give_storage(impl, like.device_type, like.device_index)
    return impl


cdef TensorImpl empty_in_order_impl(TensorImpl like, uint8_t dtype_code):
    """Return a body of the same shape and device, its dimensions in the same order in memory, without the gaps."""
    cdef bint follows = not like.contiguous
    cdef int i
    for i in range(like.ndim):
        follows = follows and (TensorImpl_strides(like)[i] > 0 or TensorImpl_sizes(like)[i] == 1)
    cdef TensorImpl impl = empty_strided_impl(like, dtype_code)
    if follows and impl.contiguous:
        put_in_order(impl, TensorImpl_strides(like))
    return impl


cdef void put_in_order(TensorImpl out, const int64_t* like) noexcept:
    """Order the dimensions of a new tensor in memory by other strides, the largest first."""
    cdef int order[64]
    cdef int64_t stride = 1
    cdef int i, j
    for i in range(out.ndim):
        j = i
        while j > 0 and like[order[j - 1]] < like[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    for i in range(out.ndim - 1, -1, -1):
        TensorImpl_strides(out)[order[i]] = stride
        stride *= max(TensorImpl_sizes(out)[order[i]], 1)
    TensorImpl_refresh_order(out, out.numel)


cdef object empty(Kernel self, object table, arguments_t args):
    cdef object device = <object>args[3]
    cdef Device where = Device_from_any("cpu" if device is None else device)
    cdef uint8_t dtype_code = default_float_code() if <object>args[1] is None else dtype_from_any(<object>args[1]).code
    cdef int64_t sizes[64]
    cdef tuple shape = tuple(<object>args[0])  # See Note [Lists that change]
    check_strided(<object>args[2], <object>args[4])
    if len(shape) > 64:
        raise ValueError(f"a tensor has at most 64 dimensions, found {len(shape)}.")
    for i, extent in enumerate(shape):
        sizes[i] = int64_of(extent)
    memory_format = <object>args[5]
    memory_format = contiguous_format if memory_format is None else memory_format_from_any(memory_format)
    return Tensor_wrap(empty_impl_in(memory_format, len(shape), sizes, dtype_code, where.type_code, where.index))


cdef object empty_of_numbers(
        Kernel self, int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type, int8_t device_index):
    return Tensor_wrap(empty_impl(ndim, sizes, dtype_code, device_type, device_index))


# ---- the options of factories


cdef int check_strided(object layout, object pin_memory) except -1:
    """Check that nothing else is asked for."""
    if layout is not None and not isinstance(layout, Layout):
        raise TypeError(f"a layout is tensix.strided or None here, found {type(layout).__name__}.")
    if layout is not None and layout is not strided:
        raise ValueError(
            f"new tensors are tensix.strided, found layout={layout}. "
            "Make a sparse one with sparse_coo_tensor() or to_sparse()."
        )
    if pin_memory is not None and pin_memory is not False:
        raise ValueError(
            f"pin_memory must be False or None, found {pin_memory!r}: tensix pins no memory. Leave it out, or use an "
            "allocator that pins its blocks."
        )
    return 0


# The kernel asks the device's allocator: that of meta tensors gives sizes without memory.
cdef Kernel EMPTY = Kernel_of("empty", empty)
EMPTY.empty_function = empty_of_numbers
KERNELS = tuple([(native_functions.EMPTY, _key, EMPTY) for _key in ("CPU", "Meta")])  # registered as those of `copy`
