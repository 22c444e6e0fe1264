"""Memory that other processes can attach.

Code that hands a tensor to another process asks `shared_memory_locate` for the file behind any address in it, sends the
descriptor and the offset, and calls `shared_memory_attach` on the other side.
"""
from tensix.core.allocator cimport Allocator
from tensix.core.data_ptr cimport data_ptr_t


cdef struct shared_segment_t  # a file and its mapping


cdef struct shared_place_t:
    int fd            # borrowed: valid while a block of the segment lives; duplicate it to keep it
    size_t offset     # in the file, of the address asked for
    size_t nbytes     # from there to the end of what is mapped
    bint is_readonly


cdef class SharedMemoryAllocator(Allocator):
    cdef shared_segment_t* filling   # the segment that small blocks are taken from, or NULL
    cdef int process_id              # whose it is


# With the GIL. Whether the address lies in shared memory, made here or attached; fills `place` if so.
cdef bint shared_memory_locate(const void* address, shared_place_t* place) except -1

# With the GIL. Maps a part of a file of shared memory; the descriptor stays the caller's.
cdef int shared_memory_attach(int fd, size_t offset, size_t nbytes, bint is_readonly, data_ptr_t* out) except -1
