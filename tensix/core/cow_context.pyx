"""Copy-on-write between storages: share the bytes, copy them at the first write.

Note [Copy before giving up the share]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A lazy clone moves the source's block into a counted context; source and clone then both point to it and carry a
materializer. At its first write a storage

* takes the block back, without copying, if it is the only one left and may write it;
* otherwise copies first and gives up its share afterwards. A failed allocation therefore leaves a valid storage.

While a storage copies it holds a share, plus one more taken for the copy, so the block cannot be freed, and no other
storage can be "the only one left" and write it. Two storages that copy at the same time copy once too often, and that
is all. The copy runs without the GIL; if another thread has meanwhile materialized or resized the same storage, its
result stands and ours is thrown away. Operations that read the storage at that time go on reading the share, which is
retired: see Note [Storages in use].

The count is raised relaxed, by code that holds a share; it is lowered with acquire and release, often without the GIL,
and the load that finds the only share acquires. So what others read of the block happens before it is written or freed;
a relaxed load that finds the count at 1 would promise nothing of that.
``tests/models/copy_on_write.pml`` is a model of this, in which loads may be as stale as ARM permits.

A lazy clone counts as a read of its source, materializing as a write to that storage alone.

Which blocks can be shared: those whose context is nothing but the allocation ("simple"), those shared already, and
those of a read-only storage, whatever their context, as long as no one else can write them. A block from a
read-only storage is never taken back, since its pages may not be writable: its last sharer copies as well. Its owner
promised that it is not written (``asarray(obj, immutable=True)``); a debug build compares a checksum of it, made when
it is shared, before each copy and whenever a share is dropped.

Note [Blocks that others may read]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Without the GIL another thread may read a block that is given up here. To stop all threads, as elsewhere (Note [Without
the GIL] in ``free_threading.pxd``), takes up to a millisecond, and writes to lazy clones are frequent. So

* a lock in each storage guards what its block is: bare, or counted in a context, and how many share it. Addresses stay
  the same, so reading needs no lock.
* each thread says when it is in a call of an operator, and notes when it reads an address outside of one. What is
  given up is freed when all calls that were running have ended; if that takes long, by stopping the threads, after
  which only uses count: Note [Storages in use] in ``storage_impl.pyx``. (`callers.h`)

A thread that waits so reads nothing itself: to make a storage writable is a moment at which other code may run.
``tests/models/readers.pml`` is a model of this.
"""
from libc.stdlib cimport free
from tensix.core.allocator cimport Allocator, Allocator_clone, Allocator_is_simple, current_allocator
from tensix.core.assertions cimport TX_ASSERT, TX_CHECKSUM
from tensix.core.data_ptr cimport (
    data_ptr_destroy, data_ptr_move, data_ptr_operations, data_ptr_operations_t, data_ptr_t,
)
from tensix.core.device cimport CPU
from tensix.core.memory_reports cimport report_copy
from tensix.core.refcounted_deleter cimport refcounted_is_shared_alias
from tensix.core.shared_context cimport (
    shared_context_decrement, shared_context_facts, shared_context_increment, shared_context_is_unique,
    shared_context_point, shared_context_t,
)
from tensix.core.storage_impl cimport (
    StorageImpl, StorageImpl_check_readable, StorageImpl_clear_materializer, StorageImpl_is_in_use,
    StorageImpl_let_go_of, StorageImpl_new, StorageImpl_set_materializer, StorageImpl_share, lock_sharing, retired_new,
    retired_t, unlock_sharing,
)


cdef inline void assert_unwritten(shared_context_t* context) noexcept nogil:
    TX_ASSERT(
        context.nbytes == 0 or context.checksum == TX_CHECKSUM(context.original.data, context.nbytes),
        "bytes that do not change, as their owner promised", context.nbytes)


cdef void cow_readonly_deleter(void* ctx) noexcept nogil:
    """Drop a share of a block that no one may write."""
    assert_unwritten(<shared_context_t*>ctx)
    shared_context_decrement(ctx)


# With the GIL it frees by the same function: a share is not a link of a long chain, which saves 30 instructions.
cdef data_ptr_operations_t cow_operations = data_ptr_operations_t(
    shared_context_decrement, shared_context_decrement, b"cow_deleter", b"copy-on-write context", shared_context_facts)
cdef data_ptr_operations_t cow_readonly_operations = data_ptr_operations_t(
    cow_readonly_deleter, NULL, b"cow_readonly_deleter", b"copy-on-write context of read-only bytes",
    shared_context_facts)


cdef bint cow_is_cow(const data_ptr_t* block) noexcept nogil:
    cdef const data_ptr_operations_t* operations = data_ptr_operations(block)
    return operations == &cow_operations or operations == &cow_readonly_operations


