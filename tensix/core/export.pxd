"""Private: exports of a storage's block, to buffers, arrays and DLPack tensors outside tensix.

Note [Exports]
~~~~~~~~~~~~~~
Code outside that views a block may write it without tensix's knowing, and holds its plain address. So an export is an
owner, with a strong count and a Python reference, and is counted besides, under the GIL. While there are any,

* a copy-on-write clone is made by copying at once, unless the storage is read-only;
* the block stays where it is: resizing, freeing or exchanging it is refused.

Operations of tensix that write a block without the GIL export it as well. See Note [Storages in use].

The Python reference keeps adapted storages, whose counts own none. An address that is given out without a way to give
it back (``__array_interface__``) makes the two rules hold permanently (`has_escaped`). A block that others had before
tensix saw it is another matter: `is_foreign`.
"""
from cpython.ref cimport Py_INCREF, PyObject
from tensix.core.assertions cimport TX_ASSERT
from tensix.core.free_threading cimport TX_COUNT
from tensix.core.handle cimport drop, retain
from tensix.core.memory_reports cimport EXPORTED, RETURNED
from tensix.core.python_reference cimport decref_with_gil, holds_gil, may_run_python
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_report_use, free_retired_if_unused


cdef inline void begin_export(StorageImpl storage) noexcept:
    """Own the block for somebody who may write it; with the GIL, and somebody's count on the storage."""
    retain(storage)
    Py_INCREF(storage)
    TX_COUNT(storage.handle_count, 1)
    TX_COUNT(storage.exports, 1)
    if storage.guarded:
        StorageImpl_report_use(storage, EXPORTED)


cdef inline void end_export(StorageImpl storage) noexcept:
    """Take that back; with the GIL."""
    TX_ASSERT(storage.exports > 0, "an export that was begun", storage.exports)
    if storage.guarded:
        StorageImpl_report_use(storage, RETURNED)
    TX_COUNT(storage.handle_count, -1)
    if TX_COUNT(storage.exports, -1) == 0 and storage.retired != NULL:
        free_retired_if_unused(storage)
    drop(storage)
    decref_with_gil(<PyObject*>storage)


cdef inline void end_export_anywhere(StorageImpl storage) noexcept nogil:
    """Take that back, from any thread. See Note [GIL and finalisation]."""
    if may_run_python() or holds_gil():
        with gil:
            end_export(storage)
