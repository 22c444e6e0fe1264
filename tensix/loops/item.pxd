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
