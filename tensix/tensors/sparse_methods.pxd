"""The methods of sparse tensors."""
cimport cython
from tensix.tensors.reduction_methods cimport ReductionMethods


@cython.no_gc  # said here too: a subclass in another module believes this file
cdef class SparseMethods(ReductionMethods):
    pass
