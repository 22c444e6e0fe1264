"""Comparisons of tensors."""
cimport cython
from tensix.tensors.view_methods cimport ViewMethods


@cython.no_gc  # said here too: a subclass in another module believes this file
cdef class ComparisonMethods(ViewMethods):
    pass
