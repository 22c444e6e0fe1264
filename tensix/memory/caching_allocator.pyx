"""The default allocator: large blocks are kept when they are freed, and given out again.

A large block that comes from the system has no pages yet: every page costs a fault at its first touch, 16,384 of them
for 64 MiB, and more time than most arithmetic on it. A block that was used before has its pages. Small blocks go
straight through: the C library keeps those itself, in size classes per thread.

What is new comes in huge pages where the system has them: 2 MiB to a fault, and to an entry of the processor's table of
pages, without which reading 64 MiB takes a third longer.

Note [Size classes]
~~~~~~~~~~~~~~~~~~~
A kept block is given out only for sizes of its own class, so that finding one is a look into a list. There are eight
classes per doubling: a block is at most an eighth larger than what was asked for, and what nobody touches has no pages.

Note [Locking of the cache]
~~~~~~~~~~~~~~~~~~~~~~~~~~~
Blocks come back from any thread, with or without the GIL, so the lists have a lock of their own. It is held for a few
instructions and never while a block goes back upstream, which may need the GIL. A fork takes it first, so that a child
finds the lists whole.
"""
import os
import weakref
from typing import NamedTuple

from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_release_lock,
    PyThread_type_lock,
    WAIT_LOCK,
)
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from tensix.core.allocator cimport Allocator, nbytes_from_any
from tensix.core.cpu_allocator cimport (
    CPUAllocator,
    CPUAllocator_allocate,
    CPUAllocator_count,
    CPUAllocator_reserve,
)
from tensix.core.data_ptr cimport DataPtr_wrap, data_ptr_destroy, data_ptr_init, data_ptr_t
from tensix.core.memory_facts cimport data_ptr_facts, name_deleter

from tensix.core.format_size import parse_size

__all__ = ["CachingAllocator", "CachingStats"]

cdef extern from "tensix/bits.h" nogil:
    int tx_highest_bit(uint64_t word)

cdef extern from "pythread.h" nogil:
    void PyThread_free_lock(PyThread_type_lock lock)  # needs no GIL, whatever Cython's own declaration says

cdef enum:
    MIN_CACHED_BYTES = 1048576   # smaller blocks stay in the C library's heap with their pages when they are freed
    FIRST_BIT = 20               # of MIN_CACHED_BYTES
    CLASS_COUNT = 352            # eight per doubling up to 63 bits

DEFAULT_SHARE = 4  # a quarter of the machine's memory at most is kept


class CachingStats(NamedTuple):
    """Say what a `CachingAllocator` holds, and how often it could reuse a block.

    Attributes
    ----------
    in_use : int
        Bytes given out, of blocks large enough to be kept.
    cached : int
        Bytes kept for reuse.
    max_cached : int
        The most bytes to keep.
    hits, misses : int
        Large requests served from what was kept, and those that went upstream.
    """

    in_use: int
    cached: int
    max_cached: int
    hits: int
    misses: int

    @property
    def reserved(self):
        """What was taken from upstream and not given back, in bytes: in use and cached."""
        return self.in_use + self.cached

    @property
    def hit_rate(self):
        """The share of large requests that were served from what was kept, from 0.0 to 1.0."""
        return self.hits / max(self.hits + self.misses, 1)


cdef struct kept_block_t:
    data_ptr_t block        # upstream's; owned
    size_t capacity         # bytes of it
    size_t nbytes           # bytes asked for, while it is given out
    bint counts             # whether giving it out is counted here, because upstream did not
    cache_t* cache
    kept_block_t* newer     # of its class, while it is kept
    kept_block_t* older
    kept_block_t* next      # in the order of being freed, over all classes
    kept_block_t* previous


cdef struct cache_t:
    PyThread_type_lock lock
    size_t owners           # the allocator and every block that came through here
    bint is_closed          # the allocator is gone: nothing is kept any more
    size_t in_use
    size_t cached
    size_t max_cached
    size_t hits
    size_t misses
    kept_block_t* newest[352]
    kept_block_t* first     # the longest unused
    kept_block_t* last


