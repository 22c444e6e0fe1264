"""What allocators share whose memory somebody else's functions make."""
from tensix.core.allocator cimport Allocator
from tensix.core.data_ptr cimport data_ptr_t, deleter_t


cdef class ForeignAllocator(Allocator):
    cdef readonly size_t alignment
    cdef deleter_t free_function      # NULL: give_back() is called, with the GIL
    cdef bint needs_python            # not to be called any more after finalisation has begun
    # What a subclass overrides; NULL means that there is no memory.
    cdef void* take(self, size_t nbytes) except? NULL
    cdef int give_back(self, void* data) except -1
    cdef int set_alignment(self, object alignment) except -1
