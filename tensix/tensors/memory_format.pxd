"""Memory formats: in which order the elements of a tensor lie in memory."""
from libc.stdint cimport int64_t
from tensix.tensors.tensor_impl cimport TensorImpl


cdef object memory_format_from_any(object memory_format)
cdef int64_t strides_of_format(object memory_format, int ndim, const int64_t* sizes, int64_t* strides) except -1
cdef bint TensorImpl_is_contiguous_in(TensorImpl self, object memory_format) except -1
cdef bint TensorImpl_is_channels_last(TensorImpl self) noexcept nogil
