"""The default allocator: blocks are kept when they are freed, and given out again.

A large block that comes from the system has no pages yet: every page costs a fault at its first touch, 16,384 of them
for 64 MiB, and more time than most arithmetic on it. A block that was used before has its pages. A small block saves
the way through the C library, which is half of what a small tensor costs once it is larger than 1 KiB.

What is new comes in huge pages where the system has them: one fault, and one entry of the processor's table of pages,
for 2 MiB or more, without which reading 64 MiB takes a third longer.

Note [Size classes]
~~~~~~~~~~~~~~~~~~~
A kept block is given out only for sizes of its own class, so that one is found by taking the newest of a list. Classes
are 64 bytes apart up to 1 KiB, then there are eight per doubling: a block is at most an eighth larger than what was
asked for, and what is never touched has no pages. Of each class below 1 MiB only a few blocks are kept; a program that
has freed a million of them at once does not need them all again.

When too much is kept, the block goes that was unused for longest. Small blocks, of up to 1 KiB, are in no such order:
keeping it would take as many instructions as all the rest that is done for them. They are 4 MiB at most, and go when
nothing else is left, with the one block of each larger class that is in no order either (Note [Two sets of lists]).

Note [Unused blocks]
~~~~~~~~~~~~~~~~~~~~
What is kept must not cost the machine, or the process, more memory than the program needs. Four rules see to that:

* A block goes back after about a second without use (`max_idle`), also if the program does nothing more. Only a thread
  can do that: ``ticker.h``. It starts when the first block is kept that is not small, counts ticks, by which blocks are
  stamped, and ends when nothing is left. Before a fork everything goes back and the thread ends: the child would hold
  pages that it has no use for, and CPython warns of forks in processes with threads. Any thread may start it.
* A block that comes from upstream replaces kept blocks, so that the process does not grow beyond the peak that it had
  without what is kept, but for `SLACK_BYTES`. Memory outside arrays, such as the buffers of BLAS, is measured when the
  block is large, and at every tick. What it grows by in between has a quarter of the space below the peak; if it needs
  more, the peak rises.
* Everything goes back when the machine, or a control group that the process is in, is short of memory, which every
  tick checks. Upstream allocators with a limit are short when they refuse.
* The default bound is divided by the number of the user's processes that keep blocks at the time.

Note [Two sets of lists]
~~~~~~~~~~~~~~~~~~~~~~~~
A lock is a locked instruction, which takes as long as all the rest that is done for a small block. Blocks nearly always
come and go with the GIL, which is a lock that is there already. So there is one set of lists for it, in front: of each
class of small blocks half of what is kept, and of the classes above, up to 64 KiB, one. These are in no order. The
other set has all other blocks and a lock, and serves any thread, also one that Python does not know. With the GIL
blocks come from there if there is none in front, and go there if there is no place.

In a build without the GIL each thread that is attached to the interpreter has lists in front for itself, of the cache
that it uses first. Others take from them while it is stopped: Note [Without the GIL] in ``core/free_threading.pxd``.
What is in front of a thread that ends goes back upstream. ``tests/models/fronts.pml`` is a model of this.

One lock guards the lists of all caches, the list of caches, and when the thread of Note [Unused blocks] begins and
ends. Nothing that may wait is done with it: a block goes back upstream when the lists are whole and the lock is open,
for that may run anything, and what the system says of memory is read before. A fork takes the lock first.

The GIL is released where it takes long: to let go of a megabyte or more, or to write zeros to as much.
"""
import atexit
import os
import weakref
from typing import NamedTuple

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from tensix.core.allocator cimport (
    MALLOC_ALIGNMENT_BYTES, NO_MEMORY, Allocator, Allocator_allocate, Allocator_copy_data, Allocator_is_simple,
    Allocator_try_allocate,
)
from tensix.core.assertions cimport TX_ASSERT
from tensix.core.atomics cimport tx_add_fetch_relaxed, tx_fetch_sub_acq_rel, tx_load_relaxed, tx_store_relaxed
from tensix.core.cpu_allocator cimport (
    CPUAllocator, CPUAllocator_reserve, CPUBlock_set_keeper, CPUBlock_zero, may_be_read_in_front, refuse_memory,
)
from tensix.core.data_ptr cimport (
    DataPtr, data_ptr_destroy, data_ptr_facts, data_ptr_operations, data_ptr_operations_t, data_ptr_t,
)
from tensix.core.device cimport CPU
from tensix.core.free_threading cimport GIL_EXISTS, tx_allow_taking, tx_while_stopped
from tensix.core.lock cimport take_at_forks, tx_let_others_run, tx_lock_release, tx_lock_t, tx_lock_take
from tensix.core.memory_reports cimport bytes_given_out, given_out, report_allocation_without_gil
from tensix.core.pages cimport tx_resident_bytes, tx_trim_heap
from tensix.core.python_reference cimport holds_gil, tx_begin_long_free, tx_end_long_free

from tensix.core.allocator import OutOfMemoryError
from tensix._support.format_size import parse_size

__all__ = ["CachingAllocator", "CachingStats"]

cdef extern from "tensix/bits.h" nogil:
    int tx_highest_bit(uint64_t word)

cdef extern from "tensix/memory/machine.h" nogil:
    ctypedef struct tx_memory_t:
        uint64_t limit
        uint64_t available
    tx_memory_t tx_machine_memory(const char* root)
    uint64_t tx_process_bytes()
    int tx_count_cachers(bint is_cacher)

