"""Fitting the arguments of a call to those that an operator declares."""


cdef class ArgumentParser:
    cdef readonly tuple arguments
    cdef tuple names
    cdef int positional       # so many may be given by position
    cdef dict places          # name -> number of the argument
    cdef tuple defaults
    cdef bytes traits         # per argument: what it accepts, and whether it must be given
    cpdef tuple bind(self, tuple args, dict kwargs)
    cdef bint takes(self, tuple args) except -1
    cdef tuple fill(self, tuple args, dict kwargs)
    cpdef object problem_of(self, tuple args, dict kwargs)
    cdef bint accepts(self, int place, object value) except -1
