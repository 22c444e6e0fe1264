"""Fitting the arguments of a call to those that an operator declares."""
from cpython.object cimport PyObject
from libc.stdint cimport uint8_t


cdef class ArgumentParser:
    cdef readonly tuple arguments
    cdef tuple names
    cdef readonly int positional       # so many may be given by position
    cdef dict places          # name -> number of the argument
    cdef readonly tuple defaults  # of all; None where there is none
    cdef bytes traits         # per argument: what it accepts, and whether it must be given
    cdef int operand_count    # of arguments that are one tensor
    cdef uint8_t operands[8]  # MOST_OPERANDS: their places
    cdef int list_place       # of the argument that is several tensors, or -1
    cdef int device_place     # of the device, or -1
    cdef bytes others         # per argument: 1 if it may be, or hold, tensors and is not one of the operands
    cdef bint has_others
    cdef bint has_one         # whether only the first argument may be a tensor, and must be
    cpdef tuple bind(self, tuple args, dict kwargs)
    cdef bint takes(self, tuple args) except -1
    cdef tuple fill(self, tuple args, dict kwargs)
    cdef tuple unbind(self, PyObject** args, bint completely)
    cdef bint is_default(self, int place, PyObject** args) except -1
    cpdef object problem_of(self, tuple args, dict kwargs)
    cdef bint accepts(self, int place, object value) except -1
