"""The protocols by which other libraries take tensors."""
cimport cython
from tensix.tensors.conversion_methods cimport ConversionMethods


@cython.no_gc  # said here too: a subclass in another module believes this file
cdef class ExchangeMethods(ConversionMethods):
    pass