cdef extern from "tensix/memory/ticker.h":
    void* tx_ticker  # with the lock
    void* tx_ticker_start(int (*tick)(void* ticker) noexcept) nogil
    void tx_ticker_end(void* ticker)
    void tx_wait_for_exit(long native_id) nogil
    enum:
        TX_TICK_MICROSECONDS

cdef extern from *:
    """
    #include "tensix/core/thread_local.h"
    static TX_THREAD_LOCAL void *tx_front = NULL;
    #if !defined(_WIN32)
    #include <pthread.h>
    static pthread_key_t tx_front_key;
    static int tx_make_front_key(void (*leave)(void *)) { return pthread_key_create(&tx_front_key, leave); }
    static int tx_at_thread_exit(void *front) { return pthread_setspecific(tx_front_key, front); }
    #else  /* no front: there is no such function */
    static int tx_make_front_key(void (*leave)(void *)) { (void)leave; return 0; }
    static int tx_at_thread_exit(void *front) { (void)front; return 1; }
    #endif
    """
    void* tx_front  # of this thread, if there is no GIL
    int tx_make_front_key(void (*leave)(void*) noexcept nogil)
    int tx_at_thread_exit(front_t* front) nogil

cdef enum:
    MAX_DEPTH = 100           # allocators above each other; each takes some 350 bytes of the stack
    SLACK_BYTES = 16777216    # see Note [Unused blocks]
    SPARE_SHARE = 16          # memory is short when less than a sixteenth of it, and what is kept, is available
    NEVER = 0xFFFFFFFF

DEFAULT_SHARE = 4  # a quarter of the machine's memory at most is kept
DEFAULT_MAX_IDLE = 1.0  # seconds

cdef tx_lock_t LOCK = 0         # see Note [Two sets of lists]
cdef cache_t* caches = NULL     # of all allocators that live
cdef uint32_t ticks = 0
cdef bint may_tick = True       # until the process exits
cdef char being_started         # its address says that a thread is
cdef int64_t outside = 0        # bytes of the process that are neither in use nor kept, when last measured
cdef int64_t seen_peak = 0      # of bytes in use, when last measured
cdef int64_t peak_of_both = 0   # of bytes in use and those outside
cdef bytes machine_root = b""   # in front of the paths of files that tell of memory

cdef struct block_list_t:
    kept_block_t* first
    kept_block_t* last
    size_t nbytes

