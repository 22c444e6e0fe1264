"""The tensor that users hold."""
from tensix.tensors.sparse_methods cimport SparseMethods
from tensix.tensors.tensor_impl cimport TensorImpl


cdef class Tensor(SparseMethods):
    pass


cdef Tensor Tensor_wrap(TensorImpl impl)
