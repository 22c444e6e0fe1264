"""An operator: its overloads under one name."""


cdef extern from "tensix/core/free_threading.h":
    object exchange_tables "TX_EXCHANGE_TABLES" (Operator operator, object tables)


cdef class Operator:
    cdef readonly str name      # with its namespace
    cdef readonly tuple tables  # in the order of declaration; replaced as a whole, so that calls go on meanwhile
