"""Type promotion.

Within a kind the array API standard says what two types promote to. Between kinds, where it leaves the answer open,
PyTorch's rule holds: the higher kind of bool, integer, real and complex wins and keeps its own precision, so int64
and float32 promote to float32. What neither defines (uint64 with a signed integer) is an error.
"""

import cython
from cython.cimports.tensix.tensors.dtype import (
    UNDEFINED, DType, default_float_code, dtype_from_any, dtype_of_code, refuse_undefined,
)

from tensix.tensors.dtype import DTYPE_COUNT

__all__ = ["promote_types"]

RANKS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
TABLE = cython.declare(cython.uchar[47][47])  # DTYPE_COUNT squared; 46, "undefined", where two types do not promote


def promote_types(a, b):
    """Return the element type that two others promote to.

    Raises
    ------
    TypeError
        If there is none.

    Examples
    --------
    >>> from tensix.tensors.promotion import promote_types
    >>> promote_types(tensix.int64, tensix.float32), promote_types(tensix.uint8, tensix.int8)
    (tensix.float32, tensix.int16)
    """
    return dtype_of_code(promote_codes(dtype_from_any(a).code, dtype_from_any(b).code))


def promote_codes(a, b):
    """Return the code of the element type that two others promote to."""
    code: cython.int = TABLE[a][b]
    if code == UNDEFINED:
        if UNDEFINED in (a, b):
            refuse_undefined()
        raise TypeError(
            f"{dtype_of_code(a).name} and {dtype_of_code(b).name} do not promote to a common type. "
            "Convert one of them first."
        )
    return code


def promote_number(dtype, number):
    """Return the element type that one takes on beside a Python number: itself, unless the number's kind is higher."""
    rank: cython.int = RANKS[dtype.kind]
    if isinstance(number, complex) and rank < RANKS["c"]:
        return dtype_from_any("complex128" if dtype.name == "float64" else "complex64")
    if isinstance(number, float) and rank < RANKS["f"]:
        return dtype_of_code(default_float_code())
    if rank == RANKS["b"] and not isinstance(number, (bool, float, complex)):
        return dtype_from_any("int64")
    return dtype


def check_result_type(result, output):
    """Check that results of one type may be written to an output of another: only the kind must not be lowered.

    Within a kind anything goes, int64 to uint8 too.
    """
    kinds = (dtype_of_code(result).kind, dtype_of_code(output).kind)
    if result != output and RANKS[kinds[0]] > RANKS[kinds[1]]:
        raise TypeError(
            f"result type {dtype_of_code(result).name} can't be cast to the desired output type "
            f"{dtype_of_code(output).name}."
        )
    return 0


def promoted_name(a: DType, b: DType):
    """Return the name of the type that two types promote to, None if there is none."""
    if a is b:
        return a.name
    rank_a, rank_b = RANKS[a.kind], RANKS[b.kind]
    low, high = (a, b) if (rank_a, a.itemsize) <= (rank_b, b.itemsize) else (b, a)
    if rank_a != rank_b:
        if high.kind == "c" and low.name == "float64":
            return "complex128"
        return high.name
    if low.itemsize == high.itemsize and low.kind == "f":
        return "float32"  # float16 and bfloat16
    if low.kind == high.kind:
        return high.name
    unsigned, signed = (low, high) if low.kind == "u" else (high, low)
    if signed.itemsize > unsigned.itemsize:
        return signed.name
    return {1: "int16", 2: "int32", 4: "int64"}.get(unsigned.itemsize)


def fill_table():
    """Enter every pair of types."""
    for a in range(DTYPE_COUNT):
        for b in range(DTYPE_COUNT):
            TABLE[a][b] = UNDEFINED
            if dtype_of_code(a) is not None and dtype_of_code(b) is not None and UNDEFINED not in (a, b):
                name = promoted_name(dtype_of_code(a), dtype_of_code(b))
                if name is not None:
                    TABLE[a][b] = dtype_from_any(name).code


fill_table()
