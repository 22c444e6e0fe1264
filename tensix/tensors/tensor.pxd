"""The tensor that users hold."""
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl


cdef class Tensor(TensorBase):
    pass


cdef Tensor Tensor_wrap(TensorImpl impl)
