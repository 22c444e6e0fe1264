"""Bodies of tensors over memory that others have made."""
from libc.stdint cimport int64_t, uint8_t, uint64_t
from tensix.tensors.dtype cimport COMPLEX128, COMPLEX64, itemsize_of
from tensix.tensors.tensor_impl cimport TensorImpl


cdef TensorImpl impl_over_memory(
    uint8_t dtype_code, uint64_t key_set, int ndim, const int64_t* sizes, const int64_t* strides, void* data)


cdef inline int64_t alignment_of(uint8_t dtype_code) noexcept nogil:
    """Return what the address of an element divides by: a complex number is aligned like its parts."""
    cdef int64_t itemsize = itemsize_of(dtype_code)
    return itemsize // 2 if dtype_code in (COMPLEX64, COMPLEX128) else itemsize
