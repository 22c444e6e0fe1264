"""Copies of tensors by Python's own `copy` module."""
from tensix.tensors.tensor_base cimport TensorBase


cdef TensorBase copy_of(TensorBase tensor)
cdef TensorBase deep_copy_of(TensorBase tensor, dict memo)
