"""What the elementwise functions have in common: the forms in which they take their arguments."""
from tensix.dispatch.operator_table cimport OperatorTable


cdef object call_one(OperatorTable table, object x, object out)
cdef object call_two(OperatorTable table, object x1, object x2, object out)
