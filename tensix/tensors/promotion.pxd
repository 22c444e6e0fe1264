"""Which element type two others promote to."""
from libc.stdint cimport uint8_t
from tensix.tensors.dtype cimport DType


cdef int promote_codes(uint8_t a, uint8_t b) except -1
cpdef DType promote_number(DType dtype, object number)
cdef int check_result_type(uint8_t result, uint8_t output) except -1
