"""An operator: its overloads under one name."""


cdef class Operator:
    cdef readonly str name      # with its namespace
    cdef readonly tuple tables  # in the order of declaration; replaced as a whole, so that calls go on meanwhile
