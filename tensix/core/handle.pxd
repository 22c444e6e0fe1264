"""Private: how Python handles (which hold the GIL) take and drop strong counts, inline."""
from cpython.ref cimport Py_INCREF, PyObject
from tensix.core.atomics cimport tx_store_relaxed
from tensix.core.combined_refcount cimport DELETE, STILL_ALIVE, Death, decref_word, incref_word, unique_word
from tensix.core.intrusive_target cimport IntrusiveTarget, IntrusiveTarget_on_death, birth_listener
from tensix.core.python_reference cimport drop_python_reference


cdef inline void own_newborn(IntrusiveTarget target) noexcept:
    """Take the first strong count of a target that was just made, and the counts' Python reference."""
    tx_store_relaxed(&target.combined_refcount, unique_word())
    Py_INCREF(target)
    if birth_listener != NULL:
        birth_listener(target)


cdef inline void retain(IntrusiveTarget target) noexcept:
    """Add a strong count to a target that is known to be alive."""
    incref_word(&target.combined_refcount)


cdef inline void drop(IntrusiveTarget target) noexcept:
    """Take a strong count away while holding the GIL."""
    drop_nogil(target, True)


cdef inline void drop_nogil(IntrusiveTarget target, bint holds_gil) noexcept nogil:
    """Take a strong count away; the common deaths stay inline, the rare ones go out of line."""
    cdef Death death = decref_word(&target.combined_refcount)
    if death == STILL_ALIVE:
        return
    if death == DELETE:
        target.destroy(holds_gil)
        drop_python_reference(<PyObject*>target, holds_gil)  # the counts' own
    else:
        IntrusiveTarget_on_death(target, death, holds_gil)
