"""The operator signs of tensors: ``x + y`` calls the table of ``add``, ``x += y`` that of ``add_``."""

import cython
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.comparison_methods import ComparisonMethods
from cython.cimports.tensix.tensors.operands import call_in_place, call_operator, is_number, scalar_like
from cython.cimports.tensix.tensors.promotion import check_result_type
from cython.cimports.tensix.tensors.tensor_base import TensorBase
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl_same_sizes

from tensix.dispatch import native_functions

__all__ = []

ADD = cython.declare(OperatorTable, native_functions.ADD)
SUB = cython.declare(OperatorTable, native_functions.SUB)
MUL = cython.declare(OperatorTable, native_functions.MUL)
DIV = cython.declare(OperatorTable, native_functions.DIV)
FLOOR_DIVIDE = cython.declare(OperatorTable, native_functions.FLOOR_DIVIDE)
REMAINDER = cython.declare(OperatorTable, native_functions.REMAINDER)
POW = cython.declare(OperatorTable, native_functions.POW)
BITWISE_AND = cython.declare(OperatorTable, native_functions.BITWISE_AND)
BITWISE_OR = cython.declare(OperatorTable, native_functions.BITWISE_OR)
BITWISE_XOR = cython.declare(OperatorTable, native_functions.BITWISE_XOR)
BITWISE_LEFT_SHIFT = cython.declare(OperatorTable, native_functions.BITWISE_LEFT_SHIFT)
BITWISE_RIGHT_SHIFT = cython.declare(OperatorTable, native_functions.BITWISE_RIGHT_SHIFT)
ADD_ = cython.declare(OperatorTable, native_functions.ADD_)
SUB_ = cython.declare(OperatorTable, native_functions.SUB_)
MUL_ = cython.declare(OperatorTable, native_functions.MUL_)
DIV_ = cython.declare(OperatorTable, native_functions.DIV_)
FLOOR_DIVIDE_ = cython.declare(OperatorTable, native_functions.FLOOR_DIVIDE_)
REMAINDER_ = cython.declare(OperatorTable, native_functions.REMAINDER_)
POW_ = cython.declare(OperatorTable, native_functions.POW_)
BITWISE_AND_ = cython.declare(OperatorTable, native_functions.BITWISE_AND_)
BITWISE_OR_ = cython.declare(OperatorTable, native_functions.BITWISE_OR_)
BITWISE_XOR_ = cython.declare(OperatorTable, native_functions.BITWISE_XOR_)
BITWISE_LEFT_SHIFT_ = cython.declare(OperatorTable, native_functions.BITWISE_LEFT_SHIFT_)
BITWISE_RIGHT_SHIFT_ = cython.declare(OperatorTable, native_functions.BITWISE_RIGHT_SHIFT_)
NEG = cython.declare(OperatorTable, native_functions.NEG)
POSITIVE = cython.declare(OperatorTable, native_functions.POSITIVE)
ABS = cython.declare(OperatorTable, native_functions.ABS)
BITWISE_INVERT = cython.declare(OperatorTable, native_functions.BITWISE_INVERT)
MATMUL = cython.declare(OperatorTable, native_functions.MATMUL)
COPY_ = cython.declare(OperatorTable, native_functions.COPY_)


