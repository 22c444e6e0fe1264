"""The methods of tensors that fold elements into fewer."""
cimport cython
from tensix.tensors.operator_methods cimport OperatorMethods


@cython.no_gc  # said here too: a subclass in another module believes this file
cdef class ReductionMethods(OperatorMethods):
    pass
