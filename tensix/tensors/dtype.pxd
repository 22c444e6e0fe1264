"""Element types: a small code per type, and the objects that Python sees."""
from libc.stdint cimport uint8_t


cdef class DType:
    cdef readonly uint8_t code       # PyTorch's ScalarType number, the row in every dtype table
    cdef readonly uint8_t itemsize   # bytes
    cdef readonly str name
    cdef readonly str kind           # "bool", "signed integer", "unsigned integer", "real floating", "complex floating"
    cdef readonly object numpy       # numpy.dtype, or None
    cdef object __weakref__


cdef DType dtype_of_code(uint8_t code)
cdef DType dtype_from_any(object dtype)
cdef uint8_t default_float_code() noexcept