cdef struct taking_t:
    block_list_t* gone
    cache_t* cache
    size_t bound
    bint is_short


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
        The most bytes to keep, now: the default is shared by the processes that keep blocks.
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
    """CachingAllocator(upstream=None, max_cached=None, max_idle=1.0)\n--\n
    Keep blocks when they are freed and give them out again, pages and all.

    Parameters
    ----------
    upstream : Allocator, optional
        Where blocks come from; a `CPUAllocator` with huge pages if not given.
    max_cached : int or str, optional
        The most bytes to keep, such as ``"1GiB"``; the block that was unused for longest goes first, and those of up to
        1 KiB go last. If not given, the environment variable ``TENSIX_MAX_CACHED``, or a quarter of the memory that
        this process may use; this default is divided by the number of the user's processes that keep blocks.
    max_idle : float, seconds, optional
        Give a block back that was not used for so long, with a precision of a quarter of a second; ``inf`` keeps it.

    Notes
    -----
    Of blocks below 1 MiB a few of each size are kept. If upstream has no memory, what is kept is given back and
    upstream is asked once more. Everything kept is given back before a fork, and when the machine or the control group
    is short of memory. Over a `CPUAllocator`, a new block replaces kept ones, so that the process stays within 16 MiB
    of the peak that it had without what is kept.

    A thread without Python code gives unused blocks back; it runs only while something is kept. Upstream's
    deallocation may be called in it.

    Lifetime: blocks may outlive the allocator; they then go back upstream when they are freed.

    Thread-safety: any number of threads may allocate and free at once; they share what is kept.

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
        global caches
        self.cache = <cache_t*>calloc(1, sizeof(cache_t))
        if self.cache == NULL:
            raise MemoryError("no memory for the lists of a CachingAllocator.")
        self.cache.owners, self.cache.allocator = 1, <PyObject*>self
        tx_allow_taking(<PyObject*>self)
        set_bounds(self.cache)
        if GIL_EXISTS:
            set_front_bounds(&self.cache.front)
            self.cache.front.cache, self.cache.fronts = self.cache, &self.cache.front
        tx_lock_take(&LOCK)
        self.cache.next_cache, caches = caches, self.cache
        tx_lock_release(&LOCK)
        measure_outside()
        self.upstream = CPUAllocator(huge_pages=True)
        self.is_over_cpu = True

    def __init__(self, Allocator upstream=None, max_cached=None, max_idle=DEFAULT_MAX_IDLE):
        if isinstance(upstream, CPUAllocator) and (upstream.zero_fill or upstream.junk_fill):
            raise ValueError(f"{upstream!r} cannot fill blocks that are reused. Take one that does not fill.")
        if upstream is not None:
            check_upstream(self, upstream)
            self.upstream = upstream
            self.is_over_cpu = isinstance(upstream, CPUAllocator) and type(upstream).allocate is CPUAllocator.allocate
        self.max_idle = max_idle
        if max_cached is None:
            set_bound(self.cache, min(default_max_cached(), <uint64_t>1 << 62), True)
        else:
            self.max_cached = max_cached

    def __dealloc__(self):
        cdef cache_t** place = &caches
        if self.cache != NULL:
            tx_lock_take(&LOCK)
            while place[0] != self.cache:
                place = &place[0].next_cache
            place[0] = self.cache.next_cache
            self.cache.allocator, self.cache.is_closed = NULL, True  # nothing is kept any more
            tx_store_relaxed(&self.cache.max_cached, 0)
            tx_lock_release(&LOCK)
            evict(self.cache, 0, True)
            disown(self.cache)

    @property
    def max_cached(self):
        """The most bytes to keep; may be set, and what is too much goes at once."""
        return self.cache.whole_bound or self.cache.max_cached

    @max_cached.setter
    def max_cached(self, value):
        set_bound(self.cache, min(parse_size(value), <uint64_t>1 << 62), False)

    @property
    def max_idle(self):
        """Seconds without use after which a block is given back, ``inf`` for never; may be set."""
        if self.cache.max_idle_ticks == NEVER:
            return float("inf")
        return (self.cache.max_idle_ticks + 1) * TX_TICK_MICROSECONDS / 1e6

    @max_idle.setter
    def max_idle(self, value):
        cdef double seconds = value
        if not seconds > 0:
            raise ValueError(f"max_idle must be more than 0 seconds, or inf, found {value!r}.")
        # A block is kept between two ticks: by the time of tick n after that, it is unused for n - 1 to n of them.
        self.cache.max_idle_ticks = <uint32_t>max(min(seconds * 1e6 / TX_TICK_MICROSECONDS, 1e9) - 1, 1)
        if seconds == float("inf"):
            self.cache.max_idle_ticks = NEVER

    @property
    def alignment(self):
        """Every block's address is a multiple of so many bytes, as far as upstream says."""
        return getattr(self.upstream, "alignment", MALLOC_ALIGNMENT_BYTES)

    def is_simple_data_ptr(self, DataPtr data_ptr not None):
        """Return whether the block can be wrapped in another context: kept or not, upstream's answer counts."""
        return CachingAllocator.c_is_simple(self, data_ptr.seen)

    def trim(self):
        """Give back everything that is kept, large and small, and return how many bytes that were."""
        cdef size_t freed = evict(self.cache, 0, True)
        with nogil:
            tx_trim_heap()
        return freed

    def stats(self):
        """Return a `CachingStats`: bytes in use, cached, resident and reused, hits and misses."""
        cdef cache_t* cache = self.cache
        cdef size_t resident = 0
        cdef uint64_t hits, reused
        cdef front_t* front
        cdef kept_block_t* kept
        cdef int number
        tx_lock_take(&LOCK)
        kept = cache.first
        while kept != NULL:
            resident += tx_resident_bytes(kept.block.data, kept.capacity)
            kept = kept.next
        for number in range(SMALL_CLASS_COUNT):
            resident += resident_in_class(&cache.classes[number])
        hits, misses, reused = cache.hits, cache.misses, cache.reused
        front = cache.fronts
        while front != NULL:
            hits += tx_load_relaxed(&front.hits)
            reused += tx_load_relaxed(&front.reused)
            if GIL_EXISTS:
                for number in range(GIL_CLASS_COUNT):
                    resident += resident_in_class(&front.classes[number])
            else:  # small blocks that other threads have just used
                resident += tx_load_relaxed(&front.nbytes)
            front = front.next
        cached, max_cached = bytes_in(cache), cache.max_cached
        in_use = tx_load_relaxed(&cache.reserved) - cached
        tx_lock_release(&LOCK)
        return CachingStats(in_use, cached, max_cached, hits, misses, resident, reused)

    def __repr__(self):
        return f"{type(self).__name__}({self.upstream!r})"

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        return CachingAllocator_allocate(self, nbytes, False, out)

    cdef int c_try_allocate(self, size_t nbytes, data_ptr_t* out) noexcept nogil:
        cdef block_list_t gone = block_list_t(NULL, NULL, 0)
        cdef kept_block_t* kept
        cdef int status
        if nbytes == 0 or nbytes >> 62:
            return Allocator_try_allocate(self.upstream, nbytes, out)
        kept = cache_take(self.cache, nbytes, False)
        if kept == NULL:
            if self.is_over_cpu:
                make_space(self.cache, capacity_of(nbytes), &gone, False)
                block_list_let_go(&gone)
            status = try_upstream(self, capacity_of(nbytes), False, False, &kept)
            if status != 0:
                return status
        kept_block_point(kept, out)
        kept.nbytes = nbytes
        if kept.reports:
            kept.stamp = report_allocation_without_gil(out.data, nbytes, CPU, self.cache.allocator)
        return 0

    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1:
        cdef bint is_kept = data_ptr_operations(pointer) == &caching_operations
        return Allocator_is_simple(self.upstream, &(<kept_block_t*>pointer.ctx).block if is_kept else pointer)

    cdef int c_copy_data(self, void* dst, const void* src, size_t nbytes) except -1:
        return Allocator_copy_data(self.upstream, dst, src, nbytes)


