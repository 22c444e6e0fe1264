"""Private: tensors of nested sequences of Python's numbers."""
from tensix.tensors.tensor_base cimport TensorBase


cdef TensorBase tensor_of_numbers(object data, int code)
