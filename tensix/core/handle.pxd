"""Private: how Python handles (which hold the GIL) take and drop strong counts, inline."""
from cpython.ref cimport Py_INCREF, PyObject
from tensix.core.assertions cimport TX_ASSERT, TX_ASSERT_GIL
from tensix.core.atomics cimport tx_store_relaxed
from tensix.core.combined_refcount cimport (
    DELETE, NOT_OWNED, STILL_ALIVE, Death, decref_word, incref_word, strong_of, unique_word,
)
from tensix.core.free_threading cimport TX_COUNT
from tensix.core.intrusive_target cimport IntrusiveTarget, IntrusiveTarget_on_death, first_owner_listener
from tensix.core.python_reference cimport drop_python_reference


cdef inline void own_new(IntrusiveTarget target) noexcept:
    """Take the first strong count of a target that was just made, and the counts' Python reference."""
    TX_ASSERT(target.combined_refcount == 0, "a target that never had an owner", target.combined_refcount)
    tx_store_relaxed(&target.combined_refcount, unique_word())
    Py_INCREF(target)
    if first_owner_listener != NULL:
        first_owner_listener(target)


cdef inline void retain(IntrusiveTarget target) noexcept:
    """Add a strong count to a target that is known to be alive."""
    TX_ASSERT(strong_of(target.combined_refcount) != 0, "a target with an owner", target.combined_refcount)
    incref_word(&target.combined_refcount)


cdef inline void drop(IntrusiveTarget target) noexcept:
    """Take a strong count away while holding the GIL."""
    TX_ASSERT_GIL()
    drop_nogil(target, True)


cdef inline void drop_handle(IntrusiveTarget target) noexcept:
    """Drop the strong count that a Python handle had, if it had one."""
    if target is not None:
        TX_COUNT(target.handle_count, -1)
        drop(target)


cdef inline void drop_nogil(IntrusiveTarget target, bint holds_gil) noexcept nogil:
    """Take a strong count away; the common deaths stay inline, the rare ones go out of line."""
    cdef Death death = decref_word(&target.combined_refcount)
    if death == STILL_ALIVE:
        return
    TX_ASSERT(death != NOT_OWNED, "a strong count above 0 before one is taken away", target.combined_refcount)
    if death == DELETE:
        TX_ASSERT(target.handle_count == 0, "a target that dies to belong to no handle", target.handle_count)
        target.destroy(holds_gil)
        drop_python_reference(<PyObject*>target, holds_gil)  # the counts' own
    else:
        IntrusiveTarget_on_death(target, death, holds_gil)
