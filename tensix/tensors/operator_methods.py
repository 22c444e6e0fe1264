"""The operator signs of tensors: ``x + y`` calls the table of ``add``."""

import cython
import numpy as np
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.dtype import dtype_of_code
from cython.cimports.tensix.tensors.promotion import promote_number
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, TensorBase
from cython.cimports.tensix.tensors.view_methods import ViewMethods

from tensix.dispatch import native_functions

__all__ = []

ADD = cython.declare(OperatorTable, native_functions.ADD)
SUB = cython.declare(OperatorTable, native_functions.SUB)
MUL = cython.declare(OperatorTable, native_functions.MUL)
DIV = cython.declare(OperatorTable, native_functions.DIV)
MATMUL = cython.declare(OperatorTable, native_functions.MATMUL)
NEG = cython.declare(OperatorTable, native_functions.NEG)
EMPTY = cython.declare(OperatorTable, native_functions.EMPTY)
FILL_ = cython.declare(OperatorTable, native_functions.FILL_)


@cython.no_gc  # as its base
@cython.cclass
class OperatorMethods(ViewMethods):
    """Give a tensor Python's operators."""

    def __add__(self, other):
        return binary(ADD, self, other)

    def __radd__(self, other):
        return binary(ADD, other, self)

    def __sub__(self, other):
        return binary(SUB, self, other)

    def __rsub__(self, other):
        return binary(SUB, other, self)

    def __mul__(self, other):
        return binary(MUL, self, other)

    def __rmul__(self, other):
        return binary(MUL, other, self)

    def __truediv__(self, other):
        return binary(DIV, self, other)

    def __rtruediv__(self, other):
        return binary(DIV, other, self)

    def __matmul__(self, other):
        return MATMUL.call2(self, other) if isinstance(other, TensorBase) else NotImplemented

    def __rmatmul__(self, other):
        return MATMUL.call2(other, self) if isinstance(other, TensorBase) else NotImplemented

    def __neg__(self):
        return NEG.call1(self)


@cython.cfunc
def scalar_like(tensor: TensorBase, value) -> TensorBase:
    """Return a number as a tensor without dimensions, of the tensor's type unless its kind is too low."""
    impl = tensor.impl
    if impl is UNDEFINED:
        raise RuntimeError("the tensor is undefined: there is nothing to reckon with.")
    if isinstance(value, np.generic):
        value = value.item()
    code = promote_number(dtype_of_code(impl.dtype_code), value).code
    made = EMPTY.call_empty(0, cython.NULL, code, impl.device_type, impl.device_index)
    return FILL_.call_with(made, value)


@cython.cfunc
def binary(table: OperatorTable, left, right):
    """Call a binary operator; a Python number becomes a tensor of the other side's type, without dimensions."""
    a: TensorBase
    b: TensorBase
    if isinstance(left, TensorBase):
        a = left
        if isinstance(right, TensorBase):
            return table.call2(a, right)
        if not isinstance(right, (int, float, complex, np.generic)):
            return NotImplemented
        return table.call2(a, scalar_like(a, right))
    if not isinstance(left, (int, float, complex, np.generic)):
        return NotImplemented
    b = right
    return table.call2(scalar_like(b, left), b)
