"""Sharing the work of a loop among threads."""
from libc.stdint cimport int64_t

ctypedef void (*chunk_function_t)(void* context, int64_t chunk) noexcept nogil


cdef void parallel_for(int64_t chunks, chunk_function_t function, void* context) noexcept nogil
