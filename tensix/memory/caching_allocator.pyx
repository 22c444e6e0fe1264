"""The default allocator: blocks are kept when they are freed, and given out again.

A large block that comes from the system has no pages yet: every page costs a fault at its first touch, 16,384 of them
for 64 MiB, and more time than most arithmetic on it. A block that was used before has its pages. A small block saves
the way through the C library, which is half of what a small tensor costs once it is larger than 1 KiB.

What is new comes in huge pages where the system has them: one fault, and one entry of the processor's table of pages,
for 2 MiB or more, without which reading 64 MiB takes a third longer.

Note [Size classes]
~~~~~~~~~~~~~~~~~~~
A kept block is given out only for sizes of its own class, so that one is found by taking the newest of a list. Classes
are 64 bytes apart up to 512, then there are eight per doubling: a block is at most an eighth larger than what was asked
for, and what is never touched has no pages. Of each class below 1 MiB only a few blocks are kept; a program that has
freed a million of them at once does not need them all again.

Note [The GIL is the lock of the cache]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A lock is two locked instructions, and as many more when it is let go; a cache per thread needs no lock, but another
thread cannot trim it, and what it keeps is lost to the others. Allocations happen with the GIL, and so do nearly all
frees, so the lists belong to the thread that holds it: one set of size classes serves all threads, nothing has to be
brought home when a thread ends, and a fork finds the lists whole. A free without the GIL pushes its block on a stack
that is exchanged in one atomic instruction; the next thread that comes with the GIL enters those blocks in the lists.

If the allocator dies meanwhile, either it still finds the block on the stack, or the thread finds the allocator closed.
Each side writes one word and reads the other's, and with a plain read both could miss: a processor, x86 too, may
read before others see what it wrote. So the dying allocator exchanges the stack even if it seems to be empty. All
that changes the stack's word reads and writes it at once, so there is an order of these changes. If the push comes
first, the exchange returns the block. If it comes later, it reads what the exchange wrote, or what other pushes made of
that: as the exchange releases and the push acquires, what was written before the one is seen after the other, and that
the allocator is closed is among it. Acquire and release are enough for that, on ARM as on x86.
What a push loads relaxed is the top, which it compares before the block is there to be seen, and sums of bytes, which
may be late. ``tests/models/returned_blocks.pml`` is a model of this, in which loads may be as stale as ARM permits.

A block goes back upstream only when the lists are whole, for that may run anything. A free-threaded Python turns the
GIL on when it imports this package.
"""
import os
from typing import NamedTuple

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free
from tensix.core.allocator cimport (
    Allocator,
    Allocator_allocate,
    Allocator_copy_data,
    Allocator_is_simple,
    nbytes_from_any,
)
from tensix.core.assertions cimport TX_ASSERT
from tensix.core.atomics cimport (
    tx_add_fetch_relaxed,
    tx_compare_exchange_acq_rel,
    tx_exchange_acq_rel,
    tx_fetch_sub_acq_rel,
    tx_load_relaxed,
    tx_store_relaxed,
)
from tensix.core.cpu_allocator cimport CPUAllocator, CPUAllocator_reserve, CPUBlock_set_keeper, CPUBlock_zero
from tensix.core.data_ptr cimport (
    DataPtr,
    DataPtr_wrap,
    data_ptr_destroy,
    data_ptr_facts,
    data_ptr_operations,
    data_ptr_operations_t,
    data_ptr_t,
)
from tensix.core.public_module cimport set_module
from tensix.core.python_reference cimport holds_gil
from tensix.core.tally cimport tally_current

from tensix.core.allocator import OutOfMemoryError
from tensix.core.format_size import parse_size

__all__ = ["CachingAllocator", "CachingStats"]

cdef extern from "tensix/pages.h" nogil:
    size_t tx_resident_bytes(void* address, size_t nbytes)
    void tx_trim_heap()

cdef enum:
    MALLOC_ALIGNMENT_BYTES = 16

DEFAULT_SHARE = 4  # a quarter of the machine's memory at most is kept


