"""What memory is made of: the facts behind a storage, down to the context that is freed in the end.

Note [Named deleters]
~~~~~~~~~~~~~~~~~~~~~
A deleter is an address; who wrote it knows more. Modules name their deleters here, say what their contexts are, and
give a function that looks into one. Deleters of others are looked up by the system's loader, which knows exported
functions by name, and of the rest the library.
"""
import os

from libc.stdint cimport uint64_t, uintptr_t
from tensix.core.atomics cimport tx_load_relaxed
from tensix.core.combined_refcount cimport is_dead, strong_of, weak_of
from tensix.core.data_ptr cimport DataPtr, closure_t, data_ptr_t, deleter_t, run_closure
from tensix.core.device cimport Device_get
from tensix.core.intrusive_target cimport IntrusiveTarget
from tensix.core.storage_impl cimport StorageImpl

__all__ = []

cdef extern from "tensix/symbols.h" nogil:
    void tx_find_symbol(void* address, const char** name, const char** library)

cdef dict NAMED = {}  # address of a deleter -> (name, what its contexts are, address of a context_facts_t or 0)


cdef int name_deleter(deleter_t deleter, str name, str context, context_facts_t facts) except -1:
    """Say what a deleter is called and what its contexts are; `facts` may be NULL. See Note [Named deleters]."""
    NAMED[<uintptr_t>deleter] = (name, context, <uintptr_t>facts)
    return 0


cdef dict data_ptr_facts(const data_ptr_t* pointer):
    """Return what a block of memory is: its addresses and device, who frees it, and what its context is made of."""
    cdef const char* name = NULL
    cdef const char* library = NULL
    cdef dict facts = {
        "data": <uintptr_t>pointer.data,
        "ctx": <uintptr_t>pointer.ctx,
        "deleter": <uintptr_t>pointer.deleter,
        "deleter_name": None,
        "library": None,
        "context": None,
        "device": str(Device_get(pointer.device_type, pointer.device_index)),
        "keeps_alive": None if pointer.keep_alive == NULL else <object>pointer.keep_alive,
    }
    if <uintptr_t>pointer.deleter in NAMED:
        facts["deleter_name"], facts["context"], function = NAMED[<uintptr_t>pointer.deleter]
        if pointer.ctx != NULL and function:
            facts.update((<context_facts_t><uintptr_t>function)(pointer.ctx))
    elif pointer.deleter != NULL:
        tx_find_symbol(<void*>pointer.deleter, &name, &library)
        facts["deleter_name"] = None if name == NULL else name.decode(errors="replace")
        facts["library"] = None if library == NULL else os.path.basename(os.fsdecode(library))
    return facts


def facts_of_data_ptr(DataPtr data_ptr not None):
    """Return what a `DataPtr` owns; see `data_ptr_facts`."""
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
        "is_given_away": bool(storage.is_given_away),
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


cdef dict closure_facts(void* ctx):
    return {"function": <object>(<closure_t*>ctx).function}


name_deleter(run_closure, "run_closure", "Python callable", closure_facts)