cdef int CachingAllocator_allocate(CachingAllocator self, size_t nbytes, bint zeroed, data_ptr_t* out) except -1:
    """Give out a block; of zeros, if asked for, over plain CPU memory."""
    cdef kept_block_t* kept
    if nbytes == 0 or nbytes >> 62:
        return Allocator_allocate(self.upstream, nbytes, out)
    kept = cache_take(self.cache, nbytes, True)
    if kept == NULL:
        kept = take_from_upstream(self, nbytes, zeroed)
    elif zeroed:
        write_zeros(kept.block.data, nbytes)
    kept_block_point(kept, out)
    kept_block_give_out(kept, nbytes)
    return 0


cdef int write_zeros(void* data, size_t nbytes) except -1:
    if nbytes < MIN_LARGE_BYTES:
        CPUBlock_zero(data, nbytes)
    else:
        with nogil:
            CPUBlock_zero(data, nbytes)
    return 0


# Those that have others above them, by their ids: a class in Python may compare its allocators as it likes. What is
# below an allocator does not change once it was checked, so no chain grows by a new upstream of one in its midst.
UPSTREAMS = weakref.WeakValueDictionary()


def check_upstream(above, upstream):
    """Check that an allocator will not ask itself for memory, nor so many below it that the stack overflows."""
    cdef int depth = 0
    one = upstream
    while isinstance(one, Allocator):
        if one is above:
            raise ValueError(f"{type(above).__name__}() cannot lie above itself: its upstream leads to it.")
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(
                f"{type(above).__name__}() cannot lie above more than {MAX_DEPTH} allocators: each of them calls the "
                "next one, and the stack is limited."
            )
        one = getattr(one, "upstream", None)
    if UPSTREAMS.get(id(above)) is above:
        raise ValueError(f"{type(above).__name__}() cannot get another upstream: others lie above it already.")
    UPSTREAMS[id(upstream)] = upstream


def caches_of(allocator):
    """Yield the caches among an allocator and those that it stands on."""
    while isinstance(allocator, Allocator):
        if isinstance(allocator, CachingAllocator):
            yield allocator
        allocator = getattr(allocator, "upstream", None)


cdef kept_block_t* take_from_upstream(CachingAllocator self, size_t nbytes, bint zeroed) except NULL:
    """Return a new block; what is kept goes if there is no memory without that. See Note [Unused blocks]."""
    cdef size_t capacity = capacity_of(nbytes)
    cdef block_list_t gone = block_list_t(NULL, NULL, 0)
    cdef kept_block_t* kept
    if self.is_over_cpu:
        make_space(self.cache, capacity, &gone, True)
        block_list_let_go(&gone)
        if try_upstream(self, capacity, zeroed, True, &kept) != 0:
            refuse_memory(nbytes, (<CPUAllocator>self.upstream).alignment)
        return kept
    kept = <kept_block_t*>calloc(1, sizeof(kept_block_t))
    if kept == NULL:
        raise MemoryError("no memory to keep track of a block.")
    try:
        if not ask_upstream(self, capacity, kept):  # after an error whose context the next one is not
            Allocator_allocate(self.upstream, capacity, &kept.block)
    except BaseException as error:
        free(kept)
        if isinstance(error, OutOfMemoryError) and error.nbytes == capacity:  # the caller asked for less
            error.nbytes, error.args = nbytes, (nbytes, *error.args[1:])
        raise
    own(self.cache, kept, capacity)
    return kept


cdef bint ask_upstream(CachingAllocator self, size_t capacity, kept_block_t* kept) except -1:
    """Return whether upstream made a block; if not, something was given back to it."""
    try:
        Allocator_allocate(self.upstream, capacity, &kept.block)
        return True
    except (MemoryError, OSError):  # of files and shared memory, descriptors may be what is scarce
        if evict(self.cache, 0, True) == 0:
            raise
    return False


cdef int try_upstream(
        CachingAllocator self, size_t capacity, bint zeroed, bint has_gil, kept_block_t** made) noexcept nogil:
    """Do the same over plain CPU memory or without the GIL; returns 0, NO_MEMORY or NEEDS_GIL."""
    cdef kept_block_t* kept = <kept_block_t*>calloc(1, sizeof(kept_block_t))
    cdef int status
    if kept == NULL:
        return NO_MEMORY
    kept.reports = self.is_over_cpu
    status = try_reserve(self, capacity, zeroed, kept)
    if status == NO_MEMORY and evict(self.cache, 0, has_gil) != 0:
        status = try_reserve(self, capacity, zeroed, kept)
    if status != 0:
        free(kept)
        return status
    own(self.cache, kept, capacity)
    made[0] = kept
    return 0


cdef int try_reserve(CachingAllocator self, size_t capacity, bint zeroed, kept_block_t* kept) noexcept nogil:
    if kept.reports:
        return CPUAllocator_reserve(<CPUAllocator>self.upstream, capacity, zeroed, &kept.block)
    return Allocator_try_allocate(self.upstream, capacity, &kept.block)


cdef void own(cache_t* cache, kept_block_t* kept, size_t capacity) noexcept nogil:
    """Note whose block a new one is, and of which class."""
    kept.capacity, kept.cache, kept.its_class = capacity, cache, class_of(capacity)
    if kept.reports:
        CPUBlock_set_keeper(kept.block.data, kept)
    kept.has_header = kept.reports and may_be_read_in_front(kept.block.data)
    tx_add_fetch_relaxed(&cache.owners, 1)
    tx_add_fetch_relaxed(&cache.reserved, capacity)
    tx_add_fetch_relaxed(&cache.misses, 1)