cdef class CachingAllocator(Allocator):
    """Keep large blocks when they are freed and give them out again, pages and all.

    Parameters
    ----------
    upstream : Allocator, optional
        Where blocks come from; a `CPUAllocator` with huge pages if not given.
    max_cached : int or str, optional
        The most bytes to keep, such as ``"1GiB"``; the block that was unused for longest goes first. If not given, the
        environment variable ``TENSIX_MAX_CACHED``, or a quarter of the memory that this process may use.

    Notes
    -----
    Blocks of 1 MiB and more are kept; smaller ones go straight through. If upstream has no memory, what is kept is
    given back and upstream is asked once more.

    Lifetime: blocks may outlive the allocator; they then go back upstream when they are freed.

    Thread-safety: any number of threads may allocate and free at once. After a fork the child has its own copy.

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

    cdef readonly Allocator upstream
    cdef bint is_over_cpu  # whether upstream is just a CPUAllocator, which is asked without a detour
    cdef cache_t* cache

    def __cinit__(self):
        self.cache = <cache_t*>calloc(1, sizeof(cache_t))
        if self.cache == NULL:
            raise MemoryError("no memory for the lists of a CachingAllocator.")
        self.cache.owners = 1
        self.cache.lock = PyThread_allocate_lock()
        if self.cache.lock == NULL:
            raise MemoryError("no memory for the lock of a CachingAllocator.")
        self.upstream = CPUAllocator(huge_pages=True)
        self.is_over_cpu = True

    def __init__(self, Allocator upstream=None, max_cached=None):
        if isinstance(upstream, CPUAllocator) and (upstream.zero_fill or upstream.junk_fill):
            raise ValueError(f"{upstream!r} cannot fill blocks that are reused. Take one that does not fill.")
        if upstream is not None:
            self.upstream = upstream
            self.is_over_cpu = type(upstream) is CPUAllocator
        self.max_cached = default_max_cached() if max_cached is None else max_cached
        LIVING.add(self)

    def __dealloc__(self):
        if self.cache != NULL and self.cache.lock != NULL:
            PyThread_acquire_lock(self.cache.lock, WAIT_LOCK)
            self.cache.is_closed = True
            PyThread_release_lock(self.cache.lock)
            evict(self.cache, 0)
            disown(self.cache)
        else:
            free(self.cache)

    @property
    def max_cached(self):
        """The most bytes to keep; may be set, and what is too much goes at once."""
        return self.cache.max_cached

    @max_cached.setter
    def max_cached(self, value):
        self.cache.max_cached = min(parse_size(value), <size_t>1 << 62)
        evict(self.cache, self.cache.max_cached)

    def allocate(self, nbytes):
        """Return a `DataPtr` to at least `nbytes` bytes, null for 0.

        Raises
        ------
        OutOfMemoryError
            If upstream has no memory, even after everything kept went back to it.
        """
        cdef data_ptr_t block
        CachingAllocator_allocate(self, nbytes_from_any(nbytes), &block)
        return DataPtr_wrap(&block)

    def is_simple_data_ptr(self, data_ptr not None):
        """Return whether the block can be wrapped in another context: kept or not, upstream's answer counts."""
        return data_ptr.get_deleter() == <uintptr_t>take_back or self.upstream.is_simple_data_ptr(data_ptr)

    def trim(self):
        """Give back everything that is kept and return how many bytes that were."""
        return evict(self.cache, 0)

    def stats(self):
        """Return a `CachingStats`: bytes in use and cached, hits and misses."""
        cdef cache_t* cache = self.cache
        PyThread_acquire_lock(cache.lock, WAIT_LOCK)
        stats = (cache.in_use, cache.cached, cache.max_cached, cache.hits, cache.misses)
        PyThread_release_lock(cache.lock)
        return CachingStats(*stats)

    def __repr__(self):
        return f"{type(self).__name__}({self.upstream!r})"

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        if type(self) is CachingAllocator or (<object>type(self)).allocate is (<object>CachingAllocator).allocate:
            return CachingAllocator_allocate(self, nbytes, out)
        return Allocator.c_allocate(self, nbytes, out)

    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1:
        return pointer.deleter == take_back or self.upstream.c_is_simple(pointer)

    cdef int c_copy_data(self, void* dst, const void* src, size_t nbytes) except -1:
        return self.upstream.c_copy_data(dst, src, nbytes)


