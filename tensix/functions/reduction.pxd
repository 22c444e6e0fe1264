"""The calls of reductions, in the shortest way if nothing is asked for."""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.dtype cimport dtype_from_any
from tensix.tensors.tensor_base cimport TensorBase


cdef inline object reduce(OperatorTable table, TensorBase tensor, axis, keepdims):
    """Reduce along an axis or axes, or all."""
    if axis is None and keepdims is False:
        return table.call1(tensor)
    return table.call((tensor,), {"axis": axis, "keepdims": keepdims}, tensor.impl.key_set)


cdef inline object reduce_as(OperatorTable table, TensorBase tensor, axis, dtype, keepdims):
    """Reduce to a result of a given type."""
    if dtype is None:
        return reduce(table, tensor, axis, keepdims)
    options = {"axis": axis, "dtype": dtype_from_any(dtype), "keepdims": keepdims}
    return table.call((tensor,), options, tensor.impl.key_set)


cdef inline object reduce_moment(OperatorTable table, TensorBase tensor, axis, correction, keepdims):
    """Reduce to a variance or what is made of one."""
    options = {"axis": axis, "correction": correction, "keepdims": keepdims}
    return table.call((tensor,), options, tensor.impl.key_set)
