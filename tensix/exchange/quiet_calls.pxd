"""Calls of NumPy in which no floating error warns."""

cdef object call_quietly(object function, tuple args, dict kwargs=*)
cdef object call_checked(object function, tuple args, dict kwargs)
