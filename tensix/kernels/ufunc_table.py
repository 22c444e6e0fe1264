"""Which of NumPy's ufuncs serves which operator.

`promotes` marks those whose results are real numbers: integers are reckoned with in the default floating type.
"""

import numpy as np

from tensix.dispatch import native_functions as native
from tensix.kernels.ufunc import InPlaceKernel, OutKernel, PowerKernel, UfuncKernel

KEEPING = {
    native.ABS: np.absolute,
    native.BITWISE_INVERT: np.invert,
    native.CEIL: np.ceil,
    native.CONJ: np.conjugate,
    native.FLOOR: np.floor,
    native.ISFINITE: np.isfinite,
    native.ISINF: np.isinf,
    native.ISNAN: np.isnan,
    native.LOGICAL_NOT: np.logical_not,
    native.NEG: np.negative,
    native.POSITIVE: np.positive,
    native.ROUND: np.rint,
    native.SIGN: np.sign,
    native.SQUARE: np.square,
    native.TRUNC: np.trunc,
    native.ADD: np.add,
    native.SUB: np.subtract,
    native.MUL: np.multiply,
    native.FLOOR_DIVIDE: np.floor_divide,
    native.REMAINDER: np.remainder,
    native.POW: np.power,
    native.BITWISE_AND: np.bitwise_and,
    native.BITWISE_OR: np.bitwise_or,
    native.BITWISE_XOR: np.bitwise_xor,
    native.BITWISE_LEFT_SHIFT: np.left_shift,
    native.BITWISE_RIGHT_SHIFT: np.right_shift,
    native.LOGICAL_AND: np.logical_and,
    native.LOGICAL_OR: np.logical_or,
    native.LOGICAL_XOR: np.logical_xor,
    native.MAXIMUM: np.maximum,
    native.MINIMUM: np.minimum,
    native.EQUAL: np.equal,
    native.NOT_EQUAL: np.not_equal,
    native.LESS: np.less,
    native.LESS_EQUAL: np.less_equal,
    native.GREATER: np.greater,
    native.GREATER_EQUAL: np.greater_equal,
}
PROMOTING = {
    native.ACOS: np.arccos,
    native.ACOSH: np.arccosh,
    native.ASIN: np.arcsin,
    native.ASINH: np.arcsinh,
    native.ATAN: np.arctan,
    native.ATANH: np.arctanh,
    native.COS: np.cos,
    native.COSH: np.cosh,
    native.EXP: np.exp,
    native.EXPM1: np.expm1,
    native.LOG: np.log,
    native.LOG10: np.log10,
    native.LOG1P: np.log1p,
    native.LOG2: np.log2,
    native.RECIPROCAL: np.reciprocal,
    native.SIGNBIT: np.signbit,
    native.SIN: np.sin,
    native.SINH: np.sinh,
    native.SQRT: np.sqrt,
    native.TAN: np.tan,
    native.TANH: np.tanh,
    native.DIV: np.divide,
    native.ATAN2: np.arctan2,
    native.COPYSIGN: np.copysign,
    native.HYPOT: np.hypot,
    native.LOGADDEXP: np.logaddexp,
    native.NEXTAFTER: np.nextafter,
}
# Integers are round already.
ROUNDING = (native.CEIL, native.FLOOR, native.ROUND, native.TRUNC)


def served():
    """Return the tables that have a kernel of a ufunc, those of the variants that write included."""
    tables = [*KEEPING, *PROMOTING]
    return [*tables, *native.OUT_VARIANTS.values(), *native.IN_PLACE_VARIANTS.values()]


def serve(table, kernel):
    """Register a kernel, and those that write what it reckons to a tensor."""
    table.register("CPU", kernel)
    native.OUT_VARIANTS[table].register("CPU", OutKernel(kernel))
    if table in native.IN_PLACE_VARIANTS:
        native.IN_PLACE_VARIANTS[table].register("CPU", InPlaceKernel(kernel))


for _table, _function in KEEPING.items():
    _kind = PowerKernel if _table is native.POW else UfuncKernel
    serve(_table, _kind(_table.schema.name, _function, integers=np.positive if _table in ROUNDING else None))
for _table, _function in PROMOTING.items():
    serve(_table, UfuncKernel(_table.schema.name, _function, promotes=True))
