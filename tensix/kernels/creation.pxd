"""Creation: what its front ends call."""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.tensor_base cimport TensorBase


cdef object call_factory(OperatorTable table, object shape, tuple more, object dtype, object device)
cdef tuple as_shape(object shape)
cdef TensorBase tensor_of_numbers(object data, int code)