cdef void make_space(cache_t* cache, size_t capacity, block_list_t* gone, bint has_gil) noexcept nogil:
    """Take out blocks, so that the process stays below its peak with a new one. See Note [Unused blocks]."""
    if capacity >= MIN_LARGE_BYTES:
        measure_outside()
    if tx_load_relaxed(&cache.cached) > SLACK_BYTES:
        tx_lock_take(&LOCK)
        take_oldest(cache, SLACK_BYTES + spare_below_peak(capacity), gone, has_gil)
        tx_lock_release(&LOCK)


cdef void measure_outside() noexcept nogil:
    """Find out how much of the process is in main memory but neither in use nor kept."""
    global outside, peak_of_both
    cdef int64_t resident = <int64_t>tx_process_bytes()
    cdef int64_t in_use = bytes_given_out(CPU)
    cdef int64_t now
    tx_lock_take(&LOCK)
    now = resident - in_use - <int64_t>bytes_kept(True) if resident != 0 else 0
    note_peak(min(outside, now))  # what came after the peak does not raise it
    peak_of_both = max(peak_of_both, in_use + now)
    outside = now
    tx_lock_release(&LOCK)


cdef void note_peak(int64_t outside_then) noexcept nogil:
    """Add what was outside at the time to the peak of what is in use, if that has passed since the last call."""
    global seen_peak, peak_of_both
    cdef int64_t peak = <int64_t>tx_load_relaxed(<uint64_t*>&given_out[<int>CPU].peak)
    if peak != seen_peak:
        seen_peak = peak
        peak_of_both = max(peak_of_both, seen_peak + outside_then)


