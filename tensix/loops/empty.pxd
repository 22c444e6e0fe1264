"""New tensors without values."""
from libc.stdint cimport int8_t, int64_t, uint8_t
from tensix.tensors.tensor_impl cimport TensorImpl


cdef TensorImpl empty_impl(
    int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type, int8_t device_index)
cdef TensorImpl empty_strided_impl(TensorImpl like, uint8_t dtype_code)
cdef TensorImpl empty_in_order_impl(TensorImpl like, uint8_t dtype_code)
cdef void put_in_order(TensorImpl out, const int64_t* like) noexcept
cdef TensorImpl empty_like_impl(TensorImpl like, object memory_format)


cdef int check_strided(object layout, object pin_memory) except -1
