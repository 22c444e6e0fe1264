"""The default allocator: blocks are kept when they are freed, and given out again. Fields are private to tensix."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t, uint64_t
from tensix.core.allocator cimport Allocator
from tensix.core.assertions cimport TX_ASSERT, TX_ASSERT_GIL
from tensix.core.atomics cimport tx_load_relaxed, tx_store_relaxed
from tensix.core.cpu_allocator cimport is_sealed
from tensix.core.data_ptr cimport data_ptr_init, data_ptr_operations_t, data_ptr_t
from tensix.core.device cimport CPU
from tensix.core.free_threading cimport GIL_EXISTS
from tensix.core.memory_reports cimport report_allocation, report_free

# See Note [Size classes].
cdef enum:
    STEP_BYTES = 64              # from class to class, up to the last of the small ones
    MAX_SMALL_BYTES = 1024
    MAX_SMALL_BIT = 10
    SMALL_CLASS_COUNT = 16
    GIL_CLASS_COUNT = 64         # those and the ones up to 64 KiB have lists that the GIL guards
    CLASS_COUNT = 440            # those, and eight per doubling up to 63 bits
    MIN_LARGE_BYTES = 1048576    # of these any number is kept
    MAX_CLASS_BYTES = 262144     # of smaller ones so many bytes per class, or
    MIN_CLASS_BLOCKS = 8         # so many blocks

cdef struct cache_t

cdef struct kept_block_t:
    data_ptr_t block        # upstream's; owned
    size_t capacity         # bytes of it
    size_t nbytes           # bytes asked for, while it is given out
    bint reports            # whether giving it out is reported here, because upstream, a CPUAllocator, does not
    bint has_header         # whether the header in front of its address may be read
    uint64_t stamp          # of the report
    uint32_t freed_at       # the tick at which it was kept, if it is not small. See Note [Unused blocks]
    cache_t* cache
    uint32_t its_class
    kept_block_t* older     # of its class, while it is kept
    kept_block_t* newer     # of its class, while it is kept and not small
    kept_block_t* next      # in the order of being freed, over all classes but the small ones; in a list to be let go
    kept_block_t* previous


cdef struct size_class_t:
    kept_block_t* newest
    size_t wanted           # how many more of its blocks may be kept


cdef struct front_t:        # what the GIL guards, or what belongs to one thread
    size_class_t classes[GIL_CLASS_COUNT]
    uint64_t nbytes
    uint64_t hits
    uint64_t reused         # bytes of the hits
    cache_t* cache          # whose blocks these are, NULL once it is gone; this and the next with the lock
    front_t* next           # of the same cache


# The lock guards all that follows `front`. See Note [Two sets of lists].
cdef struct cache_t:
    uint64_t owners         # the allocator and every block that came through here; atomic
    uint64_t reserved       # bytes of all blocks that are owners; atomic
    uint64_t misses         # atomic
    PyObject* allocator     # borrowed; NULL once it is gone; with the GIL
    front_t front
    front_t* fronts         # all of them
    bint is_closed          # the allocator is gone: nothing is kept any more
    uint64_t cached         # bytes that are kept, without those in front
    uint64_t max_cached     # the bound in force; 0 once the allocator is gone
    uint64_t whole_bound    # to be shared by all processes that keep blocks; 0 if the bound is for this cache alone
    uint32_t max_idle_ticks
    uint64_t last_requests  # hits and misses at the last tick
    cache_t* next_cache     # of all allocators that live
    size_t hits
    uint64_t reused
    kept_block_t* first     # the longest unused, of those that are not small
    kept_block_t* last
    size_class_t classes[CLASS_COUNT]


cdef class CachingAllocator(Allocator):
    cdef readonly Allocator upstream
    cdef bint is_over_cpu  # whether upstream makes plain CPU blocks, which are taken unreported
    cdef cache_t* cache


cdef data_ptr_operations_t caching_operations
cdef int CachingAllocator_allocate(CachingAllocator self, size_t nbytes, bint zeroed, data_ptr_t* out) except -1
cdef kept_block_t* cache_take(cache_t* cache, size_t nbytes, bint has_gil) noexcept nogil
cdef void kept_block_keep(kept_block_t* kept, bint has_gil) noexcept nogil


# ---- what `memory/numpy_memory.pyx` has inlined. See Note [Small arrays]


cdef inline kept_block_t* cache_take_in_front(cache_t* cache, size_t number) noexcept nogil:
    """Take out the newest block of a class that is kept in front; NULL if there is none."""
    cdef front_t* front = front_of(cache)
    cdef kept_block_t* kept = NULL if front == NULL else unlink_in_front(front, number)
    if kept != NULL:
        TX_ASSERT(is_intact(kept), "the header of a CPU block to be intact", <uint64_t>kept.block.data)
        tx_store_relaxed(&front.hits, front.hits + 1)
        tx_store_relaxed(&front.reused, front.reused + kept.capacity)
    return kept


cdef inline front_t* front_of(cache_t* cache) noexcept nogil:
    """Return the front of a cache, without the GIL that of this thread; NULL if it has none. With the GIL."""
    return &cache.front if GIL_EXISTS else front_of_thread(cache)


cdef front_t* front_of_thread(cache_t* cache) noexcept nogil


cdef inline kept_block_t* unlink_in_front(front_t* front, size_t number) noexcept nogil:
    cdef size_class_t* its_class = &front.classes[number]
    cdef kept_block_t* kept = its_class.newest
    if kept != NULL:
        TX_ASSERT(front.nbytes >= kept.capacity, "at least one block to be kept", front.nbytes)
        its_class.newest = kept.older
        its_class.wanted += 1
        tx_store_relaxed(&front.nbytes, front.nbytes - kept.capacity)
    return kept


cdef inline bint cache_keep_in_front(cache_t* cache, kept_block_t* kept) noexcept nogil:
    """Keep a block in front, if there is a place for it and nothing else has to go for it; with the GIL."""
    cdef front_t* front
    cdef size_class_t* its_class
    cdef uint64_t nbytes
    if kept.its_class >= GIL_CLASS_COUNT:
        return False
    front = front_of(cache)
    if front == NULL:
        return False
    its_class = &front.classes[kept.its_class]
    nbytes = front.nbytes + kept.capacity
    if its_class.wanted == 0 or nbytes + tx_load_relaxed(&cache.cached) > tx_load_relaxed(&cache.max_cached):
        return False
    kept.older = its_class.newest
    its_class.newest = kept
    its_class.wanted -= 1
    tx_store_relaxed(&front.nbytes, nbytes)
    return True


cdef inline void kept_block_give_out(kept_block_t* kept, size_t nbytes) noexcept:
    """Count a block as in use for so many bytes; with the GIL."""
    kept.nbytes = nbytes
    if kept.reports:
        kept.stamp = report_allocation(kept.block.data, nbytes, CPU, kept.cache.allocator)


cdef inline void kept_block_point(kept_block_t* kept, data_ptr_t* out) noexcept nogil:
    """Fill in what owns a block that is given out."""
    data_ptr_init(out, kept.block.data, kept, &caching_operations)
    out.device_type, out.device_index = kept.block.device_type, kept.block.device_index


cdef inline void kept_block_free(kept_block_t* kept, bint has_gil) noexcept nogil:
    TX_ASSERT(is_intact(kept), "the header of a CPU block to be intact", <uint64_t>kept.block.data)
    if has_gil:
        TX_ASSERT_GIL()
    if kept.reports:
        report_free(kept.block.data, kept.nbytes, CPU, kept.stamp, has_gil)
    if not has_gil or not cache_keep_in_front(kept.cache, kept):
        kept_block_keep(kept, has_gil)


cdef inline bint is_intact(kept_block_t* kept) noexcept nogil:
    """Return whether nothing has written in front of a block, as far as this allocator can tell."""
    return not kept.reports or is_sealed(kept.block.data)
