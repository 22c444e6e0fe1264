"""The methods of sparse tensors."""
cimport cython
from tensix.tensors.operator_methods cimport OperatorMethods


@cython.no_gc  # said here too: a subclass in another module believes this file
cdef class SparseMethods(OperatorMethods):
    pass
