"""The tensor that users hold."""
from tensix.tensors.tensor_base cimport TensorBase


cdef class Tensor(TensorBase):
    pass
