"""Blocks at addresses that are multiples of more than upstream promises."""
from libc.stdint cimport uintptr_t
from tensix.core.allocator cimport Allocator_allocate, nbytes_from_any
from tensix.core.data_ptr cimport add_deleter_with_gil, data_ptr_destroy, data_ptr_t
from tensix.core.memory_facts cimport name_deleter
from tensix.core.python_reference cimport holds_gil
from tensix.memory.adaptor cimport (
    Adaptor,
    Adaptor_take,
    adapted_block_facts,
    adapted_block_free,
    adapted_block_move_up,
    adapted_block_t,
    alignment_of,
)

from tensix.core.allocator import OutOfMemoryError
from tensix.core.cpu_allocator import CPUAllocator

__all__ = ["AlignmentAdaptor"]


cdef class AlignmentAdaptor(Adaptor):
    """Give out blocks whose addresses are multiples of a number of bytes, whatever upstream promises.

    Parameters
    ----------
    upstream : Allocator or None
        Who makes the blocks, a little larger than asked for; None means the allocator that serves the CPU now.
    alignment : int, bytes, a power of two from 1 to 2**30
        Every block's address is a multiple of it.

    Raises
    ------
    ValueError
        If the alignment is no power of two in its range.

    Notes
    -----
    ``tensix.empty(..., alignment=4096)`` uses it. Storages keep the promise when they are resized or copied.

    Lifetime: every block keeps the adaptor alive.

    Thread-safety: that of upstream.

    Examples
    --------
    >>> import tensix
    >>> from tensix.memory import AlignmentAdaptor
    >>> with tensix.use_allocator(AlignmentAdaptor(None, 4096)):
    ...     x = tensix.empty(10)
    >>> x.data_ptr() % 4096
    0
    """

    cdef size_t wanted
    cdef size_t extra   # bytes that each block is larger, so that it can be moved up; 0: upstream does it all

    def __cinit__(self):
        self.free_block = alignment_free
        self.wanted = 1

    def __init__(self, upstream, alignment):
        super().__init__(upstream)
        size = alignment_from_any(alignment)
        promised = alignment_of(self.upstream)
        self.wanted, self.extra = size, max(size, promised) - promised

    @property
    def alignment(self):
        """Every block's address is a multiple of so many bytes."""
        return max(self.wanted, alignment_of(self.upstream))

    def __repr__(self):
        return f"{type(self).__name__}({self.upstream!r}, {self.wanted})"

    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef size_t front
        if self.extra == 0 or nbytes == 0:
            Allocator_allocate(self.upstream, nbytes, out)
            return check_promise(self, -<uintptr_t>out.data & (self.wanted - 1), out)
        if nbytes + self.extra < nbytes:
            raise OutOfMemoryError(nbytes, self.wanted, CPUAllocator.bytes_in_use())
        cdef adapted_block_t* node = Adaptor_take(self, nbytes, nbytes + self.extra, out)
        if node == NULL:  # upstream has no bytes to give, as that of meta tensors
            return 0
        front = -<uintptr_t>out.data & (self.wanted - 1)
        check_promise(self, front, out)
        adapted_block_move_up(node, front, out)
        return 0


cdef int check_promise(AlignmentAdaptor self, size_t front, data_ptr_t* out) except -1:
    """Give a block back that would have to be moved up further than it is larger: upstream's promise is not kept."""
    cdef uintptr_t address = <uintptr_t>out.data
    if front > self.extra:
        data_ptr_destroy(out)
        raise RuntimeError(
            f"{type(self.upstream).__name__} gave the address {address:#x}, which is no multiple of its alignment, "
            f"{alignment_of(self.upstream)}. Let it return such addresses, or say what alignment there is."
        )
    return 0


cdef void alignment_free(void* ctx) noexcept nogil:
    adapted_block_free(<adapted_block_t*>ctx, holds_gil())


cdef void alignment_free_with_gil(void* ctx) noexcept nogil:
    adapted_block_free(<adapted_block_t*>ctx, True)


name_deleter(alignment_free, "alignment_free", "block of an AlignmentAdaptor", adapted_block_facts)
add_deleter_with_gil(alignment_free, alignment_free_with_gil)
