"""The operator signs of tensors."""
cimport cython
from tensix.tensors.comparison_methods cimport ComparisonMethods


@cython.no_gc  # said here too: a subclass in another module believes this file
cdef class OperatorMethods(ComparisonMethods):
    pass