@cython.no_gc  # as its base
@cython.cclass
class OperatorMethods(ComparisonMethods):
    """Give a tensor Python's operators."""

    # ---- of one operand

    def __neg__(self):
        return NEG.call1(self)

    def __pos__(self):
        return POSITIVE.call1(self)

    def __abs__(self):
        return ABS.call1(self)

    def __invert__(self):
        return BITWISE_INVERT.call1(self)

    # ---- of two operands, and reflected: the left one is a number

    def __add__(self, other):
        return call_operator(ADD, self, other)

    def __radd__(self, other):
        return call_operator(ADD, other, self)

    def __sub__(self, other):
        return call_operator(SUB, self, other)

    def __rsub__(self, other):
        return call_operator(SUB, other, self)

    def __mul__(self, other):
        return call_operator(MUL, self, other)

    def __rmul__(self, other):
        return call_operator(MUL, other, self)

    def __truediv__(self, other):
        return call_operator(DIV, self, other)

    def __rtruediv__(self, other):
        return call_operator(DIV, other, self)

    def __floordiv__(self, other):
        return call_operator(FLOOR_DIVIDE, self, other)

    def __rfloordiv__(self, other):
        return call_operator(FLOOR_DIVIDE, other, self)

    def __mod__(self, other):
        return call_operator(REMAINDER, self, other)

    def __rmod__(self, other):
        return call_operator(REMAINDER, other, self)

    def __pow__(self, other):
        return call_operator(POW, self, other)

    def __rpow__(self, other):
        return call_operator(POW, other, self)

    def __and__(self, other):
        return call_operator(BITWISE_AND, self, other)

    def __rand__(self, other):
        return call_operator(BITWISE_AND, other, self)

    def __or__(self, other):
        return call_operator(BITWISE_OR, self, other)

    def __ror__(self, other):
        return call_operator(BITWISE_OR, other, self)

    def __xor__(self, other):
        return call_operator(BITWISE_XOR, self, other)

    def __rxor__(self, other):
        return call_operator(BITWISE_XOR, other, self)

    def __lshift__(self, other):
        return call_operator(BITWISE_LEFT_SHIFT, self, other)

    def __rlshift__(self, other):
        return call_operator(BITWISE_LEFT_SHIFT, other, self)

    def __rshift__(self, other):
        return call_operator(BITWISE_RIGHT_SHIFT, self, other)

    def __rrshift__(self, other):
        return call_operator(BITWISE_RIGHT_SHIFT, other, self)

    def __matmul__(self, other):
        return MATMUL.call2(self, other) if isinstance(other, TensorBase) else NotImplemented

    def __rmatmul__(self, other):
        return MATMUL.call2(other, self) if isinstance(other, TensorBase) else NotImplemented

    # ---- in place

    def __iadd__(self, other):
        return call_in_place(ADD_, self, other)

    def __isub__(self, other):
        return call_in_place(SUB_, self, other)

    def __imul__(self, other):
        return call_in_place(MUL_, self, other)

    def __itruediv__(self, other):
        return call_in_place(DIV_, self, other)

    def __ifloordiv__(self, other):
        return call_in_place(FLOOR_DIVIDE_, self, other)

    def __imod__(self, other):
        return call_in_place(REMAINDER_, self, other)

    def __ipow__(self, other):
        return call_in_place(POW_, self, other)

    def __iand__(self, other):
        return call_in_place(BITWISE_AND_, self, other)

    def __ior__(self, other):
        return call_in_place(BITWISE_OR_, self, other)

    def __ixor__(self, other):
        return call_in_place(BITWISE_XOR_, self, other)

    def __ilshift__(self, other):
        return call_in_place(BITWISE_LEFT_SHIFT_, self, other)

    def __irshift__(self, other):
        return call_in_place(BITWISE_RIGHT_SHIFT_, self, other)

    def __imatmul__(self, other):
        return matmul_in_place(self, other) if isinstance(other, TensorBase) else NotImplemented

    def add_(self, other, *, alpha=1):
        """Add another tensor or a number, multiplied by `alpha`, in place, and return this tensor."""
        return in_place(ADD_, self, other, alpha)

    def sub_(self, other, *, alpha=1):
        """Subtract another tensor or a number, multiplied by `alpha`, in place, and return this tensor."""
        return in_place(SUB_, self, other, alpha)

    def mul_(self, other):
        """Multiply by another tensor or a number in place, and return this tensor."""
        return in_place(MUL_, self, other, 1)

    def div_(self, other):
        """Divide by another tensor or a number in place, and return this tensor."""
        return in_place(DIV_, self, other, 1)


@cython.cfunc
def in_place(table: OperatorTable, target: TensorBase, other, alpha):
    """Call an operator that writes to its first operand, from a method."""
    b: TensorBase
    if not isinstance(other, TensorBase) and not is_number(other):
        raise TypeError(f"{table.schema.name}() takes a tensor or a number, found {type(other).__name__}.")
    if isinstance(alpha, int) and alpha == 1:
        return call_in_place(table, target, other)
    b = other if isinstance(other, TensorBase) else scalar_like(target, other)
    return table.call((target, b), {"alpha": alpha}, target.impl.key_set | b.impl.key_set)


@cython.cfunc
def matmul_in_place(target: TensorBase, other: TensorBase):
    """Write a product over its left operand, which must have the product's shape."""
    product: TensorBase = MATMUL.call2(target, other)
    check_result_type(product.impl.dtype_code, target.impl.dtype_code)
    if not TensorImpl_same_sizes(product.impl, target.impl):
        raise ValueError(
            f"output with shape {target.shape} doesn't match the shape of the product {product.shape}: use x = x @ y."
        )
    return COPY_.call2(target, product)
