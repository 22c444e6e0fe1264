"""Private: looks from outside at a storage's block, by buffers, arrays and DLPack tensors.

Note [Exports]
~~~~~~~~~~~~~~
Whoever looks at a block from outside may write it behind our back, and holds its plain address. So an export is
counted twice: it owns the storage like a handle, and it is one of the storage's `exports`. While there are any,

* a copy-on-write clone is made by copying at once, unless the storage is read-only;
* the block stays where it is: resizing, freeing or exchanging it is refused.

Both end with the export. Of an address given out without a way to give it back (``__array_interface__``) the export
never ends. That somebody outside has had the block before tensix saw it is another matter: `is_foreign`.

Nearly all exports begin and end with the GIL, which makes a plain count of them exact, and a plain count costs a
tenth of an atomic one. Those that end without it have an atomic count of their own; what is left is the difference.
"""
from tensix.core.atomics cimport tx_add_fetch_acq_rel, tx_load_relaxed, tx_store_relaxed
from tensix.core.handle cimport retain
from tensix.core.intrusive_target cimport decref
from tensix.core.python_reference cimport holds_gil
from tensix.core.storage_impl cimport StorageImpl


cdef inline void begin_export(StorageImpl storage) noexcept:
    """Take a strong count for somebody outside; with the GIL."""
    tx_store_relaxed(&storage.exports, tx_load_relaxed(&storage.exports) + 1)
    retain(storage)


cdef inline void end_export(StorageImpl storage) noexcept:
    """Give the count back; with the GIL."""
    tx_store_relaxed(&storage.exports, tx_load_relaxed(&storage.exports) - 1)
    decref(storage)


cdef inline void end_export_anywhere(StorageImpl storage) noexcept nogil:
    """Give the count back; from any thread, with or without the GIL."""
    if holds_gil():
        tx_store_relaxed(&storage.exports, tx_load_relaxed(&storage.exports) - 1)
    else:
        tx_add_fetch_acq_rel(&storage.exports_ended_anywhere, 1)
    decref(storage)
