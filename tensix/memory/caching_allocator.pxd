"""The default allocator: blocks are kept when they are freed, and given out again. Fields are private to tensix."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t
from tensix.core.allocator cimport Allocator
from tensix.core.assertions cimport TX_ASSERT, TX_ASSERT_GIL
from tensix.core.atomics cimport tx_load_relaxed, tx_store_relaxed
from tensix.core.cpu_allocator cimport is_sealed
from tensix.core.data_ptr cimport data_ptr_init, data_ptr_operations_t, data_ptr_t
from tensix.core.memory_reports cimport report_allocation, report_free
from tensix.core.tally cimport tally_current, tally_remove, tally_t

cdef extern from "tensix/bits.h" nogil:
    int tx_highest_bit(uint64_t word)

# See Note [Size classes].
cdef enum:
    STEP_BYTES = 64              # from class to class, up to the eighth
    LAST_STEP = 512
    LAST_STEP_BIT = 9
    CLASS_COUNT = 440            # eight, and eight per doubling up to 63 bits
    MIN_LARGE_BYTES = 1048576    # of these any number is kept
    MAX_CLASS_BYTES = 262144     # of smaller ones so many bytes per class, or
    MIN_CLASS_BLOCKS = 8         # so many blocks

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
    uint64_t cached
    uint64_t max_cached
    size_t hits
    size_t misses
    uint64_t missed_bytes
    kept_block_t* first     # the longest unused
    kept_block_t* last
    uint64_t returned       # address of the block on top of the stack. See Note [The GIL is the lock of the cache]
    uint64_t returned_bytes
    size_class_t classes[CLASS_COUNT]


cdef class CachingAllocator(Allocator):
    cdef readonly Allocator upstream
    cdef bint is_over_cpu  # whether upstream makes plain CPU blocks, which are taken unreported
    cdef cache_t* cache


cdef data_ptr_operations_t caching_operations
cdef int CachingAllocator_allocate(CachingAllocator self, size_t nbytes, bint zeroed, data_ptr_t* out) except -1
cdef void push_returned(cache_t* cache, kept_block_t* kept) noexcept nogil
cdef void collect_returned(cache_t* cache) noexcept nogil
cdef size_t evict(cache_t* cache, size_t bound) noexcept nogil
cdef void give_back(kept_block_t* kept) noexcept nogil


# ---- what `memory/numpy_memory.pyx` has inlined: half of what a small array would cost more than NumPy's own


cdef inline kept_block_t* cache_take(cache_t* cache, size_t nbytes) noexcept:
    """Take out the newest block that is kept for a size of 1 to 2**62 bytes; NULL if there is none."""
    cdef kept_block_t* kept
    if tx_load_relaxed(&cache.returned) != 0:
        collect_returned(cache)
    kept = cache.classes[class_of(nbytes)].newest
    if kept != NULL:
        TX_ASSERT(is_intact(kept), "the header of a CPU block to be intact", <uint64_t>kept.block.data)
        unlink(cache, kept)
        cache.hits += 1
    return kept


cdef inline void kept_block_give_out(kept_block_t* kept, size_t nbytes) noexcept:
    """Count a block as in use for so many bytes."""
    cdef cache_t* cache = kept.cache
    cache.in_use.came += kept.capacity
    kept.nbytes = nbytes
    if kept.reports:
        kept.stamp = report_allocation(kept.block.data, nbytes, kept.block.device_type, cache.allocator)


cdef inline void kept_block_point(kept_block_t* kept, data_ptr_t* out) noexcept nogil:
    """Fill in what owns a block that is given out."""
    data_ptr_init(out, kept.block.data, kept, &caching_operations)
    out.device_type, out.device_index = kept.block.device_type, kept.block.device_index


cdef inline void kept_block_free(kept_block_t* kept, bint has_gil) noexcept nogil:
    cdef cache_t* cache = kept.cache
    TX_ASSERT(is_intact(kept), "the header of a CPU block to be intact", <uint64_t>kept.block.data)
    TX_ASSERT(tally_current(&cache.in_use) >= kept.capacity, "a block that is in use", kept.capacity)
    if has_gil:
        TX_ASSERT_GIL()
    if kept.reports:
        report_free(kept.block.data, kept.nbytes, kept.block.device_type, kept.stamp, has_gil)
    tally_remove(&cache.in_use, kept.capacity, has_gil)
    if not has_gil:
        push_returned(cache, kept)
    elif is_worth_keeping(cache, kept):
        link(cache, kept)
        if cache.cached > cache.max_cached:
            evict(cache, cache.max_cached)
    else:
        give_back(kept)


cdef inline bint is_intact(kept_block_t* kept) noexcept nogil:
    """Return whether nothing has written in front of a block, as far as this allocator can tell."""
    return not kept.reports or is_sealed(kept.block.data)


cdef inline bint is_worth_keeping(cache_t* cache, kept_block_t* kept) noexcept nogil:
    """Whether there is space for a block, if need be in place of others; with the GIL."""
    if tx_load_relaxed(&cache.is_closed) or kept.capacity > cache.max_cached:
        return False
    cdef size_t count = kept.its_class.count
    return count < MIN_CLASS_BLOCKS or kept.capacity >= MIN_LARGE_BYTES or count * kept.capacity < MAX_CLASS_BYTES


cdef inline void link(cache_t* cache, kept_block_t* kept) noexcept nogil:
    """Enter a block as the newest of its class and of all."""
    cdef size_class_t* its_class = kept.its_class
    kept.newer, kept.older = NULL, its_class.newest
    if kept.older != NULL:
        kept.older.newer = kept
    its_class.newest = kept
    its_class.count += 1
    kept.next, kept.previous = NULL, cache.last
    if cache.last != NULL:
        cache.last.next = kept
    else:
        cache.first = kept
    cache.last = kept
    tx_store_relaxed(&cache.cached, cache.cached + kept.capacity)  # a free without the GIL reads it


cdef inline void unlink(cache_t* cache, kept_block_t* kept) noexcept nogil:
    """Take a block out of both lists."""
    cdef size_class_t* its_class = kept.its_class
    TX_ASSERT(its_class.count > 0, "a size class with blocks", its_class.count)
    TX_ASSERT(cache.cached >= kept.capacity, "at least one block to be kept", cache.cached)
    if kept.newer != NULL:
        kept.newer.older = kept.older
    else:
        its_class.newest = kept.older
    if kept.older != NULL:
        kept.older.newer = kept.newer
    its_class.count -= 1
    if kept.previous != NULL:
        kept.previous.next = kept.next
    else:
        cache.first = kept.next
    if kept.next != NULL:
        kept.next.previous = kept.previous
    else:
        cache.last = kept.previous
    tx_store_relaxed(&cache.cached, cache.cached - kept.capacity)


cdef inline int class_of(size_t nbytes) noexcept nogil:
    """Return the number of a size's class; a capacity is in the same class as the sizes that it serves."""
    if nbytes <= LAST_STEP:
        return <int>((nbytes - 1) // STEP_BYTES)
    cdef int bit = tx_highest_bit(nbytes - 1)
    TX_ASSERT(bit < 62, "a size of at most 2**62 bytes, so that it has a class", nbytes)
    return 8 * (bit - LAST_STEP_BIT + 1) + <int>((nbytes - 1) >> (bit - 3) & 7)