@cython.binding(True)
class CachingStats(NamedTuple):
    """Say what a `CachingAllocator` holds, and how often it could reuse a block.

    Attributes
    ----------
    in_use : int
        Bytes given out, in blocks that are up to an eighth larger than what was asked for.
    cached : int
        Bytes kept for reuse.
    max_cached : int
        The most bytes to keep.
    hits, misses : int
        Requests served from what was kept, and those that went upstream.
    resident : int
        Bytes of what is kept that have pages in main memory, as the system says; the others take up addresses only.
    reused : int
        Bytes of all the blocks that were given out again, over time.
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    in_use: int
    cached: int
    max_cached: int
    hits: int
    misses: int
    resident: int
    reused: int

    @property
    def reserved(self):
        """What was taken from upstream and not given back, in bytes: in use and cached."""
        return self.in_use + self.cached

    @property
    def hit_rate(self):
        """The share of requests that were served from what was kept, from 0.0 to 1.0."""
        return self.hits / max(self.hits + self.misses, 1)


cdef class CachingAllocator(Allocator):
    """CachingAllocator(upstream=None, max_cached=None)\n--\n
    Keep blocks when they are freed and give them out again, pages and all.

    Parameters
    ----------
    upstream : Allocator, optional
        Where blocks come from; a `CPUAllocator` with huge pages if not given.
    max_cached : int or str, optional
        The most bytes to keep, such as ``"1GiB"``; the block that was unused for longest goes first. If not given, the
        environment variable ``TENSIX_MAX_CACHED``, or a quarter of the memory that this process may use.

    Notes
    -----
    Of blocks below 1 MiB a few of each size are kept. If upstream has no memory, what is kept is given back and
    upstream is asked once more.

    Lifetime: blocks may outlive the allocator; they then go back upstream when they are freed.

    Thread-safety: any number of threads may allocate and free at once; they share what is kept. After a fork the child
    has its own copy.

    Examples
    --------
    >>> from tensix.core import Storage
    >>> from tensix.memory import CachingAllocator
    >>> caching = CachingAllocator()
    >>> address = Storage(64 << 20, caching).data_ptr()
    >>> Storage(64 << 20, caching).data_ptr() == address
    True
    >>> caching.stats().hits, caching.trim() >= 64 << 20
    (1, True)
    """

    def __cinit__(self):
        self.cache = <cache_t*>calloc(1, sizeof(cache_t))
        if self.cache == NULL:
            raise MemoryError("no memory for the lists of a CachingAllocator.")
        self.cache.owners, self.cache.allocator = 1, <PyObject*>self
        self.upstream = CPUAllocator(huge_pages=True)
        self.is_over_cpu = True

    def __init__(self, Allocator upstream=None, max_cached=None):
        if isinstance(upstream, CPUAllocator) and (upstream.zero_fill or upstream.junk_fill):
            raise ValueError(f"{upstream!r} cannot fill blocks that are reused. Take one that does not fill.")
        if upstream is not None:
            refuse_circle(self, upstream)
            self.upstream = upstream
            self.is_over_cpu = isinstance(upstream, CPUAllocator) and type(upstream).allocate is CPUAllocator.allocate
        self.max_cached = default_max_cached() if max_cached is None else max_cached

    def __dealloc__(self):
        cdef cache_t* cache = self.cache
        if cache != NULL:
            cache.allocator = NULL
            tx_store_relaxed(&cache.is_closed, True)
            collect_returned(cache)
            evict(cache, 0)
            disown(cache)

    @property
    def max_cached(self):
        """The most bytes to keep; may be set, and what is too much goes at once."""
        return self.cache.max_cached

    @max_cached.setter
    def max_cached(self, value):
        tx_store_relaxed(&self.cache.max_cached, min(parse_size(value), <uint64_t>1 << 62))
        collect_returned(self.cache)
        evict(self.cache, self.cache.max_cached)

    @property
    def alignment(self):
        """Every block's address is a multiple of so many bytes, as far as upstream says."""
        return getattr(self.upstream, "alignment", MALLOC_ALIGNMENT_BYTES)

    def allocate(self, nbytes):
        """Return a `DataPtr` to at least `nbytes` bytes, null for 0.

        Raises
        ------
        OutOfMemoryError
            If upstream has no memory, even after everything kept went back to it.
        """
        cdef data_ptr_t block
        CachingAllocator_allocate(self, nbytes_from_any(nbytes), False, &block)
        return DataPtr_wrap(&block)

    def is_simple_data_ptr(self, DataPtr data_ptr not None):
        """Return whether the block can be wrapped in another context: kept or not, upstream's answer counts."""
        return CachingAllocator_is_simple(self, data_ptr.seen)

    def trim(self):
        """Give back everything that is kept, large and small, and return how many bytes that were."""
        collect_returned(self.cache)
        freed = evict(self.cache, 0)
        tx_trim_heap()
        return freed

    def stats(self):
        """Return a `CachingStats`: bytes in use, cached, resident and reused, hits and misses."""
        cdef cache_t* cache = self.cache
        cdef size_t resident = 0
        cdef kept_block_t* kept
        collect_returned(cache)
        kept = cache.first
        while kept != NULL:
            resident += tx_resident_bytes(kept.block.data, kept.capacity)
            kept = kept.next
        return CachingStats(
            tally_current(&cache.in_use), cache.cached, cache.max_cached, cache.hits, cache.misses, resident,
            cache.in_use.came - cache.missed_bytes,
        )

    def __repr__(self):
        return f"{type(self).__name__}({self.upstream!r})"

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        return CachingAllocator_allocate(self, nbytes, False, out)

    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1:
        return CachingAllocator_is_simple(self, pointer)

    cdef int c_copy_data(self, void* dst, const void* src, size_t nbytes) except -1:
        return Allocator_copy_data(self.upstream, dst, src, nbytes)


