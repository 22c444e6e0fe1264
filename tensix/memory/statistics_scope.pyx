"""How much memory a piece of code takes.

A block belongs to a scope if it was born in it: Note [Births] in ``memory_reporter.pyx``. So nothing is kept per block,
and a block that is older than the scope does not count when it goes. Allocations happen with the GIL, and so do nearly
all frees: their numbers are plain. Frees without the GIL have numbers of their own, which the listeners' lock guards.
"""
from libc.stdint cimport int64_t, uint32_t, uint64_t
from tensix.core.memory_reporter cimport (
    current_thread_number,
    is_born_since,
    memory_listener_t,
    new_block_t,
    start_listening,
    stop_listening,
    thread_of_birth,
)

from tensix.core.format_size import format_size

__all__ = ["statistics"]


cdef struct numbers_t:
    memory_listener_t listener
    uint32_t thread     # 0: all
    int64_t total_bytes
    int64_t total_count
    int64_t peak_bytes
    int64_t peak_count
    int64_t[2] freed_bytes   # by frees without the GIL, and with it
    int64_t[2] freed_count


cdef class statistics:
    """Count the blocks that are allocated in a scope.

    Parameters
    ----------
    this_thread : bool, optional
        Count only what the thread that enters the scope allocates, whoever frees it; otherwise all threads.

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
    cdef bint was_entered
    cdef numbers_t numbers

    def __init__(self, this_thread=False):
        self.this_thread = this_thread

    def __dealloc__(self):
        stop_listening(&self.numbers.listener)

    @property
    def current_bytes(self):
        """Bytes of blocks allocated in the scope and not freed yet."""
        return current_bytes(&self.numbers)

    @property
    def current_count(self):
        """Blocks allocated in the scope and not freed yet."""
        return current_count(&self.numbers)

    @property
    def peak_bytes(self):
        """The most bytes that were allocated in the scope and not freed at one time."""
        return self.numbers.peak_bytes

    @property
    def peak_count(self):
        """The most blocks that were allocated in the scope and not freed at one time."""
        return self.numbers.peak_count

    @property
    def total_bytes(self):
        """Bytes of all blocks allocated in the scope."""
        return self.numbers.total_bytes

    @property
    def total_count(self):
        """All blocks allocated in the scope."""
        return self.numbers.total_count

    def __enter__(self):
        if self.was_entered:
            raise RuntimeError("a scope of statistics is entered once: call statistics() again for another one.")
        cdef memory_listener_t* listener = &self.numbers.listener
        self.numbers.thread = current_thread_number() if self.this_thread else 0
        listener.state = &self.numbers
        listener.allocated, listener.freed = count_allocation, count_free
        start_listening(listener)
        self.was_entered = True
        return self

    def __exit__(self, *exc_info):
        stop_listening(&self.numbers.listener)

    def __repr__(self):
        return (
            f"statistics(current={format_size(self.current_bytes)} in {self.current_count:,}, "
            f"peak={format_size(self.peak_bytes)} in {self.peak_count:,}, "
            f"total={format_size(self.total_bytes)} in {self.total_count:,})"
        )


cdef int64_t current_bytes(const numbers_t* self) noexcept nogil:
    return self.total_bytes - self.freed_bytes[0] - self.freed_bytes[1]


cdef int64_t current_count(const numbers_t* self) noexcept nogil:
    return self.total_count - self.freed_count[0] - self.freed_count[1]


cdef inline bint is_ours(const numbers_t* self, uint64_t birth) noexcept nogil:
    return is_born_since(birth, &self.listener) and (self.thread == 0 or self.thread == thread_of_birth(birth))


cdef void count_allocation(void* state, const new_block_t* block) noexcept:
    cdef numbers_t* self = <numbers_t*>state
    if is_ours(self, block.birth):
        self.total_bytes += <int64_t>block.nbytes
        self.total_count += 1
        self.peak_bytes = max(self.peak_bytes, current_bytes(self))
        self.peak_count = max(self.peak_count, current_count(self))


cdef void count_free(void* state, void* data, size_t nbytes, uint64_t birth, bint holds_gil) noexcept nogil:
    cdef numbers_t* self = <numbers_t*>state
    if is_ours(self, birth):
        self.freed_bytes[holds_gil] += <int64_t>nbytes
        self.freed_count[holds_gil] += 1
