"""Private: tensors of nested sequences of Python's numbers."""
from libc.stdint cimport int64_t
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl


cdef TensorBase tensor_of_numbers(object data, int code)
cdef bint is_as_asked(TensorImpl made, int ndim, const int64_t* sizes, int code) noexcept
