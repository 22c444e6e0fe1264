"""The methods of tensors that return views."""
cimport cython
from tensix.tensors.tensor_base cimport TensorBase


@cython.no_gc  # said here too: a subclass in another module believes this file
cdef class ViewMethods(TensorBase):
    pass