cdef bint cow_is_simple(StorageImpl storage) except -1:
    """Return whether the block's context is nothing but the allocation."""
    cdef Allocator allocator = storage.owner  # kept for the call, which may replace it
    if allocator is not None:
        return Allocator_is_simple(allocator, &storage.block)
    return storage.block.data == storage.block.ctx


cdef StorageImpl cow_lazy_clone(StorageImpl source):
    """Return a new storage, without owners, that shares the bytes; None if this block cannot be shared."""
    cdef StorageImpl clone
    cdef shared_context_t* context
    if source.guarded:
        StorageImpl_check_readable(source)
    # Asking may run Python code, after which the block may be another: all other questions come later.
    cdef bint can_share = source.is_readonly or cow_is_cow(&source.block) or cow_is_simple(source)
    while not cow_is_cow(&source.block):
        if source.is_foreign or source.materializer != NULL or refcounted_is_shared_alias(source, source):
            return None
        if StorageImpl_is_in_use(source) and not source.is_readonly:  # its users may write
            return None
        if not can_share:
            return None
        StorageImpl_share(
            source, &cow_readonly_operations if source.is_readonly else &cow_operations, cow_materialize)
        if data_ptr_operations(&source.block) == &cow_readonly_operations and source.block.device_type == CPU:
            context = <shared_context_t*>source.block.ctx
            context.nbytes, context.checksum = source.size_bytes, TX_CHECKSUM(source.block.data, source.size_bytes)
    clone = StorageImpl_new()
    if not share_with(clone, source):  # another thread took the block back
        return cow_lazy_clone(source)
    clone.owner, clone.is_resizable = source.owner, source.is_resizable
    StorageImpl_set_materializer(clone, cow_materialize)
    return clone


cdef bint share_with(StorageImpl clone, StorageImpl source) noexcept nogil:
    """Take a share of a block for a new storage, if it is counted already."""
    cdef bint is_cow
    lock_sharing(source)
    is_cow = cow_is_cow(&source.block)
    if is_cow:
        shared_context_increment(<shared_context_t*>source.block.ctx)
        shared_context_point(
            <shared_context_t*>source.block.ctx, &clone.block, data_ptr_operations(&source.block))
        clone.size_bytes, clone.was_shrunk = source.size_bytes, source.was_shrunk
    unlock_sharing(source)
    return is_cow


cdef int cow_materialize(StorageImpl storage) except -1:
    """Make the bytes the storage's own. See Note [Copy before giving up the share]."""
    cdef shared_context_t* context = take_share(storage)
    cdef size_t nbytes = storage.size_bytes
    cdef data_ptr_t block
    cdef retired_t* retired = NULL
    cdef Allocator allocator
    if context == NULL:
        return 0
    assert_unwritten(context)
    allocator = storage.owner if storage.owner is not None else current_allocator(storage.block.device_type)
    try:
        Allocator_clone(allocator, context.original.data, nbytes, &block)
        try:
            retired = retired_new()
            if exchange_share(storage, context, nbytes, &block):
                report_copy(nbytes)
                StorageImpl_let_go_of(storage, &block, retired)
            else:
                free(retired)
        finally:
            data_ptr_destroy(&block)  # a copy that is not wanted any more, or nothing
    finally:
        shared_context_decrement(context)
    return 0


cdef shared_context_t* take_share(StorageImpl storage) noexcept nogil:
    """Take one more share of the block, so that it stays while it is copied; NULL if the storage has it alone."""
    cdef shared_context_t* context
    lock_sharing(storage)
    context = <shared_context_t*>storage.block.ctx
    if not cow_is_cow(&storage.block):  # somebody took the block away meanwhile
        StorageImpl_clear_materializer(storage)
        context = NULL
    elif data_ptr_operations(&storage.block) == &cow_operations and shared_context_is_unique(context):
        data_ptr_move(&storage.block, &context.original)
        free(context)
        StorageImpl_clear_materializer(storage)
        context = NULL
    else:
        shared_context_increment(context)
    unlock_sharing(storage)
    return context


cdef bint exchange_share(
        StorageImpl storage, shared_context_t* context, size_t nbytes, data_ptr_t* block) noexcept nogil:
    """Move the storage's own bytes in and its share out, unless it has another block by now."""
    cdef data_ptr_t share
    lock_sharing(storage)
    cdef bint is_there = storage.block.ctx == context and storage.size_bytes == nbytes
    if is_there:
        share = storage.block
        storage.block = block[0]
        block[0] = share
        StorageImpl_clear_materializer(storage)
    unlock_sharing(storage)
    return is_there
