"""The default allocator: aligned blocks of main memory."""
from tensix.core.allocator cimport Allocator


cdef class CPUAllocator(Allocator):
    cdef readonly size_t alignment
    cdef readonly bint zero_fill
    cdef readonly bint junk_fill
    cdef readonly bint huge_pages
    cdef int node  # -1: none

# Private to tensix.
cdef void free_cpu(void* data) noexcept nogil
