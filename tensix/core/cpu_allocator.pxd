"""The default allocator: aligned blocks of main memory."""
from cpython.ref cimport PyObject
from tensix.core.allocator cimport Allocator
from tensix.core.data_ptr cimport data_ptr_t


cdef class CPUAllocator(Allocator):
    cdef readonly size_t alignment
    cdef readonly bint zero_fill
    cdef readonly bint junk_fill
    cdef readonly bint huge_pages
    cdef int node  # -1: none
    cdef bint populates  # whether regions of their own get all pages at once

# Private to tensix.
cdef int CPUAllocator_allocate(CPUAllocator self, size_t nbytes, data_ptr_t* out, PyObject* allocator) except -1
cdef int CPUAllocator_reserve(CPUAllocator self, size_t nbytes, data_ptr_t* out) except -1
cdef void free_cpu(void* data) noexcept nogil
