"""What the elementwise functions have in common: the forms in which they take their arguments.

Note [Elementwise functions]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
They stand in several files, a family each, and are the array API standard's. Of two operands one may be a number of
Python: it takes the other's element type, unless its kind is higher. Shapes are broadcast. A function that is defined
for real and complex numbers only takes integers and bools in the default floating type.

Beside the standard each takes `out`, a tensor of the result's shape to write to and return. The result's kind (bool,
integer, real, complex) must not be above that of `out`; within a kind it is converted. `out` may overlap the operands:
the result is as if they had been copied first.
"""
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.dispatch.operands cimport call_binary, is_number, scalar_like
from tensix.tensors.tensor_base cimport TensorBase

from tensix.dispatch import native_functions

__all__ = []

cdef dict OUT_VARIANTS = native_functions.OUT_VARIANTS


cdef object call_one(OperatorTable table, object x, object out):
    """Call an operator of one tensor."""
    if not isinstance(x, TensorBase):
        refuse(table, x)
    if out is None:
        return table.call1(<TensorBase>x)
    return call_out(table, (x,), out)


cdef object call_two(OperatorTable table, object x1, object x2, object out):
    """Call an operator of two tensors, one of which may be a number."""
    if out is None:
        if isinstance(x1, TensorBase) and isinstance(x2, TensorBase):
            return table.call2(<TensorBase>x1, <TensorBase>x2)
        made = call_binary(table, x1, x2)
        if made is NotImplemented:
            refuse(table, x2 if isinstance(x1, TensorBase) else x1)
        return made
    if isinstance(x1, TensorBase):
        if is_number(x2):
            x2 = scalar_like(x1, x2)
    elif isinstance(x2, TensorBase) and is_number(x1):
        x1 = scalar_like(x2, x1)
    for x in (x1, x2):
        if not isinstance(x, TensorBase):
            refuse(table, x)
    return call_out(table, (x1, x2), out)


cdef object call_out(OperatorTable table, tuple operands, object out):
    """Call the variant of an operator that writes to a tensor."""
    if not isinstance(out, TensorBase):
        raise TypeError(f"{table.schema.name}(): out must be a tensor, found {type(out).__name__}.")
    keys = (<TensorBase>out).impl.key_set
    for x in operands:
        keys |= (<TensorBase>x).impl.key_set
    return (<OperatorTable>OUT_VARIANTS[table]).call(operands, {"out": out}, keys)


cdef int refuse(OperatorTable table, object found) except -1:
    raise TypeError(
        f"{table.schema.name}() takes tensors, and a number for one of two, found {type(found).__name__}. Make a "
        "tensor of it with tensor()."
    )