cdef int CachingAllocator_allocate(CachingAllocator self, size_t nbytes, bint zeroed, data_ptr_t* out) except -1:
    """Give out a block; of zeros, if asked for, over plain CPU memory."""
    cdef cache_t* cache = self.cache
    cdef kept_block_t* kept
    if nbytes == 0 or nbytes >> 62:
        return Allocator_allocate(self.upstream, nbytes, out)
    kept = cache_take(cache, nbytes)
    if kept == NULL:
        try:
            kept = take_from_upstream(self, capacity_of(nbytes), zeroed)
        except OutOfMemoryError as error:
            if error.nbytes == capacity_of(nbytes):  # the caller asked for less
                error.nbytes, error.args = nbytes, (nbytes, *error.args[1:])
            raise
        cache.misses += 1
        cache.missed_bytes += kept.capacity
    elif zeroed:
        CPUBlock_zero(kept.block.data, nbytes)
    kept_block_point(kept, out)
    kept_block_give_out(kept, nbytes)
    return 0


cdef bint CachingAllocator_is_simple(CachingAllocator self, const data_ptr_t* pointer) except -1:
    cdef kept_block_t* kept
    if data_ptr_operations(pointer) != &caching_operations:
        return Allocator_is_simple(self.upstream, pointer)
    kept = <kept_block_t*>pointer.ctx
    return Allocator_is_simple(self.upstream, &kept.block)


def refuse_circle(above, upstream):
    """Check that an allocator will not ask itself for memory, for ever."""
    one = upstream
    while isinstance(one, Allocator):
        if one is above:
            raise ValueError(f"{type(above).__name__}() cannot lie above itself: its upstream leads to it.")
        one = getattr(one, "upstream", None)


cdef kept_block_t* take_from_upstream(CachingAllocator self, size_t capacity, bint zeroed) except NULL:
    """Return a new block; what is kept goes if there is no memory without that."""
    cdef cache_t* cache = self.cache
    cdef kept_block_t* kept = <kept_block_t*>calloc(1, sizeof(kept_block_t))
    if kept == NULL:
        raise MemoryError("no memory to keep track of a block.")
    kept.reports = self.is_over_cpu
    try:
        try:
            reserve(self.upstream, capacity, zeroed, kept)
        except (MemoryError, OSError):  # of files and shared memory, descriptors may be what is scarce
            collect_returned(cache)
            if evict(cache, 0) == 0:
                raise
            reserve(self.upstream, capacity, zeroed, kept)
    except BaseException:
        free(kept)
        raise
    kept.capacity = capacity
    kept.cache, kept.its_class = cache, &cache.classes[class_of(capacity)]
    if kept.reports:
        CPUBlock_set_keeper(kept.block.data, kept)
    tx_add_fetch_relaxed(&cache.owners, 1)
    return kept


cdef int reserve(Allocator upstream, size_t capacity, bint zeroed, kept_block_t* kept) except -1:
    if kept.reports:
        return CPUAllocator_reserve(upstream, capacity, zeroed, &kept.block)
    return Allocator_allocate(upstream, capacity, &kept.block)


cdef void take_back(void* ctx) noexcept nogil:
    """Keep a block that is freed, or let it go upstream; the deleter of all blocks."""
    kept_block_free(<kept_block_t*>ctx, holds_gil())


cdef void take_back_with_gil(void* ctx) noexcept nogil:
    kept_block_free(<kept_block_t*>ctx, True)


