"""Calls of NumPy in which no floating error warns."""

cdef object call_ignoring_errors(object function, tuple args, dict kwargs=*)
cdef object call_checked(object function, tuple args, dict kwargs)
