"""Reference-counted blocks: several storages over the same bytes, each write seen by all.

Unlike copy-on-write nothing is ever copied. The facts are those of PyTorch's ``c10/core/RefcountedDeleter.h``.
"""
from tensix.core.data_ptr cimport data_ptr_operations, data_ptr_operations_t, data_ptr_t
from tensix.core.shared_context cimport (
    shared_context_decrement, shared_context_facts, shared_context_increment, shared_context_point, shared_context_t,
)
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_mutable_data, StorageImpl_new, StorageImpl_share


cdef data_ptr_operations_t refcounted_operations = data_ptr_operations_t(
    shared_context_decrement, NULL, b"refcounted_deleter", b"shared context", shared_context_facts)


cdef bint refcounted_is_shared(const data_ptr_t* block) noexcept nogil:
    """Return whether a block is reference-counted."""
    return data_ptr_operations(block) == &refcounted_operations


cdef bint refcounted_is_shared_alias(StorageImpl a, StorageImpl b) noexcept:
    """Return whether two storages share a reference-counted block."""
    return refcounted_is_shared(&a.block) and refcounted_is_shared(&b.block) and a.block.ctx == b.block.ctx


cdef int refcounted_apply(StorageImpl storage) except -1:
    """Put the block into a counted context; nothing happens if it is in one."""
    if not refcounted_is_shared(&storage.block) and not storage.is_readonly:
        StorageImpl_mutable_data(storage)  # a copy-on-write share must not be written by others
    if not refcounted_is_shared(&storage.block):  # asked once more: making the copy may run any code
        StorageImpl_share(storage, &refcounted_operations, NULL)
    return 0


cdef StorageImpl refcounted_alias(StorageImpl storage):
    """Return a new storage, without owners, over the same bytes."""
    cdef StorageImpl alias = StorageImpl_new()
    refcounted_apply(storage)
    cdef shared_context_t* context = <shared_context_t*>storage.block.ctx
    shared_context_increment(context)
    shared_context_point(context, &alias.block, &refcounted_operations)
    alias.size_bytes, alias.owner = storage.size_bytes, storage.owner
    alias.is_readonly = storage.is_readonly
    alias.guarded = alias.is_readonly or alias.is_watched
    return alias
