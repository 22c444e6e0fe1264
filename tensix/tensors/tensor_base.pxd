"""The handle on a tensor, without its methods."""
cimport cython
from tensix.tensors.tensor_impl cimport TensorImpl


@cython.no_gc  # said here too: a subclass in another module believes this file
cdef class TensorBase:
    cdef readonly TensorImpl impl          # with one strong count, or UNDEFINED, which is never counted
    cdef object __weakref__


cdef TensorImpl UNDEFINED
cdef TensorBase Tensor_wrap(TensorImpl impl)
cdef int set_tensor_class(type tensor_class) except -1
