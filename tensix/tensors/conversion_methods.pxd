"""The methods that turn tensors into numbers and text."""
cimport cython
from tensix.tensors.sparse_methods cimport SparseMethods


@cython.no_gc  # said here too: a subclass in another module believes this file
cdef class ConversionMethods(SparseMethods):
    pass
