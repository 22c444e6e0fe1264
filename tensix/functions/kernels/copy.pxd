"""Copying elements from tensor to tensor."""
from tensix.tensors.tensor_impl cimport TensorImpl


cdef int copy_elements(TensorImpl target, TensorImpl source) except -1
cdef object fill_element(TensorImpl target, object value)
