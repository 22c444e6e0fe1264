"""Allocators that stand on another allocator, and see every block that comes and goes.

One class after the other: what all adaptors share, then a section for each, in the order of their names. What each
does with a block stands in its ``c_allocate``, what it does when the block goes in a function below, its ``at_free``.

Note [Adapted blocks]
~~~~~~~~~~~~~~~~~~~~~
Most adaptors have to act when a block goes, so the block that they hand out is wrapped: its context is a node, which
owns upstream's block, and its deleter that of nodes. The node keeps the adaptor alive, the adaptor its upstream.
A wrapped block is still simple if upstream's is: copy-on-write keeps the whole block, node and all, and frees it by
its own deleter, so that adaptors see the last share go.

Deleters run with or without the GIL and cannot touch objects; what they need of their adaptor is what it counts, a C
struct to which the node points. There is also the function that the adaptor has called before a block goes. A node
that was made without the GIL cannot keep an object alive: it is one of the owners of that struct. A block of 0 bytes
that upstream answers with null is not a block: it gets no node. An adaptor keeps a few nodes for its next blocks, which
saves a seventh of an allocation and a free; the GIL protects them, and without it none are kept.

Adaptors that align, guard, limit or count allocate without the GIL. The others leave it to the base's c_try_allocate.

Note [Guard bytes]
~~~~~~~~~~~~~~~~~~
::

    upstream's block      data (aligned as upstream's)     data + nbytes
    |  guard in front ...  |  nbytes bytes ...               |  guard behind ...

Both guards hold the same value. The length of the one in front is a multiple of the alignment, so that data stays
aligned. A write of that same value, a write beyond the guards and a read are not found.
"""
import os
import threading
import time
from typing import NamedTuple

cimport cython
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset
from tensix.core.allocator cimport (
    MALLOC_ALIGNMENT_BYTES, NO_MEMORY, Allocator, Allocator_allocate, Allocator_copy_data, Allocator_is_simple,
    Allocator_try_allocate, alignment_from_any, current_allocator, nbytes_from_any, tx_check_stack,
)
from tensix.core.atomics cimport (
    tx_add_fetch_relaxed, tx_compare_exchange_acq_rel, tx_fetch_sub_acq_rel, tx_load_relaxed,
)
from tensix.core.data_ptr cimport (
    DataPtr, data_ptr_destroy, data_ptr_destroy_with_gil, data_ptr_facts, data_ptr_init,
    data_ptr_operations, data_ptr_operations_t, data_ptr_t,
)
from tensix.core.device cimport CPU
from tensix.core.free_threading cimport GIL_EXISTS
from tensix.core.lock cimport take_at_forks, tx_lock_release, tx_lock_t, tx_lock_take
from tensix.core.memory_reports cimport report_out_of_memory
from tensix.core.python_reference cimport drop_python_reference, holds_gil, may_run_python
from tensix.core.usage cimport usage_add, usage_remove, usage_t
from tensix.memory.call_site cimport CallSites, CallSites_capture

from tensix.core.allocator import OutOfMemoryError
from tensix.core.cpu_allocator import CPUAllocator
from tensix._support.format_size import format_size, parse_size
from tensix.memory.caching_allocator import caches_of, check_upstream
from tensix.memory.call_site import Frame

__all__ = [
    "Adaptor", "AlignmentAdaptor", "FailureCallbackAdaptor", "GuardAdaptor", "LimitingAdaptor", "LoggingAdaptor",
    "StatisticsAdaptor", "TrackedBlock", "TrackingAdaptor",
]

cdef enum:
    MAX_SPARE_NODES = 64
    GUARD = 0xFD              # what guard bytes hold


cdef tx_lock_t LOCK = 0   # of the records of all that track

cdef struct adapted_block_t

cdef struct counts_t:     # what an adaptor counts
    usage_t bytes
    usage_t blocks
    uint64_t owners       # the adaptor, and nodes without it
    void (*at_free)(adapted_block_t* node) noexcept nogil  # what it does before a block goes; NULL: nothing


