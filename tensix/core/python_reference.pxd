"""Private: giving back Python references from code that may run without the GIL.

Note [GIL and finalisation]
~~~~~~~~~~~~~~~~~~~~~~~~~~~
Counts, deleters and contexts die on whatever thread drops them last, with or without the GIL. Three rules hold:

* The GIL is the outermost lock: nothing in tensix waits for it while holding a lock of its own.
* Code that needs Python takes the GIL itself (``with gil`` costs little where it is already held), so no caller
  has to know what a deleter does before calling it.
* After finalisation has begun, a thread that asks for the GIL hangs or is ended, and modules are being taken
  apart. From then on no Python callable is run and a reference is dropped only by the thread that already
  holds the GIL; otherwise it is left to the operating system.

Code that runs Python code while something dies sets a pending exception aside: deallocation must not lose it.
"""
from cpython.exc cimport PyErr_Fetch, PyErr_Restore, PyErr_SetInterrupt
from cpython.ref cimport PyObject


cdef extern from "tensix/core/gil.h" nogil:
    bint tx_is_finalizing()
    bint holds_gil "tx_holds_gil" ()
    bint holds_gil_at_exit "tx_holds_gil_at_exit" ()
    void* tx_begin_long_free(size_t nbytes)  # the GIL is not held until tx_end_long_free()
    void tx_end_long_free(void* begun)

cdef extern from "Python.h" nogil:
    PyObject* pending_exception "PyErr_Occurred" ()  # for code that holds the GIL without Cython's knowing
    void decref_with_gil "Py_XDECREF" (PyObject* reference)  # for code that holds the GIL without Cython's knowing


cdef inline bint may_run_python() noexcept nogil:
    """Whether Python callables may still be called. See Note [GIL and finalisation]."""
    return not tx_is_finalizing()


cdef struct pending_exception_t:
    PyObject* type
    PyObject* value
    PyObject* traceback


cdef inline pending_exception_t save_exception() noexcept:
    """Take the pending exception, if there is one."""
    cdef pending_exception_t pending
    PyErr_Fetch(&pending.type, &pending.value, &pending.traceback)
    return pending


cdef inline void restore_exception(pending_exception_t pending) noexcept:
    PyErr_Restore(pending.type, pending.value, pending.traceback)


cdef inline void pass_on(object error) noexcept:
    """Say what was raised where nothing may be: an interrupt to the program, all else to sys.unraisablehook."""
    if not isinstance(error, KeyboardInterrupt):
        raise error
    PyErr_SetInterrupt()


cdef inline void drop_python_reference(PyObject* reference, bint holds_gil) noexcept nogil:
    """Give back one reference; null is accepted. `holds_gil`: the GIL is held for certain."""
    if holds_gil:
        decref_with_gil(reference)
    elif reference != NULL and (not tx_is_finalizing() or holds_gil_at_exit()):
        with gil:
            decref_with_gil(reference)
