"""How much memory a piece of code takes: the blocks that are allocated in a scope, counted."""
from libc.stdint cimport uint32_t, uint64_t
from tensix.core.memory_reports cimport (
    MemoryListener, current_thread_number, new_block_t, start_listening, thread_of_stamp,
)
from tensix.core.usage cimport usage_add, usage_remove, usage_t

from tensix._support.format_size import format_size

__all__ = ["statistics"]


cdef class statistics(MemoryListener):
    """statistics(this_thread=False)\n--\n
    Count the blocks that are allocated in a scope.

    Parameters
    ----------
    this_thread : bool, optional
        Count only what the thread that enters the scope allocates, whichever thread frees it; otherwise all threads.

    Attributes
    ----------
    current_bytes, current_count : int
        Of blocks allocated in the scope and not freed yet: bytes asked for, and how many.
    peak_bytes, peak_count : int
        The most that they ever were.
    total_bytes, total_count : int
        Of all blocks allocated in the scope.

    Raises
    ------
    RuntimeError
        If a scope is entered a second time.

    Notes
    -----
    The numbers can be read while the scope is open and afterwards; after it they stay as they were at its end. Scopes
    nest; each counts for itself. Blocks that are older than the scope do not count, nor does their end.

    Lifetime: the scope keeps no block and no tensor alive.

    Thread-safety: the numbers are exact whichever threads allocate and free. A peak is taken when something is
    allocated.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.ones(1000)
    >>> with tensix.memory.statistics() as s:
    ...     y = x + x
    ...     del x, y
    >>> s.peak_bytes, s.current_bytes, s.total_count
    (4000, 0, 1)
    """

    cdef readonly bint this_thread
    cdef uint32_t thread    # whose blocks count; 0: all
    cdef usage_t bytes
    cdef usage_t count

    def __init__(self, this_thread=False):
        self.this_thread = this_thread

    @property
    def current_bytes(self):
        """Bytes of blocks allocated in the scope and not freed yet."""
        return self.bytes.current

    @property
    def current_count(self):
        """Blocks allocated in the scope and not freed yet."""
        return self.count.current

    @property
    def peak_bytes(self):
        """The most bytes that were allocated in the scope and not freed at one time."""
        return self.bytes.peak

    @property
    def peak_count(self):
        """The most blocks that were allocated in the scope and not freed at one time."""
        return self.count.peak

    @property
    def total_bytes(self):
        """Bytes of all blocks allocated in the scope."""
        return self.bytes.total

    @property
    def total_count(self):
        """All blocks allocated in the scope."""
        return self.count.total

    def __enter__(self):
        self.thread = current_thread_number() if self.this_thread else 0
        start_listening(self)
        return self

    def __repr__(self):
        return (
            f"statistics(current={format_size(self.current_bytes)} in {self.current_count:,}, "
            f"peak={format_size(self.peak_bytes)} in {self.peak_count:,}, "
            f"total={format_size(self.total_bytes)} in {self.total_count:,})"
        )

    cdef str only_once(self):
        return "a scope of statistics is entered once: call statistics() again for another one."

    cdef void allocated_without_python(self, const new_block_t* block) noexcept nogil:
        if counts(self, block.stamp):
            usage_add(&self.bytes, block.nbytes)
            usage_add(&self.count, 1)

    cdef void freed(self, void* data, size_t nbytes, uint64_t stamp) noexcept nogil:
        if counts(self, stamp):
            usage_remove(&self.bytes, nbytes)
            usage_remove(&self.count, 1)


cdef inline bint counts(statistics self, uint64_t stamp) noexcept nogil:
    return self.thread == 0 or self.thread == thread_of_stamp(stamp)
