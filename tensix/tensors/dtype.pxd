"""Element types: a small code per type, and the objects that Python sees."""
from libc.stdint cimport uint8_t
from tensix.core.assertions cimport TX_ASSERT

# PyTorch's numbers of its ScalarType; other modules take them from here.
cdef enum:
    UINT8 = 0
    INT8 = 1
    INT16 = 2
    INT32 = 3
    INT64 = 4
    FLOAT16 = 5
    FLOAT32 = 6
    FLOAT64 = 7
    COMPLEX64 = 9
    COMPLEX128 = 10
    BOOL = 11
    BFLOAT16 = 15
    UINT16 = 27
    UINT32 = 28
    UINT64 = 29
    UNDEFINED = 46


cdef class DType:
    cdef readonly uint8_t code       # PyTorch's ScalarType number, the row in every dtype table
    cdef readonly uint8_t itemsize   # bytes
    cdef readonly str name
    cdef readonly str kind           # NumPy's letter: "b", "i", "u", "f", "c"; "V" of an undefined tensor
    cdef object numpy_dtype          # numpy.dtype of the same bytes, or None; NumPy's own, or ml_dtypes' once asked for
    cdef object __weakref__


cdef uint8_t ITEMSIZES[47]  # code -> bytes per element, 0 where there is no type


cdef inline uint8_t itemsize_of(uint8_t code) noexcept nogil:
    """Return the bytes per element without asking a Python object."""
    TX_ASSERT(code <= UNDEFINED, "the number of an element type", code)
    return ITEMSIZES[code]


cdef inline bint is_integer(uint8_t code) noexcept nogil:
    """Return whether a type is one of the integers; bool is none."""
    return code <= INT64 or UINT16 <= code <= UINT64


cdef DType dtype_of_code(uint8_t code)
cpdef DType dtype_from_any(object dtype)
cdef object numpy_dtype_of(DType dtype)
cdef int refuse_undefined() except -1
cdef uint8_t default_float_code() noexcept