cdef int CachingAllocator_allocate(CachingAllocator self, size_t nbytes, data_ptr_t* out) except -1:
    if nbytes < MIN_CACHED_BYTES or nbytes >> 62:
        if self.is_over_cpu:
            return CPUAllocator_allocate(self.upstream, nbytes, out)
        return self.upstream.c_allocate(nbytes, out)
    cdef kept_block_t* kept = take_kept(self.cache, nbytes)
    if kept == NULL:
        kept = take_from_upstream(self, capacity_of(nbytes))
    kept.nbytes = nbytes
    data_ptr_init(out, kept.block.data, kept, take_back)
    out.device_type, out.device_index = kept.block.device_type, kept.block.device_index
    if kept.counts:
        CPUAllocator_count(kept.block.data, <int64_t>nbytes)
    return 0


cdef kept_block_t* take_from_upstream(CachingAllocator self, size_t capacity) except NULL:
    """Return a new block, counted as in use; what is kept goes if there is no memory without that."""
    cdef cache_t* cache = self.cache
    cdef kept_block_t* kept = <kept_block_t*>calloc(1, sizeof(kept_block_t))
    if kept == NULL:
        raise MemoryError("no memory to keep track of a block.")
    try:
        try:
            reserve(self.upstream, capacity, kept)
        except MemoryError:
            if evict(cache, 0) == 0:
                raise
            reserve(self.upstream, capacity, kept)
    except BaseException:
        free(kept)
        raise
    kept.capacity = capacity
    kept.cache = cache
    PyThread_acquire_lock(cache.lock, WAIT_LOCK)
    cache.owners += 1
    cache.misses += 1
    cache.in_use += capacity
    PyThread_release_lock(cache.lock)
    return kept


cdef int reserve(Allocator upstream, size_t capacity, kept_block_t* kept) except -1:
    kept.counts = type(upstream) is CPUAllocator
    if kept.counts:
        return CPUAllocator_reserve(upstream, capacity, &kept.block)
    return upstream.c_allocate(capacity, &kept.block)


cdef void take_back(void* ctx) noexcept nogil:
    """Keep a block that is freed, or let it go upstream; the deleter of all blocks."""
    cdef kept_block_t* kept = <kept_block_t*>ctx
    cdef cache_t* cache = kept.cache
    if kept.counts:
        CPUAllocator_count(kept.block.data, -<int64_t>kept.nbytes)
    PyThread_acquire_lock(cache.lock, WAIT_LOCK)
    cache.in_use -= kept.capacity
    cdef bint keeps = not cache.is_closed and kept.capacity <= cache.max_cached
    if keeps:
        link(cache, kept)
    PyThread_release_lock(cache.lock)
    if keeps:
        evict(cache, cache.max_cached)
    else:
        give_back(kept)


cdef kept_block_t* take_kept(cache_t* cache, size_t nbytes) noexcept nogil:
    """Return the kept block of a size's class that was used last, NULL if there is none."""
    cdef kept_block_t* kept
    PyThread_acquire_lock(cache.lock, WAIT_LOCK)
    kept = cache.newest[class_of(nbytes)]
    if kept != NULL:
        unlink(cache, kept)
        cache.hits += 1
        cache.in_use += kept.capacity
    PyThread_release_lock(cache.lock)
    return kept


cdef size_t evict(cache_t* cache, size_t bound) noexcept nogil:
    """Give back what was unused for longest until no more than `bound` bytes are kept; return how many went."""
    cdef size_t evicted = 0
    cdef kept_block_t* kept
    while True:
        kept = NULL
        PyThread_acquire_lock(cache.lock, WAIT_LOCK)
        if cache.cached > bound:
            kept = cache.first
            unlink(cache, kept)
        PyThread_release_lock(cache.lock)
        if kept == NULL:
            return evicted
        evicted += kept.capacity
        give_back(kept)


