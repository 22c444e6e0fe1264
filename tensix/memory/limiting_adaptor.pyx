"""A bound on the bytes in use."""
from tensix.core.data_ptr cimport add_deleter_with_gil, data_ptr_t
from tensix.core.device cimport CPU
from tensix.core.memory_facts cimport name_deleter
from tensix.core.memory_reports cimport report_out_of_memory
from tensix.core.python_reference cimport holds_gil
from tensix.memory.adaptor cimport (
    Adaptor,
    Adaptor_take,
    adapted_block_facts,
    adapted_block_free,
    adapted_block_t,
    cached_bytes,
)
from tensix.core.tally cimport tally_add, tally_current, tally_remove, tally_t

from tensix.core.allocator import OutOfMemoryError
from tensix.core.format_size import format_size, parse_size

__all__ = ["LimitingAdaptor"]


cdef class LimitingAdaptor(Adaptor):
    """Refuse what would bring the bytes in use above a limit.

    Parameters
    ----------
    upstream : Allocator or None
        Who makes the blocks; None means the allocator that serves the CPU now.
    limit : int or str
        The most bytes in use at once, such as ``"1GiB"``.

    Raises
    ------
    ValueError
        If the limit is negative, or no number with a unit of bytes.

    Notes
    -----
    Bytes are those asked for. What an upstream `CachingAllocator` keeps for reuse is not in use and not limited; to
    limit both, put the cache over the adaptor: it gives back what it keeps before it fails. It asks for up to an eighth
    more than it is asked for, and that is what counts then and what the error names.

    Lifetime: every block keeps the adaptor alive.

    Thread-safety: the limit holds for all threads together.

    Examples
    --------
    >>> import tensix
    >>> from tensix.memory import LimitingAdaptor
    >>> with tensix.use_allocator(LimitingAdaptor(tensix.CPUAllocator(), "1KiB")) as limited:
    ...     x = tensix.empty(200)
    ...     try:
    ...         tensix.empty(100)
    ...     except MemoryError as error:
    ...         print(str(error)[:66])
    cannot allocate 400 bytes (alignment 64): limit 1,024, in use 800.
    >>> limited.in_use, limited.limit
    (800, 1024)
    """

    cdef tally_t tally
    cdef size_t most

    def __cinit__(self):
        self.free_block = limiting_free
        self.state = &self.tally

    def __init__(self, upstream, limit):
        super().__init__(upstream)
        self.limit = limit

    @property
    def limit(self):
        """The most bytes in use at once; may be set, also below what is in use."""
        return self.most

    @limit.setter
    def limit(self, limit):
        self.most = min(parse_size(limit), <size_t>1 << 62)

    @property
    def in_use(self):
        """Bytes in use."""
        return tally_current(&self.tally)

    def __repr__(self):
        return f"{type(self).__name__}({self.upstream!r}, '{format_size(self.most)}')"

    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef bint is_block = False
        cdef size_t in_use = tally_current(&self.tally)
        if nbytes != 0 and (in_use > self.most or nbytes > self.most - in_use):
            report_out_of_memory(nbytes, CPU)
            raise OutOfMemoryError(nbytes, self.alignment, in_use, self.most, cached_bytes(self.upstream))
        tally_add(&self.tally, nbytes)  # before upstream lets other threads run, so that they find what is left
        try:
            is_block = Adaptor_take(self, nbytes, nbytes, out) != NULL
        finally:
            if not is_block:
                tally_remove(&self.tally, nbytes, True)
        return 0


cdef void limiting_free(void* ctx) noexcept nogil:
    """Make room."""
    limiting_free_block(<adapted_block_t*>ctx, holds_gil())


cdef void limiting_free_with_gil(void* ctx) noexcept nogil:
    limiting_free_block(<adapted_block_t*>ctx, True)


cdef inline void limiting_free_block(adapted_block_t* node, bint has_gil) noexcept nogil:
    tally_remove(<tally_t*>node.state, node.nbytes, has_gil)
    adapted_block_free(node, has_gil)


name_deleter(limiting_free, "limiting_free", "block of a LimitingAdaptor", adapted_block_facts)
add_deleter_with_gil(limiting_free, limiting_free_with_gil)
