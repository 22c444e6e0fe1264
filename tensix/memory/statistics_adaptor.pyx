"""Counting what comes and goes through one allocator."""
from tensix.core.data_ptr cimport data_ptr_operations_t, data_ptr_t
from tensix.core.python_reference cimport holds_gil
from tensix.memory.adaptor cimport Adaptor, Adaptor_take, adapted_block_facts, adapted_block_free, adapted_block_t
from tensix.core.tally cimport tally_add, tally_current, tally_remove, tally_t

__all__ = ["StatisticsAdaptor"]


cdef struct statistics_t:
    tally_t bytes
    tally_t count


cdef class StatisticsAdaptor(Adaptor):
    """Count the blocks and bytes that come from an allocator and go back.

    Parameters
    ----------
    upstream : Allocator or None, optional
        Who makes the blocks; None means the allocator that serves the CPU now.

    Notes
    -----
    Bytes are those asked for. Every block keeps the adaptor alive.

    Thread-safety: all numbers are exact, whatever thread frees; a free at the same moment may be seen or not.

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

    cdef statistics_t statistics

    def __cinit__(self):
        self.operations = &statistics_operations
        self.state = &self.statistics

    @property
    def current_bytes(self):
        """Bytes in use."""
        return tally_current(&self.statistics.bytes)

    @property
    def current_count(self):
        """Blocks in use."""
        return tally_current(&self.statistics.count)

    @property
    def peak_bytes(self):
        """The most bytes that were in use at once, since the beginning or `reset_peak`."""
        return self.statistics.bytes.peak

    @property
    def peak_count(self):
        """The most blocks that were in use at once, since the beginning or `reset_peak`."""
        return self.statistics.count.peak

    @property
    def total_bytes(self):
        """Bytes ever allocated."""
        return self.statistics.bytes.came

    @property
    def total_count(self):
        """Blocks ever allocated."""
        return self.statistics.count.came

    def reset_peak(self):
        """Let the peaks start from what is in use now."""
        self.statistics.bytes.peak = tally_current(&self.statistics.bytes)
        self.statistics.count.peak = tally_current(&self.statistics.count)

    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1:
        if Adaptor_take(self, nbytes, nbytes, out) != NULL:
            tally_add(&self.statistics.bytes, nbytes)
            tally_add(&self.statistics.count, 1)
        return 0


cdef void statistics_free(void* ctx) noexcept nogil:
    """Count a block that goes."""
    statistics_free_block(<adapted_block_t*>ctx, holds_gil())


cdef void statistics_free_with_gil(void* ctx) noexcept nogil:
    statistics_free_block(<adapted_block_t*>ctx, True)


cdef inline void statistics_free_block(adapted_block_t* node, bint has_gil) noexcept nogil:
    cdef statistics_t* statistics = <statistics_t*>node.state
    tally_remove(&statistics.bytes, node.nbytes, has_gil)
    tally_remove(&statistics.count, 1, has_gil)
    adapted_block_free(node, has_gil)


cdef data_ptr_operations_t statistics_operations = data_ptr_operations_t(
    statistics_free, statistics_free_with_gil, b"statistics_free", b"block of a StatisticsAdaptor", adapted_block_facts)
