"""The counted body of a sparse tensor. Fields are private to tensix."""
cimport cython
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl


@cython.no_gc  # as its base
cdef class SparseTensorImpl(TensorImpl):
    cdef readonly TensorBase indices  # int64 of shape (ndim, nnz), inside the shape, read-only
    cdef readonly TensorBase values   # of shape (nnz,)
    cdef readonly bint is_coalesced   # whether the indices are sorted and differ
    cdef void destroy(self, bint holds_gil) noexcept nogil
    cpdef release_resources(self)


cdef SparseTensorImpl SparseTensorImpl_new(tuple shape, TensorBase indices, TensorBase values, bint is_coalesced)
