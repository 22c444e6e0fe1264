"""Bodies of tensors over memory that others have made."""
from libc.stdint cimport int64_t, uint8_t, uint64_t
from tensix.tensors.tensor_impl cimport TensorImpl


cdef TensorImpl look_at_memory(
    uint8_t dtype_code, uint64_t key_set, int ndim, const int64_t* sizes, const int64_t* strides, void* data)
