"""Calls of NumPy in which no floating error warns: what is too large becomes infinite, as in loops of our own.

NumPy keeps what becomes of such errors in a context variable. `numpy.errstate` takes a microsecond to set it, more than
many a call; so the value that it sets is looked up once, and set directly.
"""
from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set
from cpython.ref cimport PyObject

from contextvars import copy_context

import numpy as np

cdef extern from "Python.h":
    object PyObject_Call(object function, tuple args, PyObject* kwargs)  # NULL: none

cdef object ERRORS   # NumPy's context variable
cdef object IGNORED  # its value when all errors are ignored


cdef object call_quietly(object function, tuple args, dict kwargs=None):
    """Call a function of NumPy, whatever it or the user's settings would say of floating errors."""
    before = PyContextVar_Set(ERRORS, IGNORED)
    try:
        return PyObject_Call(function, args, <PyObject*>kwargs if kwargs else NULL)
    finally:
        PyContextVar_Reset(ERRORS, before)


cdef tuple ignored_errors():
    """Find the variable by what `numpy.errstate` changes."""
    before = copy_context()
    with np.errstate(all="ignore"):
        for variable, value in copy_context().items():
            if before.get(variable) is not value:
                return variable, value
    raise ImportError(f"NumPy {np.__version__} keeps its errstate in no context variable. Install one from 2.0 on.")


ERRORS, IGNORED = ignored_errors()
