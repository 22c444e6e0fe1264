"""Private: looks from outside at a storage's block, by buffers, arrays and DLPack tensors.

Note [Exports]
~~~~~~~~~~~~~~
Whoever looks at a block from outside may write it behind our back, and holds its plain address. So exports are counted,
and while there are any,

* a copy-on-write clone is made by copying at once, unless the storage is read-only;
* the block stays where it is: resizing, freeing or exchanging it is refused;
* the block lives. Exports are no handles, and take no strong count. If the last handle goes while there are exports,
  the storage has expired like any other, but is left to them: the last one to end frees the block.

An address that is given out without a way to give it back (``__array_interface__``) makes the first two hold for good
(`is_given_away`). That somebody outside has had the block before tensix saw it is another matter: `is_foreign`.

Nearly all exports begin and end with the GIL, which makes a plain count of them exact, and a plain count costs a
tenth of an atomic one. Those that end without it have an atomic count of their own; what is left is the difference. Of
a storage that is left to its exports all ends are counted there: it is set as far below ALL_ENDED as there are exports
left. So the one instruction by which an export ends says whether it was the last one, and nobody looks at a storage
that others may have freed.
"""
from tensix.core.atomics cimport tx_load_relaxed, tx_store_relaxed, tx_store_release
from tensix.core.combined_refcount cimport incref_word
from tensix.core.handle cimport drop
from tensix.core.python_reference cimport holds_gil
from tensix.core.storage_impl cimport (
    StorageImpl,
    StorageImpl_count_end,
    StorageImpl_is_left_to_exports,
    StorageImpl_refuse_expired,
)


cdef inline void begin_export(StorageImpl storage) noexcept:
    """Count somebody outside; with the GIL, and somebody's handle on the storage."""
    tx_store_relaxed(&storage.exports, tx_load_relaxed(&storage.exports) + 1)


cdef inline void end_export(StorageImpl storage) noexcept nogil:
    """Take the count back; with the GIL."""
    if StorageImpl_is_left_to_exports(storage):
        StorageImpl_count_end(storage, True)
    else:
        tx_store_release(&storage.exports, tx_load_relaxed(&storage.exports) - 1)  # what was written is seen


cdef inline void end_export_anywhere(StorageImpl storage) noexcept nogil:
    """Take the count back; from any thread, with or without the GIL."""
    if holds_gil():
        end_export(storage)
    else:
        StorageImpl_count_end(storage, False)


cdef inline int begin_write(StorageImpl storage) except -1:
    """Export the block to an operation of ours that writes it without the GIL. See Note [Storages in use]."""
    if not incref_word(&storage.combined_refcount):
        StorageImpl_refuse_expired()
    begin_export(storage)
    return 0


cdef inline void end_write(StorageImpl storage) noexcept:
    """Take that back; with the GIL."""
    end_export(storage)
    drop(storage)
