"""The tensor that users hold."""
from tensix.tensors.operator_methods cimport OperatorMethods
from tensix.tensors.tensor_impl cimport TensorImpl


cdef class Tensor(OperatorMethods):
    pass


cdef Tensor Tensor_wrap(TensorImpl impl)
