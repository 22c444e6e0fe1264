"""Every living block of an allocator, and the lines of Python that asked for it."""
from typing import NamedTuple

from libc.stdint cimport uint32_t, uintptr_t
from libc.stdlib cimport free, malloc
from tensix.core.data_ptr cimport data_ptr_destroy, data_ptr_operations_t, data_ptr_t
from tensix.core.python_reference cimport holds_gil, may_run_python
from tensix.memory.adaptor cimport Adaptor, Adaptor_take, adapted_block_facts, adapted_block_free, adapted_block_t
from tensix.memory.call_site cimport CallSites, CallSites_capture

from tensix.core.format_size import format_size

__all__ = ["TrackedBlock", "TrackingAdaptor"]


class TrackedBlock(NamedTuple):
    """Say what a living block is and where it was asked for.

    Attributes
    ----------
    address : int
        Of its bytes.
    nbytes : int
        Bytes asked for.
    frames : list of Frame
        The calls that led to it, innermost first; those inside tensix are left out.
    """

    address: int
    nbytes: int
    frames: list


cdef struct record_t:
    uintptr_t address
    size_t nbytes
    uint32_t site
    record_t* next        # younger; a ring with the adaptor's own record in it
    record_t* previous


cdef class TrackingAdaptor(Adaptor):
    """Remember the living blocks of an allocator with the lines that asked for them.

    Parameters
    ----------
    upstream : Allocator or None, optional
        Who makes the blocks; None means the allocator that serves the CPU now.
    depth : int, 1 to 64, optional
        The most frames to remember of each call.

    Attributes
    ----------
    call_sites : CallSites
        The stacks seen so far.

    Raises
    ------
    ValueError
        If the depth is out of range.

    Notes
    -----
    Lifetime: every block keeps the adaptor alive. The adaptor keeps the code of the functions that it has seen, no
    frame and no variable.

    Thread-safety: any number of threads may allocate and free at once.

    Examples
    --------
    >>> import tensix
    >>> from tensix.memory import TrackingAdaptor
    >>> def make():
    ...     return tensix.empty(100)
    >>> with tensix.use_allocator(TrackingAdaptor()) as tracking:
    ...     x = make()
    >>> [block] = tracking.blocks()
    >>> block.nbytes, block.frames[0].function
    (400, 'make')
    >>> del x
    >>> tracking.blocks()
    []
    """

    cdef readonly CallSites call_sites
    cdef record_t ring   # the GIL protects it

    def __cinit__(self):
        self.operations = &tracking_operations
        self.state = &self.ring
        self.ring.next = self.ring.previous = &self.ring
        self.call_sites = CallSites()

    def __init__(self, upstream=None, depth=32):
        super().__init__(upstream)
        if depth != self.call_sites.depth and len(self.call_sites) == 0:
            self.call_sites = CallSites(depth)

    def blocks(self):
        """Return a list of `TrackedBlock`, one for each living block, oldest first."""
        cdef size_t count = 0
        cdef record_t* record = self.ring.next
        cdef record_t* copies
        while record != &self.ring:
            count += 1
            record = record.next
        # Copied first: making a list may run the collector, and that may free blocks.
        copies = <record_t*>malloc((count + 1) * sizeof(record_t))
        if copies == NULL:
            raise MemoryError(f"no memory for a list of {count:,} blocks.")
        count, record = 0, self.ring.next
        while record != &self.ring:
            copies[count] = record[0]
            count += 1
            record = record.next
        try:
            return [
                TrackedBlock(copies[i].address, copies[i].nbytes, self.call_sites.frames(copies[i].site))
                for i in range(count)
            ]
        finally:
            free(copies)

    def table(self, most=10):
        """Return a text with a line for each place that holds memory, the largest first.

        Parameters
        ----------
        most : int, optional
            The most lines.
        """
        sums = {}
        for block in self.blocks():
            place = str(block.frames[0]) if block.frames else "(no Python frame)"
            nbytes, count = sums.get(place, (0, 0))
            sums[place] = nbytes + block.nbytes, count + 1
        lines = [
            f"{format_size(nbytes):>12}  {count:>8}  {place}"
            for place, (nbytes, count) in sorted(sums.items(), key=lambda item: -item[1][0])[:most]
        ]
        return "\n".join([f"{'bytes':>12}  {'blocks':>8}  asked for in", *lines])

    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef adapted_block_t* node
        cdef record_t* record
        node = Adaptor_take(self, nbytes, nbytes, out)
        if node == NULL:
            return 0
        record = <record_t*>malloc(sizeof(record_t))
        if record == NULL:
            data_ptr_destroy(out)  # the node has no record yet
            raise MemoryError("no memory to keep track of a block.")
        record.address, record.nbytes = <uintptr_t>out.data, nbytes
        record.site = CallSites_capture(self.call_sites)
        record.next, record.previous = &self.ring, self.ring.previous
        self.ring.previous.next = record
        self.ring.previous = record
        node.note = record
        return 0


cdef void tracking_free(void* ctx) noexcept nogil:
    """Forget a block that goes; after finalisation has begun, whoever has no GIL leaves it to the system."""
    cdef adapted_block_t* node = <adapted_block_t*>ctx
    if node.note != NULL:
        if not (may_run_python() or holds_gil()):
            return
        with gil:
            forget(<record_t*>node.note)
    adapted_block_free(node, holds_gil())


cdef void forget(record_t* record) noexcept:
    record.next.previous = record.previous
    record.previous.next = record.next
    free(record)


cdef data_ptr_operations_t tracking_operations = data_ptr_operations_t(
    tracking_free, NULL, b"tracking_free", b"block of a TrackingAdaptor", adapted_block_facts)
