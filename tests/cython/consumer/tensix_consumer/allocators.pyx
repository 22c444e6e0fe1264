"""An allocator in C: no Python code runs between a tensor and malloc."""
from libc.stdlib cimport free, malloc
from tensix cimport Allocator, data_ptr_init, data_ptr_t

import tensix

cdef int live_blocks = 0


cdef void free_block(void* block) noexcept nogil:
    global live_blocks
    live_blocks -= 1
    free(block)


cdef class CountingAllocator(Allocator):
    """Ask malloc, up to a limit per block."""
    cdef readonly int allocations
    cdef readonly size_t limit

    def __cinit__(self, size_t limit=1 << 20):
        self.limit = limit

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        global live_blocks
        cdef void* block = malloc(nbytes) if 0 < nbytes <= self.limit else NULL
        if block == NULL and nbytes > 0:
            raise tensix.OutOfMemoryError(nbytes, 16, 0, self.limit)
        self.allocations += 1
        live_blocks += block != NULL
        data_ptr_init(out, block, block, free_block)
        return 0


def live_block_count():
    return live_blocks