cdef struct adapted_block_t:
    data_ptr_t block      # upstream's; owned
    PyObject* adaptor     # owned; NULL if it was made without the GIL
    counts_t* counts      # of the adaptor; owned if that is NULL
    void* note            # what the adaptor notes about this block; of a spare node, the next one
    size_t nbytes         # asked for
    size_t front          # bytes of upstream's block before what is handed out


@cython.no_gc_clear  # nodes may still need the upstream
cdef class Adaptor(Allocator):
    """Adaptor(upstream=None)\n--\n
    Stand on another allocator; the base of the adaptors in this package.

    Parameters
    ----------
    upstream : Allocator or None, optional
        The allocator that makes the blocks; None means the allocator that serves the CPU now.

    Attributes
    ----------
    upstream : Allocator
        The allocator that makes the blocks.

    Raises
    ------
    ValueError
        If upstream leads to the adaptor itself, or is the topmost of more than 100 allocators.

    Notes
    -----
    Lifetime: every block keeps its adaptor alive, and the adaptor its upstream.

    Thread-safety: blocks may be freed by any thread.

    Examples
    --------
    >>> import tensix
    >>> from tensix.memory import Adaptor
    >>> adaptor = Adaptor(tensix.CPUAllocator(alignment=4096))
    >>> with tensix.use_allocator(adaptor):
    ...     x = tensix.empty(10)
    >>> x.data_ptr() % 4096, x.allocator is adaptor
    (0, True)
    """

    cdef readonly Allocator upstream
    cdef const data_ptr_operations_t* operations  # of all its blocks, or NULL if it hands upstream's on as they are
    cdef counts_t* counts
    cdef int spare_node_count
    cdef adapted_block_t* spare_nodes

    def __cinit__(self, *args, **kwargs):
        upstream = current_allocator(CPU)
        check_upstream(self, upstream)
        self.upstream = upstream
        self.counts = <counts_t*>calloc(1, sizeof(counts_t))
        if self.counts == NULL:
            raise MemoryError("no memory for an adaptor.")
        self.counts.owners = 1

    def __dealloc__(self):
        cdef adapted_block_t* node = self.spare_nodes
        if self.counts != NULL:
            disown(self.counts)
        while node != NULL:
            self.spare_nodes = <adapted_block_t*>node.note
            free(node)
            node = self.spare_nodes

    def __init__(self, upstream=None):
        if upstream is None:
            return
        if not isinstance(upstream, Allocator):
            raise TypeError(f"{type(self).__name__}() needs an Allocator as upstream, found {type(upstream).__name__}.")
        check_upstream(self, upstream)
        self.upstream = upstream

    @property
    def alignment(self):
        """Every block's address is a multiple of so many bytes."""
        return alignment_of(self.upstream)

    def is_simple_data_ptr(self, DataPtr data_ptr not None):
        """Return whether the block can be shared copy-on-write: upstream's answer counts."""
        return Adaptor.c_is_simple(self, data_ptr.seen)

    def __repr__(self):
        return f"{type(self).__name__}({self.upstream!r})"

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        return Allocator_allocate(self.upstream, nbytes, out)

    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1:
        cdef adapted_block_t* node = <adapted_block_t*>pointer.ctx
        if self.operations == NULL or data_ptr_operations(pointer) != self.operations:
            return Allocator_is_simple(self.upstream, pointer)
        return Allocator_is_simple(
            self.upstream if node.adaptor == NULL else (<Adaptor>node.adaptor).upstream, &node.block)

    cdef int c_copy_data(self, void* dst, const void* src, size_t nbytes) except -1:
        return Allocator_copy_data(self.upstream, dst, src, nbytes)


cdef inline adapted_block_t* Adaptor_take(Adaptor self, size_t nbytes, size_t padded, data_ptr_t* out) except? NULL:
    """Ask upstream for `padded` bytes and hand out `nbytes` of them in a node; NULL for a null block.

    Upstream fills in the node's own struct: to copy one that was just written takes longer than to write it.
    """
    cdef adapted_block_t* node = self.spare_nodes
    cdef bint is_block = False
    if node != NULL:
        self.spare_nodes = <adapted_block_t*>node.note
        self.spare_node_count -= 1
    else:
        node = <adapted_block_t*>malloc(sizeof(adapted_block_t))
        if node == NULL:
            raise MemoryError("no memory for the node of a block.")
    try:
        Allocator_allocate(self.upstream, padded, &node.block)
        is_block = node.block.ctx != NULL or node.block.data != NULL
        if not is_block:
            out[0] = node.block  # null, and the device that it would have been on
    finally:
        if not is_block:
            Adaptor_keep(self, node)
    if not is_block:
        return NULL
    Py_INCREF(self)
    node.adaptor = <PyObject*>self
    hand_out(self, node, nbytes, out)
    return node


