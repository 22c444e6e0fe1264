"""Numbers as operands: what is written to memory for each type, and by which operators."""

import numpy as np
import pytest

import tensix
from tensix.dispatch import dispatcher

VALUES = {
    "bool": [True, False], "uint8": [0, 255, True], "int8": [-128, 127], "int16": [-(2**15), 2**15 - 1],
    "int32": [-(2**31), 2**31 - 1], "int64": [-(2**63), 2**63 - 1], "uint16": [0, 2**16 - 1], "uint32": [0, 2**32 - 1],
    "uint64": [0, 2**64 - 1], "float16": [-1.5, 3, True, 65504.0], "bfloat16": [-1.5, 3, True, 2.0**127],
    "float32": [-1.5, 3, True, 2.0**-149, 2**100], "float64": [-1.5, 3, False, 5e-324, 2**100],
    "complex64": [1, 2.5, True, -1.5 - 2j], "complex128": [1, 2.5, False, 1e300 - 2j],
}  # fmt: skip


@pytest.mark.parametrize("dtype", VALUES)
def test_every_type(dtype):
    """The larger of two equal things is the number as it was written."""
    for value in VALUES[dtype]:
        x = tensix.full((2,), value, dtype=dtype)
        found = tensix.maximum(x, value)
        assert found.dtype.name == dtype and found.tolist() == x.tolist() == [value] * 2
        assert (x == value).tolist() == (value == x).tolist() == [True, True]


SCALARS = [
    np.bool(True), np.int8(2), np.int64(3), np.uint8(2), np.float16(1.5), np.float32(2.5), np.float64(0.1),
    np.complex64(1j), np.complex128(2j),
]  # fmt: skip


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda scalar: scalar.dtype.name)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float16", "float32", "float64", "complex64"])
def test_scalars_of_numpy_promote_by_their_type(dtype, scalar):
    x, other = tensix.ones(2, dtype=dtype), tensix.tensor(scalar)
    meant = tensix.promote_types(dtype, scalar.dtype)
    assert tensix.result_type(x, scalar) is meant
    for found, wanted in ((x * scalar, x * other), (scalar * x, x * other), (tensix.maximum(x, scalar), None),
                          (tensix.where(x == 1, x, scalar), None)):  # fmt: skip
        if wanted is None and meant.kind == "c":
            continue
        assert found.dtype is meant
        assert wanted is None or found.tolist() == wanted.tolist()


def test_a_product_with_a_scalar_does_not_wrap():
    x = tensix.tensor([200], dtype="uint8")
    assert (np.int8(2) * x).tolist() == (x * np.int8(2)).tolist() == [400]
    assert (tensix.tensor([0.1]) == np.float64(np.float32(0.1))).tolist() == [True]
    assert (tensix.tensor([0.1]) == np.float64(0.1)).tolist() == [False]


def test_a_scalar_does_not_change_the_type_of_what_is_written():
    x = tensix.ones(2)
    x *= np.float64(3)
    x.add_(np.float64(1), alpha=np.float64(2))
    x[0] = np.float64(7)
    assert x.dtype is tensix.float32
    assert x.tolist() == [7, 5]


def test_numbers_with_code_of_their_own():
    class Half(float):
        def __float__(self):
            raise AssertionError("its value is known")

    class Two:
        def __index__(self):
            return 2

    assert (tensix.ones(1) * Half(0.5)).item() == 0.5
    with pytest.raises(TypeError):
        tensix.ones(1) * Two()


def test_an_array_scalar_that_is_no_number():
    for wrong in (np.str_("a"), np.datetime64(1, "s"), np.void(b"ab")):
        with pytest.raises(TypeError):
            tensix.ones(2) + wrong


def test_a_number_is_made_by_empty_and_seen_by_listeners():
    """Devices from outside fill it themselves; on the CPU the number is written at once."""
    seen = []

    class Listener:
        def before_call(self, table, key, args, kwargs):
            seen.append((table.schema.name, key.name))

        def after_call(self, table, key, result):
            pass

        def failed_call(self, table, key):
            pass

    listener = Listener()
    x, y = tensix.ones(2), tensix.empty(2, device="meta")
    dispatcher.add_listener(listener)
    try:
        result, shape = x * 2, (y * 2).shape
    finally:
        dispatcher.remove_listener(listener)
    assert result.tolist() == [2, 2] and shape == (2,)
    assert [name for name, key in seen if key == "CPU"] == ["empty", "mul"]
    assert [name for name, key in seen if key == "Meta"] == ["empty", "fill_", "mul"]


@pytest.mark.parametrize("dtype, value, shown", [
    ("int8", 300, "300"), ("uint8", -1, "-1"), ("int16", 2**15, "32768"), ("uint64", -1, "-1"),
    ("int64", 2**70, str(2**70)), ("int32", 10**5000, "an int of more than 40 digits"),
    ("float32", 10**5000, "an int of more than 40 digits"), ("complex64", -(10**5000), "an int of more than 40 digits"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_number_that_a_type_cannot_hold_is_named_with_the_type(dtype, value, shown):
    x = tensix.ones(2, dtype=dtype)
    for use in (x.fill_, lambda value: x == value, lambda value: x + value, lambda value: x.__setitem__(0, value)):
        with pytest.raises(OverflowError, match=f"^{shown} is out of bounds for {dtype}.$"):
            use(value)
    assert x.tolist() == [1, 1]


PARTS = [4.0, -0.0, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("real", PARTS)
@pytest.mark.parametrize("imag", PARTS)
def test_the_parts_of_a_complex_number_do_not_touch_each_other(dtype, real, imag):
    """C's own complex numbers would make NaN of an infinite part, and lose the sign of a zero."""
    number, found = complex(real, imag), tensix.zeros(2, dtype=dtype)
    found[0] = number
    x = tensix.full((1,), complex(-0.0, -0.0), dtype=dtype)
    results = [found[0], (x + number)[0], (number + x)[0], tensix.full((1,), number, dtype=dtype)[0]]
    results += [tensix.empty(1, dtype=dtype).fill_(number)[0], tensix.tensor([number, 0], dtype=dtype)[0]]
    results += [tensix.tensor(number, dtype=dtype), tensix.where(tensix.ones(1, dtype="bool"), number, x)[0]]
    assert [repr(result.item()) for result in results] == [repr(number)] * len(results)
