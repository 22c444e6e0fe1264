"""What operators take beside tensors: numbers and arrays."""
from libc.stdint cimport uint8_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.tensor_base cimport TensorBase


cdef inline bint is_plain_number(object value) noexcept:
    """Return whether a value is a float, an int or a bool of Python, so that reading it runs no other code."""
    return type(value) is float or type(value) is int or type(value) is bool

cdef bint is_number(object value)
cdef bint write_number(uint8_t code, void* data, object value) except -1
cdef bint write_fitting(uint8_t code, void* data, object value) except -1
cdef object read_number(uint8_t code, const void* data)
cpdef TensorBase scalar_like(TensorBase tensor, object value)
cdef TensorBase number_of_type(TensorBase tensor, uint8_t code, object value)
cdef object call_binary(OperatorTable table, object left, object right)
cdef object call_operator(OperatorTable table, object left, object right)
cdef object tensor_of_array(TensorBase tensor, object value)
cdef object call_in_place(OperatorTable table, TensorBase target, object other)