cdef int Adaptor_try_take(
        Adaptor self, size_t nbytes, size_t padded, data_ptr_t* out, adapted_block_t** made) noexcept nogil:
    """Do the same without the GIL; returns 0, NO_MEMORY or NEEDS_GIL."""
    cdef adapted_block_t* node = <adapted_block_t*>malloc(sizeof(adapted_block_t))
    cdef int status = NO_MEMORY if node == NULL else Allocator_try_allocate(self.upstream, padded, &node.block)
    made[0] = NULL
    if status != 0:
        free(node)
    elif node.block.ctx == NULL and node.block.data == NULL:
        out[0] = node.block
        free(node)
    else:
        node.adaptor = NULL
        tx_add_fetch_relaxed(&self.counts.owners, 1)
        hand_out(self, node, nbytes, out)
        made[0] = node
    return status


cdef inline void hand_out(Adaptor self, adapted_block_t* node, size_t nbytes, data_ptr_t* out) noexcept nogil:
    """Fill in a node that has its block, and what owns it."""
    node.counts, node.note, node.nbytes, node.front = self.counts, NULL, nbytes, 0
    data_ptr_init(out, node.block.data, node, self.operations)
    out.device_type, out.device_index = node.block.device_type, node.block.device_index


cdef inline void disown(counts_t* counts) noexcept nogil:
    """Drop one owner of what an adaptor counts; the last one frees it."""
    if tx_fetch_sub_acq_rel(&counts.owners, 1) == 1:
        free(counts)


cdef inline void Adaptor_keep(Adaptor self, adapted_block_t* node) noexcept nogil:
    """Keep a node for the next block; with the GIL."""
    if GIL_EXISTS and self.spare_node_count < MAX_SPARE_NODES:
        node.note = self.spare_nodes
        self.spare_nodes = node
        self.spare_node_count = self.spare_node_count + 1  # by +=, Cython needs the GIL in a debug build
    else:
        free(node)


cdef void adapted_block_free(void* ctx) noexcept nogil:
    """Free a block and its node; the deleter of them all."""
    free_adapted_block(<adapted_block_t*>ctx, holds_gil())


cdef void adapted_block_free_with_gil(void* ctx) noexcept nogil:
    free_adapted_block(<adapted_block_t*>ctx, True)


cdef inline void free_adapted_block(adapted_block_t* node, bint has_gil) noexcept nogil:
    cdef PyObject* adaptor = node.adaptor
    if node.counts.at_free != NULL:
        node.counts.at_free(node)
    if has_gil:
        data_ptr_destroy_with_gil(&node.block)
    else:
        data_ptr_destroy(&node.block)
    if adaptor == NULL:
        disown(node.counts)
    if has_gil and adaptor != NULL:
        Adaptor_keep(<Adaptor>adaptor, node)
    else:
        free(node)
    drop_python_reference(adaptor, has_gil)


cdef size_t alignment_of(Allocator allocator) except 0:
    """Return what an allocator says about its alignment; if it says nothing, that of the C library's heap."""
    found = getattr(allocator, "alignment", MALLOC_ALIGNMENT_BYTES)
    if not isinstance(found, int) or found <= 0 or found & (found - 1) or found >> 62:
        raise ValueError(f"{type(allocator).__name__}.alignment must be a power of two, found {found!r}.")
    return found


cdef object cached_bytes(Allocator allocator):
    """Return the bytes that the caches from an allocator upstream keep, None if there is no cache."""
    cached = [cache.stats().cached for cache in caches_of(allocator)]
    return sum(cached) if cached else None


cdef void adapted_block_move_up(adapted_block_t* node, size_t nbytes, data_ptr_t* out) noexcept nogil:
    """Let the block that is handed out begin so many bytes after the beginning of upstream's block."""
    node.front = nbytes
    out.data = <char*>node.block.data + nbytes


