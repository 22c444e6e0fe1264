"""What memory is made of: the facts behind a storage, for `explain`."""
from libc.stdint cimport uint64_t
from tensix.core.atomics cimport tx_load_relaxed
from tensix.core.combined_refcount cimport is_dead, strong_of, weak_of
from tensix.core.data_ptr cimport DataPtr, data_ptr_facts
from tensix.core.intrusive_target cimport IntrusiveTarget
from tensix.core.storage_impl cimport StorageImpl


def facts_of_data_ptr(DataPtr data_ptr not None):
    """Return what a block of memory is: its addresses and device, who frees it, and what its context is made of."""
    return data_ptr_facts(data_ptr.seen)


def facts_of_storage(StorageImpl storage not None):
    """Return what a storage is: size, states, owners, and its block."""
    return {
        "nbytes": storage.size_bytes,
        "version": storage.version,
        "allocator": storage.owner,
        "is_resizable": bool(storage.is_resizable),
        "is_readonly": bool(storage.is_readonly),
        "exports": storage.exports,
        "has_escaped": bool(storage.has_escaped),
        "is_foreign": bool(storage.is_foreign),
        "is_copy_on_write": storage.materializer != NULL,
        "refuses_writing": bool(storage.throw_on_mutable),
        "refuses_reading": bool(storage.throw_on_immutable),
        "block": data_ptr_facts(&storage.block),
    }


def facts_of_target(IntrusiveTarget target not None):
    """Return the counts of a target, how many of them Python handles hold, and whether its last owner is gone."""
    cdef uint64_t word = tx_load_relaxed(&target.combined_refcount)
    strong = strong_of(word)
    return {
        "strong": strong,
        "weak": weak_of(word) - (strong > 0),
        "strong_handles": target.handle_count,
        "weak_handles": target.weak_handle_count,
        "is_expired": is_dead(word),
    }
