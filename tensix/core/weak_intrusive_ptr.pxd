"""Intrusive reference counting: the weak pointer."""
from cpython.ref cimport PyObject


cdef class WeakIntrusivePtr:
    cdef PyObject* target  # borrowed: the weak count keeps the object; NULL when null
