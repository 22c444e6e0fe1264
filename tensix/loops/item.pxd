"""Items: elements that are moved by their size and never interpreted, whatever their type."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef struct sixteen_bytes_t:
    uint64_t low
    uint64_t high


ctypedef fused item_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    sixteen_bytes_t


cdef inline int size_class(int itemsize) noexcept nogil:
    """Return the place of a size among the types of items: the index of a loop in a table of five."""
    return 0 if itemsize == 1 else 1 if itemsize == 2 else 2 if itemsize == 4 else 3 if itemsize == 8 else 4
