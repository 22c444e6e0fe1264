"""The tensor that users hold."""
from tensix.tensors.exchange_methods cimport ExchangeMethods
from tensix.tensors.tensor_impl cimport TensorImpl


cdef class Tensor(ExchangeMethods):
    pass


cdef Tensor Tensor_wrap(TensorImpl impl)
