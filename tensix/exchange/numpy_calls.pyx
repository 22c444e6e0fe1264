"""Calls of NumPy in which no floating error warns: what is too large becomes infinite, as in loops of our own.

NumPy keeps what becomes of such errors in a context variable. `numpy.errstate` takes a microsecond to set it, more than
many a call; so the value that it sets is looked up once, and set directly. A NumPy that keeps it elsewhere is asked by
`numpy.errstate`.
"""
from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set
from cpython.ref cimport PyObject

from contextvars import Context, Token, copy_context

import numpy as np

cdef extern from "Python.h":
    object PyObject_VectorcallDict(object function, PyObject** args, size_t count, PyObject* kwargs)
    PyObject** PySequence_Fast_ITEMS(tuple args)

cdef object ERRORS   # NumPy's context variable, None if it has none
cdef object IGNORED  # its value when all errors are ignored


cdef object call_ignoring_errors(object function, tuple args, dict kwargs=None):
    """Call a function of NumPy, whatever it or the user's settings would say of floating errors."""
    if ERRORS is None:
        with np.errstate(all="ignore"):
            return call_checked(function, args, kwargs)
    before = PyContextVar_Set(ERRORS, IGNORED)
    found = None
    try:
        found = call_checked(function, args, kwargs)
    finally:
        restore_errors(before)
    return found  # not within `try`: Cython would lose it if `finally` fails


cdef int restore_errors(object before) except -1:
    """Give the variable its value back, which takes some bytes of memory; if there are none, ask once more."""
    try:
        PyContextVar_Reset(ERRORS, before)
    except MemoryError:  # and a token works only once
        value = before.old_value
        PyContextVar_Set(ERRORS, Context().run(ERRORS.get) if value is Token.MISSING else value)
    return 0


cdef object call_checked(object function, tuple args, dict kwargs):
    """Call a function of NumPy; if it fails without saying why, as some do without memory, say so.

    PyObject_Call would return NULL then, and code that asks which exception it was finds none.
    """
    return PyObject_VectorcallDict(
        function, PySequence_Fast_ITEMS(args), len(args), <PyObject*>kwargs if kwargs else NULL)


cdef tuple ignored_errors():
    """Find the variable by what `numpy.errstate` changes."""
    before = copy_context()
    with np.errstate(all="ignore"):
        for variable, value in copy_context().items():
            if before.get(variable) is not value:
                return variable, value
    return None, None


ERRORS, IGNORED = ignored_errors()
