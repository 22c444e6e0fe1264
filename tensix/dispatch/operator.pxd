"""An operator: its overloads under one name."""


cdef extern from *:
    """
    #include "tensix/core/free_threading.h"
    #define TX_EXCHANGE_TABLES(operator, object) TX_EXCHANGE(operator, (operator)->tables, object)
    """
    object exchange_tables "TX_EXCHANGE_TABLES" (Operator operator, object tables)


cdef class Operator:
    cdef readonly str name      # with its namespace
    cdef readonly tuple tables  # in the order of declaration; replaced as a whole, so that calls go on meanwhile
