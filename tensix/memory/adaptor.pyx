"""Allocators over another allocator, which see every block that comes and goes.

Note [Adapted blocks]
~~~~~~~~~~~~~~~~~~~~~
Most adaptors have to act when a block goes, so the block that they hand out is wrapped: its context is a node, which
owns upstream's block, and its deleter the adaptor's. The node keeps the adaptor alive, the adaptor its upstream.
A wrapped block is still simple if upstream's is: copy-on-write keeps the whole block, node and all, and frees it by
its own deleter, so that adaptors see the last share go.

Deleters run with or without the GIL and cannot touch objects; what they need of their adaptor is a C struct in it, to
which the node points. A block of 0 bytes that upstream answers with null is no block: it gets no node. An adaptor
keeps a few nodes for its next blocks; the GIL protects them.
"""
cimport cython
from libc.stdlib cimport free, malloc
from tensix.core.allocator cimport (
    Allocator,
    Allocator_allocate,
    Allocator_copy_data,
    Allocator_is_simple,
    current_allocator,
    nbytes_from_any,
)
from tensix.core.data_ptr cimport DataPtr, DataPtr_wrap, data_ptr_facts, data_ptr_operations, data_ptr_t
from tensix.core.device cimport CPU

from tensix.memory.caching_allocator import CachingAllocator, refuse_circle

__all__ = ["Adaptor"]

cdef enum:
    MALLOC_ALIGNMENT_BYTES = 16


@cython.no_gc_clear  # nodes may still need the upstream
cdef class Adaptor(Allocator):
    """Be an allocator over another one; the base of those in this package.

    Parameters
    ----------
    upstream : Allocator or None, optional
        Who makes the blocks; None means the allocator that serves the CPU now.

    Attributes
    ----------
    upstream : Allocator
        Who makes the blocks.

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

    def __cinit__(self, *args, **kwargs):
        self.upstream = current_allocator(CPU)

    def __dealloc__(self):
        cdef adapted_block_t* node = self.spare_nodes
        while node != NULL:
            self.spare_nodes = <adapted_block_t*>node.note
            free(node)
            node = self.spare_nodes

    def __init__(self, upstream=None):
        if upstream is None:
            return
        if not isinstance(upstream, Allocator):
            raise TypeError(f"{type(self).__name__}() needs an Allocator as upstream, found {type(upstream).__name__}.")
        refuse_circle(self, upstream)
        self.upstream = upstream

    @property
    def alignment(self):
        """Every block's address is a multiple of so many bytes."""
        return alignment_of(self.upstream)

    def allocate(self, nbytes):
        """Return a `DataPtr` to at least `nbytes` bytes, null for 0.

        Raises
        ------
        OutOfMemoryError
            If upstream has no memory, or the adaptor refuses.
        """
        cdef data_ptr_t block
        self.adapt(nbytes_from_any(nbytes), &block)
        return DataPtr_wrap(&block)

    def is_simple_data_ptr(self, DataPtr data_ptr not None):
        """Return whether the block can be shared copy-on-write: upstream's answer counts."""
        return Adaptor_is_simple(self, data_ptr.seen)

    def __repr__(self):
        return f"{type(self).__name__}({self.upstream!r})"

    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1:
        return Allocator_allocate(self.upstream, nbytes, out)

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        return self.adapt(nbytes, out)

    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1:
        return Adaptor_is_simple(self, pointer)

    cdef int c_copy_data(self, void* dst, const void* src, size_t nbytes) except -1:
        return Allocator_copy_data(self.upstream, dst, src, nbytes)


cdef size_t alignment_of(Allocator allocator) except 0:
    """Return what an allocator says about its alignment; if it says nothing, that of the C library's heap."""
    found = getattr(allocator, "alignment", MALLOC_ALIGNMENT_BYTES)
    if not isinstance(found, int) or found <= 0 or found & (found - 1) or found >> 62:
        raise ValueError(f"{type(allocator).__name__}.alignment must be a power of two, found {found!r}.")
    return found


cdef object cached_bytes(Allocator allocator):
    """Return the bytes that the caches from an allocator upstream keep, None if there is no cache."""
    cached = None
    while allocator is not None:
        if isinstance(allocator, CachingAllocator):
            cached = (cached or 0) + allocator.stats().cached
        allocator = getattr(allocator, "upstream", None)
    return cached


cdef bint Adaptor_is_simple(Adaptor self, const data_ptr_t* pointer) except -1:
    if self.operations == NULL or data_ptr_operations(pointer) != self.operations:
        return Allocator_is_simple(self.upstream, pointer)
    cdef adapted_block_t* node = <adapted_block_t*>pointer.ctx
    return Allocator_is_simple((<Adaptor>node.adaptor).upstream, &node.block)


cdef adapted_block_t* new_node() except NULL:
    cdef adapted_block_t* node = <adapted_block_t*>malloc(sizeof(adapted_block_t))
    if node == NULL:
        raise MemoryError("no memory for the node of a block.")
    return node


cdef void adapted_block_move_up(adapted_block_t* node, size_t nbytes, data_ptr_t* out) noexcept nogil:
    """Let what is handed out begin a number of bytes behind the beginning of upstream's block."""
    node.front = nbytes
    out.data = <char*>node.block.data + nbytes


cdef dict adapted_block_facts(void* node):
    """Say what a block of an adaptor is. See Note [Operations of a block]."""
    return {"nbytes": (<adapted_block_t*>node).nbytes, "block": data_ptr_facts(&(<adapted_block_t*>node).block)}
