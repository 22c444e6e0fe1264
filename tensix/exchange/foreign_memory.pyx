"""Bodies of tensors over memory that others have made: what every way in has in common.

Code that takes memory in (from NumPy, a buffer, DLPack, an address) asks for a body first and hands the ownership over
only when there is one. So an error leaves the memory with its owner.
"""
from libc.stdint cimport int64_t, uint8_t, uint64_t, uintptr_t
from tensix.core.data_ptr cimport data_ptr_init
from tensix.core.handle cimport own_new
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_new
from tensix.tensors.dtype cimport dtype_of_code, itemsize_of
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_adopt, TensorImpl_new, TensorImpl_refresh, TensorImpl_sizes, TensorImpl_span,
    TensorImpl_strides, contiguous_strides, tx_multiply_overflows,
)


cdef TensorImpl impl_over_memory(
        uint8_t dtype_code, uint64_t key_set, int ndim, const int64_t* sizes, const int64_t* strides, void* data):
    """Return a body without owners over elements of which the first is at `data`.

    Its storage spans the elements and no more, is writable, and frees nothing: that is for the caller to fill in, and
    cannot fail. `strides` counts elements; NULL means row-major order.

    Raises
    ------
    ValueError
        If there are too many dimensions, a size is negative, the bytes cannot be counted in 63 bits, `data` is null
        but there are elements, or the elements are not aligned.
    """
    cdef TensorImpl impl = TensorImpl_new(dtype_code, key_set, ndim)
    cdef StorageImpl storage = StorageImpl_new()
    cdef int64_t itemsize = itemsize_of(dtype_code)
    cdef int64_t first = 0
    cdef int64_t last = 0
    cdef int64_t nbytes = 0
    cdef int64_t* own_sizes = TensorImpl_sizes(impl)
    cdef int64_t* own_strides = TensorImpl_strides(impl)
    cdef int i
    for i in range(ndim):
        if sizes[i] < 0:
            refuse_negative(sizes[i])
        own_sizes[i] = sizes[i]
    if strides == NULL:
        impl.numel = contiguous_strides(ndim, own_sizes, own_strides)
        impl.contiguous = True
        last = impl.numel - 1
    else:
        for i in range(ndim):
            own_strides[i] = strides[i]
        TensorImpl_refresh(impl)
    if impl.numel:
        if strides != NULL and not (
                TensorImpl_span(impl, &first, &last) and first >= -LARGEST // 2 and last <= LARGEST // 2):
            refuse_span(impl)
        if tx_multiply_overflows(last - first, itemsize, &nbytes) or nbytes > LARGEST - itemsize:
            refuse_span(impl)
        nbytes += itemsize
        if data == NULL:
            raise ValueError(f"there are {impl.numel} elements, but their address is 0.")
        if <uintptr_t>data & (alignment_of(dtype_code) - 1):  # alignments are powers of two
            refuse_alignment(dtype_code, data)
        data_ptr_init(&storage.block, <char*>data + first * itemsize, NULL, NULL)
        impl.storage_offset = -first
    else:
        data_ptr_init(&storage.block, data, NULL, NULL)
    storage.size_bytes = nbytes
    storage.is_watched = storage.guarded = False  # others use the memory too: what is seen of it says nothing
    own_new(storage)
    TensorImpl_adopt(impl, storage)
    return impl


cdef int64_t LARGEST = 2**63 - 1


cdef int refuse_negative(int64_t size) except -1:
    raise ValueError(f"a size is 0 or more, found {size}.")


cdef int refuse_span(TensorImpl impl) except -1:
    raise ValueError(f"the elements of shape {impl.shape} with stride {impl.stride} do not fit into 63 bits of bytes.")


cdef int refuse_alignment(uint8_t dtype_code, void* data) except -1:
    raise ValueError(
        f"the elements are not aligned: {dtype_of_code(dtype_code).name} needs addresses that divide by "
        f"{alignment_of(dtype_code)}, found {<uintptr_t>data:#x}. Copy them first."
    )
