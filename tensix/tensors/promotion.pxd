"""Which element type two others meet in."""
from libc.stdint cimport uint8_t


cdef int promote_codes(uint8_t a, uint8_t b) except -1
