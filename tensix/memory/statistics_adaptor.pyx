"""Counting what comes and goes through one allocator.

Note [Counting with the GIL]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A locked instruction costs as much as the rest of the counting together. Allocations happen with the GIL, so their
counters are plain numbers. So do nearly all frees; those that do not have counters of their own, which are atomic.
What is in use is what came less what went on either way; peaks can only be passed by an allocation.
"""
from libc.stdint cimport uint64_t
from tensix.core.atomics cimport tx_add_fetch_relaxed, tx_load_relaxed
from tensix.core.data_ptr cimport data_ptr_t
from tensix.core.python_reference cimport holds_gil
from tensix.memory.adaptor cimport Adaptor, Adaptor_wrap, adapted_block_free, adapted_block_t

__all__ = ["StatisticsAdaptor"]


cdef struct counters_t:
    uint64_t total_bytes
    uint64_t total_count
    uint64_t freed_bytes      # with the GIL
    uint64_t freed_count
    uint64_t freed_bytes_elsewhere
    uint64_t freed_count_elsewhere
    uint64_t peak_bytes
    uint64_t peak_count


cdef class StatisticsAdaptor(Adaptor):
    """Count the blocks and bytes that come from an allocator and go back.

    Parameters
    ----------
    upstream : Allocator or None, optional
        Who makes the blocks; None means the allocator that serves the CPU now.

    Notes
    -----
    Bytes are those asked for. Every block keeps the adaptor alive.

    Thread-safety: all numbers are exact, whatever thread frees; an allocation and a free at the same moment may be
    seen in either order.

    Examples
    --------
    >>> import tensix
    >>> from tensix.memory import StatisticsAdaptor
    >>> with tensix.use_allocator(StatisticsAdaptor()) as statistics:
    ...     x = tensix.empty(100)
    ...     x = tensix.empty(50)
    >>> statistics.current_bytes, statistics.peak_bytes, statistics.total_bytes
    (200, 600, 600)
    """

    cdef counters_t counters

    def __cinit__(self):
        self.free_block = statistics_free
        self.state = &self.counters

    @property
    def current_bytes(self):
        """Bytes in use."""
        return current_bytes(&self.counters)

    @property
    def current_count(self):
        """Blocks in use."""
        return current_count(&self.counters)

    @property
    def peak_bytes(self):
        """The most bytes that were in use at once, since the beginning or `reset_peak`."""
        return self.counters.peak_bytes

    @property
    def peak_count(self):
        """The most blocks that were in use at once, since the beginning or `reset_peak`."""
        return self.counters.peak_count

    @property
    def total_bytes(self):
        """Bytes ever allocated."""
        return self.counters.total_bytes

    @property
    def total_count(self):
        """Blocks ever allocated."""
        return self.counters.total_count

    def reset_peak(self):
        """Let the peaks start from what is in use now."""
        self.counters.peak_bytes = current_bytes(&self.counters)
        self.counters.peak_count = current_count(&self.counters)

    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef counters_t* counters = &self.counters
        self.upstream.c_allocate(nbytes, out)
        if Adaptor_wrap(self, nbytes, out) == NULL:
            return 0
        counters.total_bytes += nbytes
        counters.total_count += 1
        counters.peak_bytes = max(counters.peak_bytes, current_bytes(counters))
        counters.peak_count = max(counters.peak_count, current_count(counters))
        return 0


cdef uint64_t current_bytes(counters_t* counters) noexcept nogil:
    return counters.total_bytes - counters.freed_bytes - tx_load_relaxed(&counters.freed_bytes_elsewhere)


cdef uint64_t current_count(counters_t* counters) noexcept nogil:
    return counters.total_count - counters.freed_count - tx_load_relaxed(&counters.freed_count_elsewhere)


cdef void statistics_free(void* ctx) noexcept nogil:
    """Count a block that goes. See Note [Counting with the GIL]."""
    cdef adapted_block_t* node = <adapted_block_t*>ctx
    cdef counters_t* counters = <counters_t*>node.state
    if holds_gil():
        counters.freed_bytes += node.nbytes
        counters.freed_count += 1
    else:
        tx_add_fetch_relaxed(&counters.freed_bytes_elsewhere, node.nbytes)
        tx_add_fetch_relaxed(&counters.freed_count_elsewhere, 1)
    adapted_block_free(node)
