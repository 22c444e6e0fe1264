"""The tensor that users hold."""
from tensix.tensors.conversion_methods cimport ConversionMethods
from tensix.tensors.tensor_impl cimport TensorImpl


cdef class Tensor(ConversionMethods):
    pass


cdef Tensor Tensor_wrap(TensorImpl impl)
