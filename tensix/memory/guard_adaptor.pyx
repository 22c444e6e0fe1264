"""Writes beyond the ends of a block, found when it is freed.

Note [Guard bytes]
~~~~~~~~~~~~~~~~~~
::

    upstream's block      data (aligned as upstream's)     data + nbytes
    |  guard in front ...  |  nbytes bytes ...               |  guard behind ...

Both guards hold one value. The one in front is as long as the alignment asks, so that data stays aligned. Who writes
the guards' own value into them is not found, nor who writes beyond them or only reads.
"""
from libc.stdint cimport uint8_t, uintptr_t
from libc.string cimport memset
from tensix.core.allocator cimport Allocator_allocate, nbytes_from_any
from tensix.core.data_ptr cimport data_ptr_operations_t, data_ptr_t
from tensix.core.python_reference cimport holds_gil, may_run_python
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

__all__ = ["GuardAdaptor"]

cdef enum:
    GUARD = 0xFD


cdef class GuardAdaptor(Adaptor):
    """Put guard bytes around every block and look at them when it is freed.

    Parameters
    ----------
    upstream : Allocator or None, optional
        Who makes the blocks; None means the allocator that serves the CPU now.
    guard_bytes : int, 1 to 2**30, optional
        How many bytes are guarded behind each block, and at least how many in front of it.

    Raises
    ------
    ValueError
        If the number of guard bytes is out of range.

    Notes
    -----
    A free that finds a guard changed reports a `RuntimeError` through `sys.unraisablehook`, which says how far from the
    block the nearest changed byte is, and frees the block all the same. Reads are not found.

    Lifetime: every block keeps the adaptor alive.

    Thread-safety: that of upstream; the report comes on the thread that frees.

    Examples
    --------
    >>> import ctypes, sys, tensix
    >>> from tensix.memory import GuardAdaptor
    >>> block = GuardAdaptor(tensix.CPUAllocator()).allocate(100)
    >>> _ = ctypes.memset(block.get(), 0, 103)
    >>> sys.unraisablehook = lambda unraisable: print(str(unraisable.exc_value).partition(": ")[2])
    >>> block.clear()
    overrun, 0 bytes behind its end is the nearest changed byte. Look for who wrote to it.
    >>> sys.unraisablehook = sys.__unraisablehook__
    """

    cdef size_t back

    def __cinit__(self):
        self.operations = &guard_operations

    def __init__(self, upstream=None, guard_bytes=64):
        super().__init__(upstream)
        size = nbytes_from_any(guard_bytes)
        if not 1 <= size <= 1 << 30:
            raise ValueError(f"guard_bytes must be from 1 to 2**30, found {guard_bytes}.")
        self.back = size

    @property
    def guard_bytes(self):
        """How many bytes are guarded behind each block."""
        return self.back

    def __repr__(self):
        return f"{type(self).__name__}({self.upstream!r}, {self.back})"

    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef size_t alignment = alignment_of(self.upstream)
        cdef size_t front = (self.back + alignment - 1) // alignment * alignment
        cdef size_t padded = front + nbytes + self.back
        if nbytes == 0:
            return Allocator_allocate(self.upstream, 0, out)
        if padded < nbytes:
            raise OutOfMemoryError(nbytes, self.alignment, CPUAllocator.bytes_in_use())
        cdef adapted_block_t* node = Adaptor_take(self, nbytes, padded, out)
        if node == NULL:  # upstream has no bytes to give, as that of meta tensors
            return 0
        adapted_block_move_up(node, front, out)
        node.note = <void*>self.back
        memset(node.block.data, GUARD, front)
        memset(<uint8_t*>out.data + nbytes, GUARD, self.back)
        return 0


cdef void guard_free(void* ctx) noexcept nogil:
    """Look at the guards of a block that goes. See Note [Guard bytes]."""
    cdef adapted_block_t* node = <adapted_block_t*>ctx
    cdef uint8_t* data = <uint8_t*>node.block.data + node.front
    cdef size_t below = changed_from_the_end(<uint8_t*>node.block.data, node.front)
    cdef size_t above = changed_from_the_beginning(data + node.nbytes, <size_t>node.note)
    if (below or above) and may_run_python():
        with gil:
            report(<uintptr_t>data, node.nbytes, below, above)
    adapted_block_free(node, holds_gil())


cdef size_t changed_from_the_beginning(const uint8_t* guard, size_t nbytes) noexcept nogil:
    """Return the place of the first byte that is changed, from 1, or 0 if there is none."""
    cdef size_t i
    for i in range(nbytes):
        if guard[i] != GUARD:
            return i + 1
    return 0


cdef size_t changed_from_the_end(const uint8_t* guard, size_t nbytes) noexcept nogil:
    """Return the place of the last byte that is changed, from 1 and from the end, or 0 if there is none."""
    cdef size_t i
    for i in range(1, nbytes + 1):
        if guard[nbytes - i] != GUARD:
            return i
    return 0


cdef int report(uintptr_t data, size_t nbytes, size_t below, size_t above) noexcept:
    found = []
    if below:
        found.append(f"underrun, {below} bytes in front of its beginning")
    if above:
        found.append(f"overrun, {above - 1} bytes behind its end")
    raise RuntimeError(  # noexcept: Cython hands it to sys.unraisablehook
        f"the block at {data:#x} of {nbytes:,} bytes was written outside its bounds: {' and '.join(found)} "
        "is the nearest changed byte. Look for who wrote to it."
    )


cdef data_ptr_operations_t guard_operations = data_ptr_operations_t(
    guard_free, NULL, b"guard_free", b"block of a GuardAdaptor", adapted_block_facts)