cdef dict adapted_block_facts(void* node):
    """Say what a block of an adaptor is. See Note [Operations of a block]."""
    return {"nbytes": (<adapted_block_t*>node).nbytes, "block": data_ptr_facts(&(<adapted_block_t*>node).block)}


cdef data_ptr_operations_t operations_of(const char* context) noexcept:
    return data_ptr_operations_t(
        adapted_block_free, adapted_block_free_with_gil, b"adapted_block_free", context, adapted_block_facts)


cdef class AlignmentAdaptor(Adaptor):
    """AlignmentAdaptor(upstream, alignment)\n--\n
    Give out blocks whose addresses are multiples of a number of bytes, whatever upstream promises.

    Parameters
    ----------
    upstream : Allocator or None
        The allocator that makes the blocks, a little larger than asked for; None means the one that serves the CPU now.
    alignment : int, bytes, a power of two from 1 to 2**30
        Every block's address is a multiple of it.

    Raises
    ------
    ValueError
        If the alignment is not a power of two in its range.

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
        self.operations = &alignment_operations
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

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
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

    cdef int c_try_allocate(self, size_t nbytes, data_ptr_t* out) noexcept nogil:
        cdef size_t front
        cdef adapted_block_t* node
        cdef int status
        if self.extra == 0 or nbytes == 0 or nbytes + self.extra < nbytes:
            return Allocator.c_try_allocate(self, nbytes, out)
        status = Adaptor_try_take(self, nbytes, nbytes + self.extra, out, &node)
        if node == NULL:
            return status
        front = -<uintptr_t>out.data & (self.wanted - 1)
        if front > self.extra:
            data_ptr_destroy(out)
            return Allocator.c_try_allocate(self, nbytes, out)  # which says why that is an error
        adapted_block_move_up(node, front, out)
        return 0


cdef int check_promise(AlignmentAdaptor self, size_t front, data_ptr_t* out) except -1:
    """Free a block and raise if it is too small to be aligned, because upstream did not keep its alignment."""
    cdef uintptr_t address = <uintptr_t>out.data
    if front > self.extra:
        data_ptr_destroy(out)
        raise RuntimeError(
            f"{type(self.upstream).__name__} gave the address {address:#x}, which is not a multiple of its alignment, "
            f"{alignment_of(self.upstream)}. Let it return such addresses, or say what alignment there is."
        )
    return 0


cdef data_ptr_operations_t alignment_operations = operations_of(b"block of an AlignmentAdaptor")


cdef class FailureCallbackAdaptor(Adaptor):
    """FailureCallbackAdaptor(upstream, callback)\n--\n
    Call a function when upstream has no memory, and ask upstream once more if it says so.

    Parameters
    ----------
    upstream : Allocator or None
        The allocator that makes the blocks; None means the allocator that serves the CPU now.
    callback : callable
        Called as ``callback(nbytes)`` for every `MemoryError` of upstream. What it returns says whether to try again:
        as often as it returns true. What it raises is raised.

    Attributes
    ----------
    callback : callable
        As given.

    Raises
    ------
    TypeError
        If the callback cannot be called.

    Notes
    -----
    Lifetime: the adaptor keeps the callback alive; its blocks are upstream's own and keep neither.

    Thread-safety: the callback may run on several threads at once.

    Examples
    --------
    >>> import tensix
    >>> from tensix.memory import FailureCallbackAdaptor, LimitingAdaptor
    >>> limited = LimitingAdaptor(None, "1KiB")
    >>> kept = [limited.allocate(1000)]
    >>> def drop_one(nbytes):
    ...     print("no space for", nbytes)
    ...     return bool(kept and kept.pop())
    >>> FailureCallbackAdaptor(limited, drop_one).allocate(500).get() != 0
    no space for 500
    True
    """

    cdef readonly object callback

    def __init__(self, upstream, callback):
        super().__init__(upstream)
        if not callable(callback):
            raise TypeError(f"{type(self).__name__}() needs a callable, found {type(callback).__name__}.")
        self.callback = callback

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        while True:
            try:
                return Allocator_allocate(self.upstream, nbytes, out)
            except MemoryError:
                tx_check_stack("the callback of an adaptor")
                if self.callback is None or not self.callback(nbytes):
                    raise


cdef class GuardAdaptor(Adaptor):
    """GuardAdaptor(upstream=None, guard_bytes=64)\n--\n
    Put guard bytes around every block and check them when it is freed.

    Parameters
    ----------
    upstream : Allocator or None, optional
        The allocator that makes the blocks; None means the allocator that serves the CPU now.
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
    overrun, 0 bytes behind its end is the nearest changed byte. Find the code that wrote to it.
    >>> sys.unraisablehook = sys.__unraisablehook__
    """

    cdef size_t front
    cdef size_t back

    def __cinit__(self):
        self.operations, self.counts.at_free = &guard_operations, check_guards

    def __init__(self, upstream=None, guard_bytes=64):
        super().__init__(upstream)
        size = nbytes_from_any(guard_bytes)
        if not 1 <= size <= 1 << 30:
            raise ValueError(f"guard_bytes must be from 1 to 2**30, found {guard_bytes}.")
        alignment = alignment_of(self.upstream)
        self.front, self.back = (size + alignment - 1) // alignment * alignment, size

    @property
    def guard_bytes(self):
        """How many bytes are guarded behind each block."""
        return self.back

    def __repr__(self):
        return f"{type(self).__name__}({self.upstream!r}, {self.back})"

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef size_t padded = self.front + nbytes + self.back
        if nbytes == 0:
            return Allocator_allocate(self.upstream, 0, out)
        if padded < nbytes:
            raise OutOfMemoryError(nbytes, self.alignment, CPUAllocator.bytes_in_use())
        cdef adapted_block_t* node = Adaptor_take(self, nbytes, padded, out)
        if node != NULL:  # else upstream has no bytes to give, as that of meta tensors
            write_guards(self, node, out)
        return 0

    cdef int c_try_allocate(self, size_t nbytes, data_ptr_t* out) noexcept nogil:
        cdef size_t padded = self.front + nbytes + self.back
        cdef adapted_block_t* node
        cdef int status
        if nbytes == 0 or padded < nbytes:
            return Allocator.c_try_allocate(self, nbytes, out)
        status = Adaptor_try_take(self, nbytes, padded, out, &node)
        if node != NULL:
            write_guards(self, node, out)
        return status


cdef void write_guards(GuardAdaptor self, adapted_block_t* node, data_ptr_t* out) noexcept nogil:
    """Let what is handed out lie between guards. See Note [Guard bytes]."""
    adapted_block_move_up(node, self.front, out)
    node.note = <void*>self.back
    memset(node.block.data, GUARD, self.front)
    memset(<uint8_t*>out.data + node.nbytes, GUARD, self.back)


cdef void check_guards(adapted_block_t* node) noexcept nogil:
    """Check the guards of a block that goes. See Note [Guard bytes]."""
    cdef uint8_t* data = <uint8_t*>node.block.data + node.front
    cdef size_t below = changed_from(data - 1, -1, node.front)
    cdef size_t above = changed_from(data + node.nbytes, 1, <size_t>node.note)
    if (below or above) and may_run_python():
        with gil:
            report_changed_guards(<uintptr_t>data, node.nbytes, below, above)


cdef size_t changed_from(const uint8_t* first, int step, size_t nbytes) noexcept nogil:
    """Return how far from the block, from 1, the nearest byte of a guard is that is changed, 0 if there is none."""
    cdef size_t i
    for i in range(nbytes):
        if first[<Py_ssize_t>i * step] != GUARD:
            return i + 1
    return 0


cdef int report_changed_guards(uintptr_t data, size_t nbytes, size_t below, size_t above) noexcept:
    found = []
    if below:
        found.append(f"underrun, {below} bytes in front of its beginning")
    if above:
        found.append(f"overrun, {above - 1} bytes behind its end")
    raise RuntimeError(  # noexcept: Cython hands it to sys.unraisablehook
        f"the block at {data:#x} of {nbytes:,} bytes was written outside its bounds: {' and '.join(found)} "
        "is the nearest changed byte. Find the code that wrote to it."
    )


cdef data_ptr_operations_t guard_operations = operations_of(b"block of a GuardAdaptor")


cdef class LimitingAdaptor(Adaptor):
    """LimitingAdaptor(upstream, limit)\n--\n
    Refuse what would bring the bytes in use above a limit.

    Parameters
    ----------
    upstream : Allocator or None
        The allocator that makes the blocks; None means the allocator that serves the CPU now.
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

    cdef size_t most

    def __cinit__(self):
        self.operations, self.counts.at_free = &limiting_operations, subtract_bytes

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
        return self.counts.bytes.current

    def __repr__(self):
        return f"{type(self).__name__}({self.upstream!r}, '{format_size(self.most)}')"

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef bint is_block = False
        if not reserve(self.counts, nbytes, self.most):
            report_out_of_memory(nbytes, CPU)
            raise OutOfMemoryError(
                nbytes, self.alignment, self.counts.bytes.current, self.most, cached_bytes(self.upstream))
        try:
            is_block = Adaptor_take(self, nbytes, nbytes, out) != NULL
        finally:
            if not is_block:
                usage_remove(&self.counts.bytes, nbytes)
        return 0

    cdef int c_try_allocate(self, size_t nbytes, data_ptr_t* out) noexcept nogil:
        cdef adapted_block_t* node
        cdef int status
        if not reserve(self.counts, nbytes, self.most):
            return NO_MEMORY
        status = Adaptor_try_take(self, nbytes, nbytes, out, &node)
        if node == NULL:
            usage_remove(&self.counts.bytes, nbytes)
        return status


