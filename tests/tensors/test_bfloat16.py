"""bfloat16: exchange with NumPy through ml_dtypes, and all the rest without it."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix
from tensix import bfloat16, from_numpy

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
SPECIAL = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-45, 3.3895e38, 3.3962e38, 1.00390625, 1.01171875]


def bits_of(tensor):
    return np.asarray(tensor).view(np.uint16)


# ---- arrays


def test_arrays_share_their_bytes():
    array = np.arange(6).astype(BFLOAT16).reshape(2, 3)
    x = from_numpy(array)
    assert (x.dtype, x.shape, x.data_ptr()) == (bfloat16, (2, 3), array.ctypes.data)
    array[0, 1] = 7
    x[1] = 9
    assert x.tolist() == array.tolist() == [[0, 7, 2], [9, 9, 9]]
    again = np.asarray(x)
    assert again.dtype == BFLOAT16 and again.ctypes.data == array.ctypes.data and again.strides == array.strides
    assert np.array(x, np.float64).tolist() == x.tolist()


def test_arrays_that_cannot_be_written():
    array = np.ones(3, BFLOAT16)
    array.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        from_numpy(array).fill_(2)
    assert not np.asarray(from_numpy(array)).flags.writeable
    with pytest.raises(TypeError, match="not an element type"):
        from_numpy(np.ones(3, ml_dtypes.float8_e5m2))


@pytest.mark.parametrize("data", [[1.0, 2.5], 3, [[True, False]], np.array([1.5, 2]), np.array([1, 2], BFLOAT16), [],
                                  tensix.tensor([1.5, -2.0]), np.float64(2), ml_dtypes.bfloat16(2)])
def test_tensor_of_data(data):
    x = tensix.tensor(data, dtype="bfloat16")
    assert x.dtype is bfloat16 and x.shape == np.shape(data) and x.tolist() == np.asarray(data).tolist()
    assert x.storage().resizable and not x.readonly


def test_type_of_an_array_is_kept():
    array = np.array([1, 2], BFLOAT16)
    for data in (array, list(array), array[0]):
        assert tensix.tensor(data).dtype is bfloat16
    assert tensix.empty(2, dtype=ml_dtypes.bfloat16).dtype is tensix.empty(2, dtype=BFLOAT16).dtype is bfloat16


def test_numbers_and_text():
    x = tensix.tensor([[1.5, -2.0], [0.25, np.inf]], dtype=bfloat16)
    assert x.tolist() == [[1.5, -2.0], [0.25, np.inf]] and type(x[0, 0].item()) is float and float(x[0, 1]) == -2.0
    assert bool(x[0, 0]) and not tensix.zeros((), dtype=bfloat16)
    assert repr(x[0]) == "tensor([ 1.5, -2.0], dtype=tensix.bfloat16)"
    assert repr(tensix.empty(0, 2, dtype=bfloat16)) == "tensor([], shape=(0, 2), dtype=tensix.bfloat16)"


# ---- conversion


@settings(max_examples=200)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=20))
def test_rounding_of_float32_is_that_of_ml_dtypes(numbers):
    array = np.array(numbers, np.uint32).view(np.float32)
    found = bits_of(tensix.empty(len(numbers), dtype=bfloat16).copy_(from_numpy(array)))
    with np.errstate(all="ignore"):
        assert found.tolist() == array.astype(BFLOAT16).view(np.uint16).tolist()


@pytest.mark.parametrize("value", SPECIAL)
def test_special_values(value):
    """The nearest, the even one of two; infinity beyond the largest, and no number stays none."""
    with np.errstate(all="ignore"):
        expected = np.array(value, np.float32).astype(BFLOAT16)
    for x in (tensix.tensor(value, dtype=bfloat16), tensix.full((), value, dtype=bfloat16),
              tensix.zeros(3, dtype=bfloat16)[::2].fill_(value)[1]):
        assert bits_of(x) == expected.view(np.uint16)


@pytest.mark.parametrize("bits", [0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000])
def test_no_number_becomes_infinite(bits):
    x = tensix.empty(1, dtype=bfloat16).copy_(from_numpy(np.array([bits], np.uint32).view(np.float32)))
    assert np.isnan(x.item()) and bits_of(x)[0] >> 15 == bits >> 31


def test_every_bfloat16_comes_back():
    array = np.arange(2**16, dtype=np.uint16).view(BFLOAT16)
    array = array[~np.isnan(array.astype(np.float32))]
    wide = tensix.empty(len(array)).copy_(from_numpy(array))
    assert np.asarray(wide).tolist() == array.astype(np.float32).tolist()
    assert (bits_of(tensix.empty(len(array), dtype=bfloat16).copy_(wide)) == array.view(np.uint16)).all()


OTHERS = ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "float64", "complex64"]


@pytest.mark.parametrize("dtype", OTHERS)
def test_copy_from_and_to_other_types(dtype):
    array = np.arange(12).reshape(3, 4).astype(dtype)
    x = tensix.empty(4, 3, dtype=bfloat16)
    if dtype == "complex64":
        with pytest.raises(TypeError, match="imaginary parts would be lost"):
            x.T.copy_(from_numpy(array))
        x.T.copy_(from_numpy(array.real))
    else:
        x.T.copy_(from_numpy(array))
    assert x.T.tolist() == array.real.tolist()
    back = tensix.zeros(3, 4, dtype=dtype)
    assert back[:, ::-1].copy_(x.T).tolist() == array.tolist()
    assert back[:, ::-1].tolist() == array.tolist()


def test_copy_broadcasts_and_refuses_what_does_not_fit():
    x = tensix.zeros(2, 3, dtype=bfloat16)
    assert x.copy_(tensix.tensor([1, 2, 3])).tolist() == [[1, 2, 3]] * 2
    assert tensix.zeros(2, 3).copy_(x[0]).tolist() == [[1, 2, 3]] * 2
    for target, source in ((x, tensix.ones(2)), (tensix.zeros(2), x), (x, tensix.ones(2, dtype="int8"))):
        with pytest.raises(ValueError, match="broadcast"):
            target.copy_(source)
    assert x.tolist() == [[1, 2, 3]] * 2


def test_large_tensors():
    array = np.random.default_rng(0).normal(size=(300, 400)).astype(np.float32)
    x = tensix.empty(400, 300, dtype=bfloat16).copy_(from_numpy(array).T)
    assert (np.asarray(x) == array.T.astype(BFLOAT16)).all()


@pytest.mark.parametrize("value", ["a", None, [1, 2], 1j])
def test_fill_with_what_does_not_fit(value):
    x = tensix.ones(2, dtype=bfloat16)
    with pytest.raises((TypeError, ValueError)):
        x.fill_(value)
    assert x.tolist() == [1, 1]


def test_assignment():
    x = tensix.zeros(4, dtype=bfloat16)
    x[0], x[1:3], x[3:] = 1.5, [2, 3], np.array([4.0])
    assert x.tolist() == [1.5, 2, 3, 4]
    x[::2] = tensix.tensor([7, 8])
    assert x.lazy_clone().tolist() == x.clone().tolist() == [7, 2, 8, 4]


# ---- arithmetic


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 2**16 - 1), st.integers(0, 2**16 - 1)), min_size=1, max_size=10))
def test_arithmetic_is_that_of_ml_dtypes(pairs):
    a, b = (np.array(numbers, np.uint16).view(BFLOAT16) for numbers in zip(*pairs))
    with np.errstate(all="ignore"):
        for operator in ("__add__", "__sub__", "__mul__", "__truediv__"):
            result = getattr(from_numpy(a), operator)(from_numpy(b))
            assert result.dtype is bfloat16
            np.testing.assert_array_equal(np.array(result, np.float32), getattr(a, operator)(b).astype(np.float32))
        np.testing.assert_array_equal(np.array(-from_numpy(a), np.float32), (-a).astype(np.float32))


def test_arithmetic_with_numbers():
    x = tensix.tensor([1.5, 2.0], dtype=bfloat16)
    for result, expected in ((x + 1, [2.5, 3.0]), (1 - x, [-0.5, -1.0]), (x * 2.0 / 3, [1.0, 1.3359375])):
        assert result.dtype is bfloat16 and result.tolist() == expected
    assert (x + 1j).dtype is tensix.complex64


def test_mixed_arithmetic():
    x = tensix.tensor([1.5, 2.0], dtype=bfloat16)
    for other, dtype in (("float32", "float32"), ("float64", "float64"), ("float16", "float32")):
        result = x + tensix.ones(2, dtype=other)
        assert (str(result.dtype), result.tolist()) == (dtype, [2.5, 3.0])


# ---- without ml_dtypes


def run(program):
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("value", [0.0, 2.0, float("nan")])
def test_searching_a_tensor_without_dimensions(value):
    x, wide = tensix.tensor(value, dtype="bfloat16"), np.array(value, np.float32)
    for function in (tensix.argmax, tensix.argmin, tensix.count_nonzero):
        found = function(x)
        assert (found.item(), found.shape, found.dtype) == (getattr(np, function.__name__)(wide), (), tensix.int64)


def test_ml_dtypes_is_not_imported_before_it_is_needed():
    run("""
import sys, tensix, numpy
x = tensix.tensor([1.5, 2.0], dtype=tensix.bfloat16)
assert repr(x) and x.tolist() == [1.5, 2.0] and (x + tensix.ones(2)).tolist() == [2.5, 3.0]
assert "ml_dtypes" not in sys.modules
assert numpy.asarray(x).tolist() == [1.5, 2.0] and "ml_dtypes" in sys.modules
""")


def test_what_works_without_ml_dtypes():
    run("""
import sys
sys.modules["ml_dtypes"] = None  # as if it were not installed
import tensix, numpy
x = tensix.zeros(2, dtype="bfloat16")
x[0], x[1:] = 1.5, [2.0]
assert repr(x) == "tensor([1.5, 2.0], dtype=tensix.bfloat16)" and x.tolist() == [1.5, 2.0] and x[0].item() == 1.5
assert tensix.bfloat16.numpy is None and tensix.empty(2, dtype="int8").copy_(x).tolist() == [1, 2]
try:
    numpy.asarray(x)
except TypeError as error:
    assert "Install ml_dtypes" in str(error)
else:
    raise AssertionError
""")