cdef void give_back(kept_block_t* kept) noexcept nogil:
    """Return a block upstream. See Note [Locking of the cache]."""
    cdef cache_t* cache = kept.cache
    data_ptr_destroy(&kept.block)
    free(kept)
    disown(cache)


cdef void disown(cache_t* cache) noexcept nogil:
    """Drop one owner of the lists; the last one frees them."""
    PyThread_acquire_lock(cache.lock, WAIT_LOCK)
    cache.owners -= 1
    cdef bint is_last = cache.owners == 0
    PyThread_release_lock(cache.lock)
    if is_last:
        PyThread_free_lock(cache.lock)
        free(cache)


cdef void link(cache_t* cache, kept_block_t* kept) noexcept nogil:
    """Enter a block as the newest of its class and of all; the lock is held."""
    cdef kept_block_t** newest = &cache.newest[class_of(kept.capacity)]
    kept.newer, kept.older = NULL, newest[0]
    if newest[0] != NULL:
        newest[0].newer = kept
    newest[0] = kept
    kept.next, kept.previous = NULL, cache.last
    if cache.last != NULL:
        cache.last.next = kept
    else:
        cache.first = kept
    cache.last = kept
    cache.cached += kept.capacity


cdef void unlink(cache_t* cache, kept_block_t* kept) noexcept nogil:
    """Take a block out of both lists; the lock is held."""
    if kept.newer != NULL:
        kept.newer.older = kept.older
    else:
        cache.newest[class_of(kept.capacity)] = kept.older
    if kept.older != NULL:
        kept.older.newer = kept.newer
    if kept.previous != NULL:
        kept.previous.next = kept.next
    else:
        cache.first = kept.next
    if kept.next != NULL:
        kept.next.previous = kept.previous
    else:
        cache.last = kept.previous
    cache.cached -= kept.capacity


cdef size_t capacity_of(size_t nbytes) noexcept nogil:
    """Return the size of blocks of a size's class. See Note [Size classes]."""
    cdef size_t step = <size_t>1 << (tx_highest_bit(nbytes - 1) - 3)
    return (nbytes + step - 1) & ~(step - 1)


cdef int class_of(size_t nbytes) noexcept nogil:
    """Return the number of a size's class; a capacity is in the same class as the sizes that it serves."""
    cdef int bit = tx_highest_bit(nbytes - 1)
    return 8 * (bit - FIRST_BIT + 1) + <int>((nbytes - 1) >> (bit - 3) & 7)


cdef dict kept_block_facts(void* ctx):
    cdef kept_block_t* kept = <kept_block_t*>ctx
    return {"nbytes": kept.nbytes, "capacity": kept.capacity, "block": data_ptr_facts(&kept.block)}


name_deleter(take_back, "take_back", "block of a CachingAllocator", kept_block_facts)


def default_max_cached():
    """Return ``TENSIX_MAX_CACHED``, or a share of the memory that this process may use, in bytes."""
    wanted = os.environ.get("TENSIX_MAX_CACHED")
    if wanted is not None:
        return parse_size(wanted)
    return memory_bytes() // DEFAULT_SHARE


def memory_bytes():
    """Return the machine's memory, or this process's share of it if a control group sets one."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 1 << 33
    try:
        with open("/sys/fs/cgroup/memory.max") as limit:
            return min(machine, int(limit.read()))
    except (OSError, ValueError):  # no such group, or "max"
        return machine


LIVING = weakref.WeakSet()
cdef list HELD_BY_FORK = []


def lock_all():
    """Hold every cache's lock over a fork. See Note [Locking of the cache]."""
    HELD_BY_FORK[:] = list(LIVING)
    for caching in HELD_BY_FORK:
        PyThread_acquire_lock((<CachingAllocator>caching).cache.lock, WAIT_LOCK)


def unlock_all():
    """Let go of the locks, in the parent and in the child."""
    for caching in HELD_BY_FORK:
        PyThread_release_lock((<CachingAllocator>caching).cache.lock)
    HELD_BY_FORK.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lock_all, after_in_parent=unlock_all, after_in_child=unlock_all)
