"""Whether memory is written twice, or written while it is read."""
from tensix.tensors.tensor_impl cimport TensorImpl


cdef bint may_overlap(TensorImpl a, TensorImpl b) except -1
cdef bint is_same_view(TensorImpl a, TensorImpl b) except -1
cdef int check_writable_once(TensorImpl self) except -1