cdef inline bint reserve(counts_t* counts, size_t nbytes, size_t most) noexcept nogil:
    """Add bytes to those in use, before upstream is asked; return whether they are within the limit."""
    cdef uint64_t in_use = tx_load_relaxed(&counts.bytes.current)
    while nbytes == 0 or (in_use <= most and nbytes <= most - in_use):
        if tx_compare_exchange_acq_rel(&counts.bytes.current, &in_use, in_use + nbytes):
            return True
    return False


cdef void subtract_bytes(adapted_block_t* node) noexcept nogil:
    usage_remove(&node.counts.bytes, node.nbytes)


cdef data_ptr_operations_t limiting_operations = operations_of(b"block of a LimitingAdaptor")


@cython.no_gc_clear  # blocks that are left, and __dealloc__, still need the file
cdef class LoggingAdaptor(Adaptor):
    """LoggingAdaptor(upstream, file)\n--\n
    Write a line of JSON for every allocation, free and failure.

    Parameters
    ----------
    upstream : Allocator or None
        The allocator that makes the blocks; None means the allocator that serves the CPU now.
    file : str, path or text file
        Where to write. A path is overwritten, line by line, and closed with the last block; a file stays open.

    Raises
    ------
    OSError
        If the file cannot be opened or, from `allocate`, written; nothing is allocated then.

    Notes
    -----
    Lines have ``event`` (``"allocate"``, ``"free"`` or ``"fail"``), ``time`` in seconds since the epoch, ``thread``
    (`threading.get_ident`), ``nbytes``, and ``address`` unless it failed. If a free cannot be written, the error goes
    to `sys.unraisablehook`. Nothing is written any more once Python is being finalized.

    Lifetime: every block keeps the adaptor alive, and the adaptor the file.

    Thread-safety: lines are whole if the file's ``write`` is. A free is written before the address can be given out
    again.

    Examples
    --------
    >>> import io, json, tensix
    >>> from tensix.memory import LoggingAdaptor
    >>> log = io.StringIO()
    >>> LoggingAdaptor(None, log).allocate(100).clear()
    >>> [(line["event"], line["nbytes"]) for line in map(json.loads, log.getvalue().splitlines())]
    [('allocate', 100), ('free', 100)]
    """

    cdef object write
    cdef object own_file   # to be closed by us, or None

    def __cinit__(self):
        self.operations, self.counts.at_free = &logging_operations, log_free

    def __dealloc__(self):
        if <PyObject*>self.own_file != NULL and self.own_file is not None:  # null if the base could not be made
            self.own_file.close()

    def __init__(self, upstream, file):
        super().__init__(upstream)
        if isinstance(file, str) or isinstance(file, os.PathLike):
            self.own_file = file = open(file, "w", buffering=1, encoding="utf-8")
        if not hasattr(file, "write"):
            raise TypeError(f"LoggingAdaptor() writes to a path or to a file, found {type(file).__name__}.")
        self.write = file.write

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef adapted_block_t* node
        try:
            node = Adaptor_take(self, nbytes, nbytes, out)
        except MemoryError:
            write_line(self, "fail", 0, nbytes)
            raise
        if node == NULL:
            return 0
        try:
            write_line(self, "allocate", <uintptr_t>out.data, nbytes)
        except BaseException:
            data_ptr_destroy(out)
            raise
        node.note = <void*>self  # not owned: it says that there is a line for the allocation
        return 0


