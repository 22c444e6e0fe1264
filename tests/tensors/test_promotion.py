"""Type promotion: the array API's table, and PyTorch's where the standard leaves it open."""

import itertools

import numpy as np
import pytest

import tensix
from tensix.tensors.promotion import promote_types

SHORT = {
    "u1": "uint8", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "f2": "float16", "f4": "float32",
    "f8": "float64", "c4": "complex64", "c8": "complex128", "b1": "bool", "bf": "bfloat16",
}  # fmt: skip

# PyTorch's promoteTypes without complex32; the unsigned types beyond uint8 follow the standard, below.
TABLE = """
     u1 i1 i2 i4 i8 f2 f4 f8 c4 c8 b1 bf
u1   u1 i2 i2 i4 i8 f2 f4 f8 c4 c8 u1 bf
i1   i2 i1 i2 i4 i8 f2 f4 f8 c4 c8 i1 bf
i2   i2 i2 i2 i4 i8 f2 f4 f8 c4 c8 i2 bf
i4   i4 i4 i4 i4 i8 f2 f4 f8 c4 c8 i4 bf
i8   i8 i8 i8 i8 i8 f2 f4 f8 c4 c8 i8 bf
f2   f2 f2 f2 f2 f2 f2 f4 f8 c4 c8 f2 f4
f4   f4 f4 f4 f4 f4 f4 f4 f8 c4 c8 f4 f4
f8   f8 f8 f8 f8 f8 f8 f8 f8 c8 c8 f8 f8
c4   c4 c4 c4 c4 c4 c4 c4 c8 c4 c8 c4 c4
c8   c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8 c8
b1   u1 i1 i2 i4 i8 f2 f4 f8 c4 c8 b1 bf
bf   bf bf bf bf bf f4 f4 f8 c4 c8 bf bf
"""
HEAD, *ROWS = [line.split() for line in TABLE.strip().splitlines()]
PAIRS = [(row[0], column, meant) for row in ROWS for column, meant in zip(HEAD, row[1:], strict=True)]
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("a, b, meant", PAIRS)
def test_table_of_pytorch(a, b, meant):
    assert promote_types(SHORT[a], SHORT[b]) is getattr(tensix, SHORT[meant])


@pytest.mark.parametrize("a, b", list(itertools.product(INTEGERS, INTEGERS)))
def test_integers_meet_where_numpy_does_or_not_at_all(a, b):
    """NumPy goes to float64 for uint64 with a signed type, which the standard leaves open: an error here."""
    expected = np.promote_types(a, b)
    if expected.kind == "f":
        with pytest.raises(TypeError, match=f"{a} and {b} do not promote to a common type. Convert one"):
            promote_types(a, b)
    else:
        assert promote_types(a, b).numpy == expected


@pytest.mark.parametrize("unsigned", ["uint16", "uint32", "uint64"])
@pytest.mark.parametrize("other", ["bool", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_higher_kind_keeps_its_precision(unsigned, other):
    meant = unsigned if other == "bool" else other
    assert promote_types(unsigned, other) is promote_types(other, unsigned) is getattr(tensix, meant)


def test_arguments_in_any_form():
    assert promote_types(np.int8, float) is tensix.float64
    with pytest.raises(TypeError, match="element type"):
        promote_types("float32", "quaternion")


@pytest.mark.parametrize("a, b, meant", [(tensix.float32, tensix.float64, "float64"),
                                         (tensix.int64, tensix.float32, "float32"),
                                         (tensix.bool, tensix.uint8, "uint8")])
def test_tensors_without_dimensions_count_like_any_other(a, b, meant):
    x, y = tensix.ones(2, dtype=a), tensix.ones((), dtype=b)
    assert (x + y).dtype is (y + x).dtype is getattr(tensix, meant)