cdef size_t spare_below_peak(size_t nbytes) noexcept nogil:
    """Return three quarters of what lacks to the process's peak without what is kept if so many bytes are added."""
    cdef int64_t spare
    note_peak(outside)
    spare = peak_of_both - outside - <int64_t>bytes_given_out(CPU) - <int64_t>nbytes
    return <size_t>max(spare - spare // 4, 0)


cdef void take_back(void* ctx) noexcept nogil:
    """Keep a block that is freed, or let it go upstream; the deleter of all blocks."""
    kept_block_free(<kept_block_t*>ctx, holds_gil())


cdef void take_back_with_gil(void* ctx) noexcept nogil:
    kept_block_free(<kept_block_t*>ctx, True)


cdef kept_block_t* cache_take(cache_t* cache, size_t nbytes, bint has_gil) noexcept nogil:
    """Take out the newest block that is kept for a size of 1 to 2**62 bytes; NULL if there is none."""
    cdef kept_block_t* kept
    cdef int number = class_of(nbytes)
    cdef size_class_t* its_class = &cache.classes[number]
    if has_gil and number < GIL_CLASS_COUNT:
        kept = cache_take_in_front(cache, number)
        if kept != NULL:
            return kept
    tx_lock_take(&LOCK)
    kept = its_class.newest
    if kept != NULL:
        TX_ASSERT(is_intact(kept), "the header of a CPU block to be intact", <uint64_t>kept.block.data)
        unlink(cache, kept)
        cache.hits += 1
        cache.reused += kept.capacity
    tx_lock_release(&LOCK)
    return kept


cdef void kept_block_keep(kept_block_t* kept, bint has_gil) noexcept nogil:
    """Keep a block, or give it back."""
    cdef block_list_t gone = block_list_t(NULL, NULL, 0)
    cdef cache_t* cache = kept.cache
    cdef bint starts = False
    tx_lock_take(&LOCK)
    if cache.is_closed or kept.capacity > cache.max_cached or cache.classes[kept.its_class].wanted == 0:
        block_list_add(&gone, kept)
    else:
        link(cache, kept)
        take_oldest(cache, cache.max_cached, &gone, has_gil)
        starts = tx_ticker == NULL and may_tick and cache.max_idle_ticks != NEVER and kept.capacity > MAX_SMALL_BYTES
    tx_lock_release(&LOCK)
    block_list_let_go(&gone)
    if starts:
        start_ticker()


cdef inline void link(cache_t* cache, kept_block_t* kept) noexcept nogil:
    """Enter a block as the newest of its class and of all."""
    cdef size_class_t* its_class = &cache.classes[kept.its_class]
    kept.older = its_class.newest
    its_class.newest = kept
    its_class.wanted -= 1
    tx_store_relaxed(&cache.cached, cache.cached + kept.capacity)
    if kept.capacity <= MAX_SMALL_BYTES:
        return
    kept.newer, kept.freed_at = NULL, ticks
    if kept.older != NULL:
        kept.older.newer = kept
    kept.next, kept.previous = NULL, cache.last
    if cache.last != NULL:
        cache.last.next = kept
    else:
        cache.first = kept
    cache.last = kept


cdef inline void unlink(cache_t* cache, kept_block_t* kept) noexcept nogil:
    """Take out a block; a small one is the newest of its class."""
    cdef size_class_t* its_class = &cache.classes[kept.its_class]
    TX_ASSERT(cache.cached >= kept.capacity, "at least one block to be kept", cache.cached)
    if kept == its_class.newest:
        its_class.newest = kept.older
    its_class.wanted += 1
    tx_store_relaxed(&cache.cached, cache.cached - kept.capacity)
    if kept.capacity <= MAX_SMALL_BYTES:
        return
    if kept.newer != NULL:
        kept.newer.older = kept.older
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


cdef void set_bound(cache_t* cache, uint64_t bound, bint is_shared) noexcept:
    """Set the bound, and let go of what is too much."""
    tx_lock_take(&LOCK)
    tx_store_relaxed(&cache.max_cached, bound)
    cache.whole_bound = bound if is_shared else 0
    tx_lock_release(&LOCK)
    evict(cache, bound, True)


cdef size_t evict(cache_t* cache, size_t bound, bint has_gil) noexcept nogil:
    """Give back what was unused for longest until no more than `bound` bytes are kept; return how many went."""
    cdef block_list_t gone = block_list_t(NULL, NULL, 0)
    cdef taking_t what = taking_t(&gone, cache, bound, False)
    if has_gil:
        tx_while_stopped(take_with_fronts, &what)
    else:
        tx_lock_take(&LOCK)
        take_oldest(cache, bound, &gone, False)
        tx_lock_release(&LOCK)
    block_list_let_go(&gone)
    return gone.nbytes


cdef void take_with_fronts(void* what) noexcept nogil:
    """Take out the same, then what is in front of all threads, which may then have a front of another cache."""
    cdef taking_t* now = <taking_t*>what
    cdef front_t* front
    tx_lock_take(&LOCK)
    take_oldest(now.cache, now.bound, now.gone, True)
    front = now.cache.fronts if bytes_in(now.cache) > now.bound else NULL
    while front != NULL:
        empty_front(front, now.gone)
        front = front.next
    while now.cache.is_closed and now.cache.fronts != NULL:
        now.cache.fronts.cache = NULL
        now.cache.fronts = now.cache.fronts.next
    tx_lock_release(&LOCK)


cdef void empty_front(front_t* front, block_list_t* gone) noexcept nogil:
    cdef kept_block_t* kept
    cdef int number
    for number in range(GIL_CLASS_COUNT):
        kept = unlink_in_front(front, number)
        while kept != NULL:
            block_list_add(gone, kept)
            kept = unlink_in_front(front, number)


cdef inline front_t* present_front(cache_t* cache) noexcept nogil:
    """Return what is in front for this thread already."""
    if GIL_EXISTS:
        return &cache.front
    cdef front_t* front = <front_t*>tx_front
    return front if front != NULL and front.cache == cache else NULL


cdef front_t* front_of_thread(cache_t* cache) noexcept nogil:
    cdef front_t* front = present_front(cache)
    return front if front != NULL else new_front(cache)


cdef front_t* new_front(cache_t* cache) noexcept nogil:
    """Let this thread have blocks of a cache in front, unless it has those of another one; NULL if so."""
    global tx_front
    cdef front_t* front = <front_t*>tx_front
    if front != NULL and front.cache != NULL:
        return NULL
    if front == NULL:
        front = <front_t*>calloc(1, sizeof(front_t))
        if front == NULL or tx_at_thread_exit(front) != 0:
            free(front)
            return NULL
        set_front_bounds(front)
        tx_front = front
    tx_lock_take(&LOCK)
    if not cache.is_closed:
        front.cache, front.next, cache.fronts = cache, cache.fronts, front
        front.hits = front.reused = 0  # those of the cache before
    tx_lock_release(&LOCK)
    return front if front.cache == cache else NULL


cdef void leave_front(void* what) noexcept nogil:
    """Let go of what is in front of a thread that ends."""
    global tx_front
    cdef block_list_t gone = block_list_t(NULL, NULL, 0)
    cdef front_t* front = <front_t*>what
    cdef front_t** place
    tx_front = NULL
    tx_lock_take(&LOCK)
    if front.cache != NULL:
        empty_front(front, &gone)
        place = &front.cache.fronts
        while place[0] != front:
            place = &place[0].next
        place[0] = front.next
        front.cache.hits += front.hits
        front.cache.reused += front.reused
    tx_lock_release(&LOCK)
    block_list_let_go(&gone)
    free(front)


cdef void take_oldest(cache_t* cache, size_t bound, block_list_t* gone, bint has_gil) noexcept nogil:
    """Take out what was unused for longest until no more than `bound` bytes are kept. See Note [Size classes].

    Those in front of other threads, or without the GIL of all, stay where they are.
    """
    cdef kept_block_t* kept
    cdef int number = SMALL_CLASS_COUNT - 1
    while cache.cached != 0 and bytes_in(cache) > bound:
        kept = cache.first
        while kept == NULL:
            kept = cache.classes[number].newest
            number -= kept == NULL
        unlink(cache, kept)
        block_list_add(gone, kept)
    cdef front_t* front = present_front(cache) if has_gil else NULL
    number = GIL_CLASS_COUNT - 1
    while front != NULL and number >= 0 and bytes_in(cache) > bound:
        kept = unlink_in_front(front, number)
        if kept != NULL:
            block_list_add(gone, kept)
        else:
            number -= 1


cdef inline uint64_t bytes_in(cache_t* cache) noexcept nogil:
    """Return what a cache keeps, in bytes; with the lock."""
    cdef uint64_t nbytes = cache.cached
    cdef front_t* front = cache.fronts
    while front != NULL:
        nbytes += tx_load_relaxed(&front.nbytes)
        front = front.next
    return nbytes


cdef void block_list_add(block_list_t* self, kept_block_t* kept) noexcept nogil:
    """Add a block that is in no other list; the cache does not count it any more."""
    tx_fetch_sub_acq_rel(&kept.cache.reserved, kept.capacity)
    kept.next = NULL
    if self.last == NULL:
        self.first = kept
    else:
        self.last.next = kept
    self.last = kept
    self.nbytes += kept.capacity


cdef void block_list_let_go(block_list_t* self) noexcept nogil:
    """Return all blocks upstream. They are in no list of a cache: upstream may free others meanwhile."""
    cdef void* begun = tx_begin_long_free(self.nbytes)
    cdef kept_block_t* kept
    cdef cache_t* cache
    while self.first != NULL:
        kept = self.first
        cache = kept.cache
        self.first = kept.next
        data_ptr_destroy(&kept.block)
        free(kept)
        disown(cache)
    tx_end_long_free(begun)


cdef size_t resident_in_class(const size_class_t* one) noexcept nogil:
    """Return how many bytes of the blocks that are kept of a class have pages."""
    cdef size_t resident = 0
    cdef kept_block_t* kept = one.newest
    while kept != NULL:
        resident += tx_resident_bytes(kept.block.data, kept.capacity)
        kept = kept.older
    return resident


# ---- giving back what is not used. See Note [Unused blocks]


cdef void start_ticker() noexcept nogil:
    """Start the thread, unless another one does. If the system refuses, the next block tries again.

    Not with the lock: who forks may have locks of others, which a new thread takes, and wait for ours.
    """
    if may_tick and exchange_ticker(NULL, &being_started) == NULL:
        share_bounds()
        exchange_ticker(&being_started, tx_ticker_start(tick))


cdef void end_ticker() noexcept:
    """End the thread, if there is one, and wait for its end."""
    cdef void* ticker = &being_started
    while ticker == &being_started or exchange_ticker(ticker, NULL) != ticker:
        tx_let_others_run()
        ticker = exchange_ticker(NULL, NULL)
    if ticker != NULL:
        tx_ticker_end(ticker)


cdef void* exchange_ticker(void* expected, void* ticker) noexcept nogil:
    """Say what the thread is from now on if it is the expected one, and return what it was."""
    global tx_ticker
    tx_lock_take(&LOCK)
    cdef void* found = tx_ticker
    if found == expected:
        tx_ticker = ticker
    tx_lock_release(&LOCK)
    return found


cdef void share_bounds() noexcept nogil:
    """Divide default bounds by the number of processes that keep blocks."""
    cdef uint64_t processes = tx_count_cachers(True)
    tx_lock_take(&LOCK)
    cdef cache_t* cache = caches
    while cache != NULL:
        if cache.whole_bound != 0:
            tx_store_relaxed(&cache.max_cached, cache.whole_bound // processes)
        cache = cache.next_cache
    tx_lock_release(&LOCK)


cdef int tick(void* ticker) noexcept:
    """Take out what is to go, and let it go without the GIL; return whether the thread goes on."""
    global tx_ticker
    cdef block_list_t gone = block_list_t(NULL, NULL, 0)
    cdef bint is_short = memory_is_short()
    cdef bint goes_on
    share_bounds()
    measure_outside()
    cdef taking_t what = taking_t(&gone, NULL, 0, is_short)
    tx_while_stopped(take_at_tick, &what)
    block_list_let_go(&gone)
    tx_lock_take(&LOCK)
    goes_on = tx_ticker != ticker or bytes_kept(False) != 0  # to be ended by another thread, or with work to do
    if not goes_on:
        tx_ticker = NULL
    tx_lock_release(&LOCK)
    if not goes_on:
        tx_count_cachers(False)
        with nogil:
            tx_trim_heap()
    return goes_on


cdef void take_at_tick(void* what) noexcept nogil:
    """Take out what is to go at a tick; nothing here runs code of others."""
    global ticks
    cdef taking_t* now = <taking_t*>what
    cdef cache_t* cache
    cdef front_t* front
    tx_lock_take(&LOCK)
    ticks += 1
    cache = caches
    while cache != NULL:
        front = cache.fronts
        while front != NULL and not GIL_EXISTS and (now.is_short or requests_of(cache) == cache.last_requests):
            empty_front(front, now.gone)  # which `take_oldest` does not see
            front = front.next
        take_oldest(cache, 0 if now.is_short else cache.max_cached, now.gone, True)
        take_unused(cache, now.gone)
        cache = cache.next_cache
    tx_lock_release(&LOCK)


cdef uint64_t requests_of(cache_t* cache) noexcept nogil:
    cdef uint64_t requests = cache.hits + tx_load_relaxed(&cache.misses)
    cdef front_t* front = cache.fronts
    while front != NULL:
        requests += tx_load_relaxed(&front.hits)
        front = front.next
    return requests


cdef void take_unused(cache_t* cache, block_list_t* gone) noexcept nogil:
    """Take out the blocks that were unused for `max_idle`; the small ones when nothing else is left or asked for."""
    cdef kept_block_t* kept = cache.first
    cdef uint64_t requests = requests_of(cache)
    if cache.max_idle_ticks == NEVER:
        return
    while kept != NULL and <int32_t>(ticks - kept.freed_at - cache.max_idle_ticks) >= 0:
        unlink(cache, kept)
        block_list_add(gone, kept)
        kept = cache.first
    if kept == NULL and requests == cache.last_requests:
        take_oldest(cache, 0, gone, True)
    cache.last_requests = requests


cdef bint memory_is_short() noexcept:
    """Return whether there is less memory available than a part of all of it, and what is kept here."""
    tx_lock_take(&LOCK)
    cdef uint64_t kept = bytes_kept(False)
    tx_lock_release(&LOCK)
    if kept <= SLACK_BYTES:
        return False
    cdef tx_memory_t memory = tx_machine_memory(machine_root)
    return memory.available < kept + memory.limit // SPARE_SHARE


cdef uint64_t bytes_kept(bint for_ever) noexcept nogil:
    """Return what all caches of this process keep, in bytes; without those of `max_idle=inf` if not asked for."""
    cdef uint64_t nbytes = 0
    cdef cache_t* cache = caches
    while cache != NULL:
        if for_ever or cache.max_idle_ticks != NEVER:
            nbytes += bytes_in(cache)
        cache = cache.next_cache
    return nbytes


def give_back_before_fork():
    """Give back all that is kept, so that a child does not hold it, and end the thread."""
    cdef block_list_t gone = block_list_t(NULL, NULL, 0)
    cdef taking_t what = taking_t(&gone, NULL, 0, True)
    tx_while_stopped(take_at_tick, &what)
    block_list_let_go(&gone)
    end_ticker()


def forget_ticker():
    """Do without the thread in the child of a fork, until it is needed again."""
    global tx_ticker
    tx_ticker = NULL


def wait_for_exit(long native_id):
    """Wait until the system does not count a thread, which was joined, as one of this process any more."""
    with nogil:
        tx_wait_for_exit(native_id)


def end_ticker_at_exit():
    """End the thread and start no other: what is kept goes with the process."""
    global may_tick
    may_tick = False
    end_ticker()
    tx_count_cachers(False)


cdef void disown(cache_t* cache) noexcept nogil:
    """Drop one owner of the lists; the last one frees them."""
    TX_ASSERT(tx_load_relaxed(&cache.owners) > 0, "a cache with owners", cache.owners)
    if tx_fetch_sub_acq_rel(&cache.owners, 1) == 1:
        free(cache)


cdef void set_bounds(cache_t* cache) noexcept nogil:
    """Say how many blocks of each class are kept at most."""
    cdef size_t capacity
    cdef int number
    for number in range(CLASS_COUNT):
        capacity = <size_t>STEP_BYTES * (number + 1)
        if number >= SMALL_CLASS_COUNT:
            capacity = <size_t>(9 + (number & 7)) << (MAX_SMALL_BIT - 3 + (number - SMALL_CLASS_COUNT) // 8)
        cache.classes[number].wanted = max(MAX_CLASS_BYTES // capacity, <size_t>MIN_CLASS_BLOCKS)
        if number < SMALL_CLASS_COUNT:
            cache.classes[number].wanted = MAX_CLASS_BYTES // 2 // capacity
        elif number < GIL_CLASS_COUNT:
            cache.classes[number].wanted -= 1
        elif capacity >= MIN_LARGE_BYTES:
            cache.classes[number].wanted = <size_t>-1


cdef void set_front_bounds(front_t* front) noexcept nogil:
    """Say how many blocks of each class are kept in front."""
    cdef int number
    for number in range(GIL_CLASS_COUNT):
        front.classes[number].wanted = 1
        if number < SMALL_CLASS_COUNT:
            front.classes[number].wanted = MAX_CLASS_BYTES // 2 // (STEP_BYTES * (number + 1))


cdef inline int class_of(size_t nbytes) noexcept nogil:
    """Return the number of a size's class; a capacity is in the same class as the sizes that it serves."""
    if nbytes <= MAX_SMALL_BYTES:
        return <int>((nbytes - 1) // STEP_BYTES)
    cdef int bit = tx_highest_bit(nbytes - 1)
    TX_ASSERT(bit < 62, "a size of at most 2**62 bytes, so that it has a class", nbytes)
    return SMALL_CLASS_COUNT + 8 * (bit - MAX_SMALL_BIT) + <int>((nbytes - 1) >> (bit - 3) & 7)


cdef size_t capacity_of(size_t nbytes) noexcept nogil:
    """Return the size of blocks of a size's class. See Note [Size classes]."""
    cdef size_t step = STEP_BYTES
    if nbytes > MAX_SMALL_BYTES:
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
    return machine_memory()[0] // DEFAULT_SHARE


def machine_memory():
    """Return how many bytes this process may use, by the machine and its control groups, and how many are available."""
    memory = tx_machine_memory(machine_root)
    return memory.limit, memory.available


def set_machine_root(root):
    """Read the files that tell of memory below another folder; for tests."""
    global machine_root
    machine_root = os.fsencode(root)


def cached_bytes():
    """Return what all caches of this process keep, in bytes."""
    tx_lock_take(&LOCK)
    nbytes = bytes_kept(True)
    tx_lock_release(&LOCK)
    return nbytes


take_at_forks(&LOCK)
if not GIL_EXISTS and tx_make_front_key(leave_front):
    raise MemoryError("no memory to be told of threads that end.")
atexit.register(end_ticker_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=give_back_before_fork, after_in_child=forget_ticker)
