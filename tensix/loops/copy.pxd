"""Copying elements from tensor to tensor."""
from libc.stdint cimport uint8_t
from tensix.dispatch.kernel cimport Kernel, arguments_t
from tensix.tensors.tensor_impl cimport TensorImpl


cdef TensorImpl converted(TensorImpl source, uint8_t code)
cdef TensorImpl copied(TensorImpl source, uint8_t code)
cdef TensorImpl in_order(TensorImpl x)
cdef int common_code(list bodies) except -1
cdef int check_cast(uint8_t source, uint8_t target) except -1
cdef int copy_elements(TensorImpl target, TensorImpl source) except -1
cdef object fill_element(TensorImpl target, object value)
cdef object fill_(Kernel self, object table, arguments_t args)
