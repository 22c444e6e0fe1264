"""The handle on a tensor, without operators."""
from libc.stdint cimport uint64_t
from tensix.tensors.tensor_impl cimport TensorImpl


cdef class TensorBase:
    cdef TensorImpl impl          # with one strong count, or UNDEFINED, which is never counted
    cdef object __weakref__


cdef TensorImpl UNDEFINED

cdef int TensorBase_own_new(TensorBase self, TensorImpl impl) except -1
