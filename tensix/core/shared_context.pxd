"""Private: a block that several storages share, counted outside of them.

Copy-on-write and reference-counted deleters both put the block into such a context and hand out pointers to it,
each with operations of its own, so that the two cannot be taken for one another.
"""
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from tensix.core.atomics cimport tx_add_fetch_relaxed, tx_fetch_sub_acq_rel, tx_load_acquire
from tensix.core.data_ptr cimport (
    data_ptr_destroy, data_ptr_facts, data_ptr_init, data_ptr_move, data_ptr_operations_t, data_ptr_t,
)


cdef struct shared_context_t:
    uint64_t count
    data_ptr_t original
    size_t nbytes      # of read-only bytes, and their checksum: compared in debug builds only
    uint64_t checksum


cdef inline shared_context_t* shared_context_new() except NULL:
    cdef shared_context_t* self = <shared_context_t*>malloc(sizeof(shared_context_t))
    if self == NULL:
        raise MemoryError("no memory for the context of a shared block.")
    return self


cdef inline void shared_context_wrap(
        shared_context_t* self, data_ptr_t* block, const data_ptr_operations_t* operations) noexcept nogil:
    """Move `block` into a new context with a count of one, and point `block` at it; its address stays."""
    self.count = 1
    self.nbytes = self.checksum = 0
    data_ptr_move(&self.original, block)
    shared_context_point(self, block, operations)


cdef inline void shared_context_point(
        shared_context_t* self, data_ptr_t* block, const data_ptr_operations_t* operations) noexcept nogil:
    """Make `block`, which owns nothing, an owner of a count that the caller has taken."""
    data_ptr_init(block, self.original.data, self, operations)
    block.device_type = self.original.device_type
    block.device_index = self.original.device_index


cdef inline void shared_context_increment(shared_context_t* self) noexcept nogil:
    tx_add_fetch_relaxed(&self.count, 1)


cdef inline void shared_context_decrement(void* ctx) noexcept nogil:
    """Drop a count; the last one frees the block. Also a deleter: that of blocks which own a count."""
    cdef shared_context_t* self = <shared_context_t*>ctx
    if tx_fetch_sub_acq_rel(&self.count, 1) == 1:
        data_ptr_destroy(&self.original)
        free(self)


cdef inline bint shared_context_is_unique(shared_context_t* self) noexcept nogil:
    return tx_load_acquire(&self.count) == 1


cdef inline dict shared_context_facts(void* ctx):
    """Return the facts of a shared context. See Note [Operations of a block]."""
    cdef shared_context_t* self = <shared_context_t*>ctx
    return {"sharers": tx_load_acquire(&self.count), "block": data_ptr_facts(&self.original)}