cdef void push_returned(cache_t* cache, kept_block_t* kept) noexcept nogil:
    """Put a block on the stack. See Note [The GIL is the lock of the cache]."""
    cdef uint64_t top = tx_load_relaxed(&cache.returned)
    cdef uint64_t others = tx_load_relaxed(&cache.cached)
    tx_add_fetch_relaxed(&cache.owners, 1)  # this thread reads the cache once more when the block may be gone
    if tx_add_fetch_relaxed(&cache.returned_bytes, kept.capacity) + others > tx_load_relaxed(&cache.max_cached):
        tx_fetch_sub_acq_rel(&cache.returned_bytes, kept.capacity)
        give_back(kept)
    else:
        kept.newer = <kept_block_t*>top
        while not tx_compare_exchange_acq_rel(&cache.returned, &top, <uint64_t>kept):
            kept.newer = <kept_block_t*>top
        if tx_load_relaxed(&cache.is_closed):
            collect_returned(cache)
    disown(cache)


cdef void collect_returned(cache_t* cache) noexcept nogil:
    """Enter the blocks of the stack in the lists, or let them go; with the GIL, or if the allocator is gone."""
    cdef kept_block_t* below = <kept_block_t*>tx_exchange_acq_rel(&cache.returned, 0)  # also if it seems to be empty
    cdef kept_block_t* kept
    while below != NULL:
        kept, below = below, below.newer
        tx_fetch_sub_acq_rel(&cache.returned_bytes, kept.capacity)
        if is_worth_keeping(cache, kept):
            link(cache, kept)
        else:
            give_back(kept)
    if not tx_load_relaxed(&cache.is_closed) and cache.cached > cache.max_cached:
        evict(cache, cache.max_cached)


cdef size_t evict(cache_t* cache, size_t bound) noexcept nogil:
    """Give back what was unused for longest until no more than `bound` bytes are kept; return how many went."""
    cdef size_t evicted = 0
    cdef kept_block_t* kept
    cdef kept_block_t* doomed = NULL
    cdef kept_block_t** end = &doomed
    while cache.cached > bound:  # all taken out first: who takes one back may free others meanwhile
        kept = cache.first
        unlink(cache, kept)
        evicted += kept.capacity
        end[0], kept.next = kept, NULL
        end = &kept.next
    while doomed != NULL:
        kept, doomed = doomed, doomed.next
        give_back(kept)
    return evicted


cdef void give_back(kept_block_t* kept) noexcept nogil:
    """Return a block upstream."""
    cdef cache_t* cache = kept.cache
    data_ptr_destroy(&kept.block)
    free(kept)
    disown(cache)


cdef void disown(cache_t* cache) noexcept nogil:
    """Drop one owner of the lists; the last one frees them."""
    TX_ASSERT(tx_load_relaxed(&cache.owners) > 0, "a cache with owners", cache.owners)
    if tx_fetch_sub_acq_rel(&cache.owners, 1) == 1:
        free(cache)


cdef size_t capacity_of(size_t nbytes) noexcept nogil:
    """Return the size of blocks of a size's class. See Note [Size classes]."""
    cdef size_t step = STEP_BYTES
    if nbytes > LAST_STEP:
        step = <size_t>1 << (tx_highest_bit(nbytes - 1) - 3)
    return (nbytes + step - 1) & ~(step - 1)


cdef dict kept_block_facts(void* ctx):
    cdef kept_block_t* kept = <kept_block_t*>ctx
    return {"nbytes": kept.nbytes, "capacity": kept.capacity, "block": data_ptr_facts(&kept.block)}


caching_operations = data_ptr_operations_t(
    take_back, take_back_with_gil, b"take_back", b"block of a CachingAllocator", kept_block_facts)


def default_max_cached():
    """Return ``TENSIX_MAX_CACHED``, or a share of the memory that this process may use, in bytes."""
    wanted = os.environ.get("TENSIX_MAX_CACHED")
    if wanted is not None:
        try:
            return parse_size(wanted)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the environment variable TENSIX_MAX_CACHED is {wanted!r}: {error}") from None
    return memory_bytes() // DEFAULT_SHARE


def memory_bytes():
    """Return the machine's memory, or this process's share of it if a control group sets one."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 1 << 33
    try:
        with open("/sys/fs/cgroup/memory.max") as limit:
            return min(machine, int(limit.read()))
    except (OSError, ValueError):  # no such group, or "max"
        return machine


set_module("tensix", (CachingAllocator,))  # See Note [Modules of classes]
