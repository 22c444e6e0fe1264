"""Element types written as NumPy's and PyTorch's users write them."""

import numpy as np
import pytest

import tensix


@pytest.mark.parametrize("name", [np.float32, np.dtype("float32"), "float32", "f4", "<f4", "single"])
def test_a_type_equals_whatever_names_it(name):
    x = tensix.zeros(3)
    assert x.dtype == name
    assert name == x.dtype
    assert tensix.int64 != name


@pytest.mark.parametrize("other", [None, "nonsense", str, object, 3, ">f4", "f4,f4", (), np.dtype("M8[s]")])
def test_a_type_equals_nothing_else(other):
    assert tensix.float32 != other


@pytest.mark.parametrize("given", [bool, int, float, complex, "float", "complex"])
def test_python_types_are_numpys(given):
    for x in (tensix.zeros(1, dtype=given), tensix.asarray([1], dtype=given), tensix.ones(1, dtype="?").astype(given)):
        assert x.dtype is getattr(tensix, np.dtype(given).name)
        assert x.dtype == given
    assert tensix.float32 != float  # noqa: E721 a type equals what names it


def test_precision_is_kept_in_float():
    assert tensix.tensor([2**53 - 1.0], dtype=float).item() == 2**53 - 1


def test_dictionaries_find_types_by_numpys():
    sizes = {np.dtype("float32"): 4, np.dtype("int64"): 8}
    assert sizes[tensix.float32] == 4
    assert np.dtype("int64") in {tensix.int64}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("f4", tensix.float32), ("<f4", tensix.float32), ("i8", tensix.int64), ("float", tensix.float64),
        ("int", tensix.int64), ("double", tensix.float64), ("half", tensix.float16), ("complex", tensix.complex128),
        ("?", tensix.bool), (np.int16, tensix.int16),
    ],
)
def test_names_are_taken_wherever_a_type_is(name, dtype):
    assert tensix.empty(2, dtype=name).dtype is dtype
    assert tensix.full((2,), 1, dtype=name).dtype is dtype
    assert tensix.asarray([1], dtype=name).dtype is dtype
    assert tensix.astype(tensix.ones(2, dtype="i4"), name).dtype is dtype
    assert tensix.result_type(name) is dtype
    assert tensix.zeros(16, dtype="u1").view(name).dtype is dtype


@pytest.mark.parametrize("name", ["string", "U5", object, "M8[s]", 3])
def test_other_names_are_refused_in_words(name):
    with pytest.raises(TypeError, match="not an element type of tensix"):
        tensix.zeros(3, dtype=name)


def test_the_other_order_of_bytes_is_refused_in_words():
    with pytest.raises(TypeError, match="in the machine's order"):
        tensix.zeros(3, dtype=np.dtype("f4").newbyteorder().str)


@pytest.mark.parametrize("make", [tensix.zeros, tensix.ones, tensix.empty, tensix.rand])
@pytest.mark.parametrize("dtype", ["float64", tensix.float64, np.float64])
def test_a_type_by_position_is_told_its_name(make, dtype):
    with pytest.raises(TypeError, match="dtype='float64'"):
        make(3, dtype)
    with pytest.raises(TypeError, match="dtype='float64'"):
        make((3,), dtype)


@pytest.mark.parametrize(
    "data",
    [
        [np.float64(0.1)],
        [[np.float64(0.1)], [0.5]],
        [np.array([0.1]), np.array([0.2])],
        [tensix.tensor([0.1], dtype="f8")],
    ],
    ids=["scalar", "nested", "arrays", "tensors"],
)
def test_numbers_that_have_a_type_keep_it(data):
    assert tensix.tensor(data).dtype is tensix.float64
    assert tensix.asarray(data).dtype is tensix.float64
    assert tensix.tensor(data).flatten()[0].item() == 0.1


def test_numbers_of_python_get_the_default():
    assert tensix.tensor([0.1, 1]).dtype is tensix.float32
    assert tensix.tensor([1, 2]).dtype is tensix.int64
