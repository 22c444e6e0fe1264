"""Copying elements from tensor to tensor."""
from tensix.tensors.tensor_impl cimport TensorImpl


cdef int copy_elements(TensorImpl target, TensorImpl source) except -1
cdef bint may_overlap(TensorImpl a, TensorImpl b) except -1
cdef int check_writable_once(TensorImpl self) except -1
cdef object fill_element(TensorImpl target, object value)
