"""Types of elements, as loops take them, and the place of each in a table of a loop for each.

Items are moved by their size and never interpreted, whatever their type. Values are compared with each other, and
integers of one size are equal if their bits are. Ordered ones are numbers that C knows to compare; bool is uint8.
"""
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from tensix.tensors.dtype cimport COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT8, INT64, itemsize_of


cdef struct sixteen_bytes_t:
    uint64_t low
    uint64_t high


ctypedef fused item_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    sixteen_bytes_t


ctypedef float complex complex64_t
ctypedef double complex complex128_t

ctypedef fused value_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    float
    double
    complex64_t
    complex128_t


ctypedef fused ordered_t:
    uint8_t
    int8_t
    uint16_t
    int16_t
    uint32_t
    int32_t
    uint64_t
    int64_t
    float
    double


cdef inline int place_of_item(int itemsize) noexcept nogil:
    return 0 if itemsize == 1 else 1 if itemsize == 2 else 2 if itemsize == 4 else 3 if itemsize == 8 else 4


cdef inline int place_of_value(int code) noexcept nogil:
    if code == FLOAT32 or code == FLOAT64:
        return 4 + (code == FLOAT64)
    return 6 + (code == COMPLEX128) if code == COMPLEX64 or code == COMPLEX128 else place_of_item(itemsize_of(code))


cdef inline int place_of_ordered(int code) noexcept nogil:
    if code == FLOAT32 or code == FLOAT64:
        return 8 + (code == FLOAT64)
    return 2 * place_of_item(itemsize_of(code)) + (INT8 <= code <= INT64)
