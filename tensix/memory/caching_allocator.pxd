"""The default allocator: blocks are kept when they are freed, and given out again. Fields are private to tensix."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t
from tensix.core.allocator cimport Allocator
from tensix.core.data_ptr cimport data_ptr_t
from tensix.core.tally cimport tally_t

cdef enum:
    CLASS_COUNT = 440       # eight, and eight per doubling up to 63 bits

cdef struct cache_t
cdef struct size_class_t

cdef struct kept_block_t:
    data_ptr_t block        # upstream's; owned
    size_t capacity         # bytes of it
    size_t nbytes           # bytes asked for, while it is given out
    bint reports            # whether giving it out is reported here, because upstream does not
    uint64_t stamp          # of the report
    cache_t* cache
    size_class_t* its_class
    kept_block_t* newer     # of its class, while it is kept; the next one, while it is on the stack
    kept_block_t* older
    kept_block_t* next      # in the order of being freed, over all classes
    kept_block_t* previous


cdef struct size_class_t:
    kept_block_t* newest
    size_t count


cdef struct cache_t:
    uint64_t owners         # the allocator and every block that came through here
    PyObject* allocator     # borrowed; NULL once it is gone; with the GIL
    uint64_t is_closed      # the allocator is gone: nothing is kept any more
    tally_t in_use
    size_t cached
    size_t max_cached
    size_t hits
    size_t misses
    kept_block_t* first     # the longest unused
    kept_block_t* last
    uint64_t returned       # address of the block on top of the stack. See Note [The GIL is the lock of the cache]
    uint64_t returned_bytes
    size_class_t classes[CLASS_COUNT]


cdef class CachingAllocator(Allocator):
    cdef readonly Allocator upstream
    cdef bint is_over_cpu  # whether upstream makes plain CPU blocks, which are taken unreported
    cdef cache_t* cache


cdef int CachingAllocator_allocate(CachingAllocator self, size_t nbytes, bint zeroed, data_ptr_t* out) except -1
cdef void kept_block_point(kept_block_t* kept, data_ptr_t* out) noexcept nogil
cdef void take_back_with_gil(void* ctx) noexcept nogil