cdef int write_line(LoggingAdaptor self, str event, uintptr_t address, size_t nbytes) except -1:
    place = f'"address": {address}, ' if address else ""
    self.write(
        f'{{"event": "{event}", "time": {time.time():.6f}, "thread": {threading.get_ident()}, {place}'
        f'"nbytes": {nbytes}}}\n'
    )
    return 0


cdef void log_free(adapted_block_t* node) noexcept nogil:
    """Write a line before the block goes, so that its address is not given out before."""
    if node.note != NULL and may_run_python():
        with gil:  # noexcept: Cython hands what is raised to sys.unraisablehook
            write_line(<LoggingAdaptor>node.adaptor, "free", <uintptr_t>node.block.data, node.nbytes)


cdef data_ptr_operations_t logging_operations = operations_of(b"block of a LoggingAdaptor")


cdef class StatisticsAdaptor(Adaptor):
    """Count the blocks and bytes that come from an allocator and go back.

    Parameters
    ----------
    upstream : Allocator or None, optional
        The allocator that makes the blocks; None means the allocator that serves the CPU now.

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

    def __cinit__(self):
        self.operations, self.counts.at_free = &statistics_operations, subtract_block

    def __init__(self, upstream=None):  # for errors of arguments that do not fit: they name the class that has it
        Adaptor.__init__(self, upstream)

    @property
    def current_bytes(self):
        """Bytes in use."""
        return self.counts.bytes.current

    @property
    def current_count(self):
        """Blocks in use."""
        return self.counts.blocks.current

    @property
    def peak_bytes(self):
        """The most bytes that were in use at once, since the beginning or `reset_peak`."""
        return self.counts.bytes.peak

    @property
    def peak_count(self):
        """The most blocks that were in use at once, since the beginning or `reset_peak`."""
        return self.counts.blocks.peak

    @property
    def total_bytes(self):
        """Bytes ever allocated."""
        return self.counts.bytes.total

    @property
    def total_count(self):
        """Blocks ever allocated."""
        return self.counts.blocks.total

    def reset_peak(self):
        """Let the peaks start from what is in use now."""
        self.counts.bytes.peak = self.counts.bytes.current
        self.counts.blocks.peak = self.counts.blocks.current

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        if Adaptor_take(self, nbytes, nbytes, out) != NULL:
            count_block(self.counts, nbytes)
        return 0

    cdef int c_try_allocate(self, size_t nbytes, data_ptr_t* out) noexcept nogil:
        cdef adapted_block_t* node
        cdef int status = Adaptor_try_take(self, nbytes, nbytes, out, &node)
        if node != NULL:
            count_block(self.counts, nbytes)
        return status


cdef inline void count_block(counts_t* counts, size_t nbytes) noexcept nogil:
    usage_add(&counts.bytes, nbytes)
    usage_add(&counts.blocks, 1)


cdef void subtract_block(adapted_block_t* node) noexcept nogil:
    usage_remove(&node.counts.bytes, node.nbytes)
    usage_remove(&node.counts.blocks, 1)


cdef data_ptr_operations_t statistics_operations = operations_of(b"block of a StatisticsAdaptor")


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
    place : Frame
        The one of these that it belongs to, as `CallSites.place` says; its file is ``"?"`` if there is none.
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    address: int
    nbytes: int
    frames: list
    place: Frame


cdef struct tracked_block_t:
    uintptr_t address
    size_t nbytes
    uint32_t site
    tracked_block_t* next        # younger; a ring with the adaptor's own record in it
    tracked_block_t* previous


cdef class TrackingAdaptor(Adaptor):
    """TrackingAdaptor(upstream=None, depth=32, through=None)\n--\n
    Remember the living blocks of an allocator with the lines that asked for them.

    Parameters
    ----------
    upstream : Allocator or None, optional
        The allocator that makes the blocks; None means the allocator that serves the CPU now.
    depth : int, 1 to 64, optional
        The most frames to remember of each call, as of `CallSites`.
    through : list of str or path-like, optional
        Packages whose lines are not the user's, as of `CallSites`; by default all that are installed.

    Attributes
    ----------
    call_sites : CallSites
        The stacks seen so far.

    Raises
    ------
    ValueError
        If the depth is out of range, or a package or folder of `through` is not there.
    TypeError
        If `through` is not a list.

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
    cdef tracked_block_t ring   # with the lock

    def __cinit__(self):
        self.operations, self.counts.at_free = &tracking_operations, forget_block
        self.ring.next = self.ring.previous = &self.ring
        self.call_sites = CallSites()

    def __init__(self, upstream=None, depth=32, through=None):
        super().__init__(upstream)
        if len(self.call_sites) == 0:
            self.call_sites = CallSites(depth, through)

    def blocks(self):
        """Return a list of `TrackedBlock`, one for each living block, oldest first."""
        cdef size_t count = 0, found = 1
        cdef tracked_block_t* copies = NULL
        # Copied first: making a list may run the collector, and that may free blocks.
        while found > count:
            count = found
            free(copies)
            copies = <tracked_block_t*>malloc(count * sizeof(tracked_block_t))
            if copies == NULL:
                raise MemoryError(f"no memory for a list of {count:,} blocks.")
            found = copy_ring(&self.ring, copies, count)
        count = found
        sites, blocks = self.call_sites, []
        try:
            for i in range(count):
                frames, place = sites.frames(copies[i].site), sites.place(copies[i].site)
                blocks.append(TrackedBlock(copies[i].address, copies[i].nbytes, frames, place))
            return blocks
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
            nbytes, count = sums.get(block.place, (0, 0))
            sums[block.place] = nbytes + block.nbytes, count + 1
        lines = [
            f"{format_size(nbytes):>12}  {count:>8}  {place}"
            for place, (nbytes, count) in sorted(sums.items(), key=lambda item: -item[1][0])[:most]
        ]
        return "\n".join([f"{'bytes':>12}  {'blocks':>8}  asked for in", *lines])

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        cdef adapted_block_t* node
        cdef tracked_block_t* record
        node = Adaptor_take(self, nbytes, nbytes, out)
        if node == NULL:
            return 0
        record = <tracked_block_t*>malloc(sizeof(tracked_block_t))
        if record == NULL:
            data_ptr_destroy(out)  # the node has no record yet
            raise MemoryError("no memory to keep track of a block.")
        record.address, record.nbytes = <uintptr_t>out.data, nbytes
        record.site = CallSites_capture(self.call_sites)
        tx_lock_take(&LOCK)
        record.next, record.previous = &self.ring, self.ring.previous
        self.ring.previous.next = record
        self.ring.previous = record
        tx_lock_release(&LOCK)
        node.note = record
        return 0


cdef size_t copy_ring(const tracked_block_t* ring, tracked_block_t* copies, size_t most) noexcept nogil:
    """Copy as many records as there is space for, and return how many there are."""
    cdef const tracked_block_t* record
    cdef size_t count = 0
    tx_lock_take(&LOCK)
    record = ring.next
    while record != ring:
        if count < most:
            copies[count] = record[0]
        count += 1
        record = record.next
    tx_lock_release(&LOCK)
    return count


cdef void forget_block(adapted_block_t* node) noexcept nogil:
    cdef tracked_block_t* record = <tracked_block_t*>node.note
    if record != NULL:
        tx_lock_take(&LOCK)
        record.next.previous = record.previous
        record.previous.next = record.next
        tx_lock_release(&LOCK)
        free(record)


cdef data_ptr_operations_t tracking_operations = operations_of(b"block of a TrackingAdaptor")


take_at_forks(&LOCK)
