"""Values and membership against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import tensix

arrays = nps.arrays(st.sampled_from([np.dtype("i1"), np.dtype("f4"), np.dtype("?"), np.dtype("c8")]),
                    nps.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))  # fmt: skip


@settings(max_examples=60)
@given(arrays)
def test_unique(array):
    x = tensix.from_numpy(array)
    found, expected = tensix.unique_all(x), np.unique_all(array)
    assert found._fields == ("values", "indices", "inverse_indices", "counts")
    for name in found._fields:
        one = getattr(found, name)
        np.testing.assert_array_equal(np.asarray(one), getattr(expected, name))
        assert one.shape == getattr(expected, name).shape
    values, counts = tensix.unique_counts(x)
    np.testing.assert_array_equal(np.asarray(counts), expected.counts)
    values, inverse = tensix.unique_inverse(x)
    assert inverse.shape == array.shape
    np.testing.assert_array_equal(np.asarray(tensix.unique_values(x)), expected.values)
    assert values.dtype is x.dtype and not values.is_alias_of(x)


def test_fields():
    assert tensix.unique_counts(tensix.ones(2))._fields == ("values", "counts")
    assert tensix.unique_inverse(tensix.ones(2))._fields == ("values", "inverse_indices")


def test_each_nan_is_a_value():
    x = tensix.tensor([float("nan"), 1.0, float("nan")])
    assert tensix.unique_values(x).shape == (3,) and tensix.unique_counts(x).counts.tolist() == [1, 1, 1]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_the_first_of_equal_zeros_is_the_value(dtype):
    for zeros in ([0.0, -0.0, 0.0], [-0.0, 0.0]):
        x = tensix.astype(tensix.tensor([1.0, *zeros]), dtype)
        for function in (tensix.unique_values, tensix.unique_all, tensix.unique_counts, tensix.unique_inverse):
            found = function(x)
            values = found if function is tensix.unique_values else found.values
            assert str(tensix.real(values).tolist()) == str([zeros[0], 1.0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8"])
@pytest.mark.parametrize("counts", [(100, 9), (3, 50), (33, 1000)])
def test_isin_of_many_values(dtype, counts):
    draw = np.random.default_rng(0)
    x, y = (draw.integers(0, 200, count).astype(dtype) for count in counts)
    if dtype.startswith("float"):
        x[:2], y[0] = [np.nan, -0.0], np.nan
    found = tensix.isin(tensix.from_numpy(x), tensix.from_numpy(y))
    assert found.tolist() == np.isin(x, y).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_types_are_ordered_as_float32(dtype):
    exact = tensix.tensor([3, float("nan"), 1, float("nan"), 2, 1])
    x = tensix.astype(exact, dtype)
    for function in (tensix.unique_all, tensix.unique_counts, tensix.unique_inverse):
        found, expected = function(x), function(exact)
        assert str([part.tolist() for part in found]) == str([part.tolist() for part in expected])
        assert [str(part.dtype) for part in found] == [dtype] + ["int64"] * (len(found) - 1)
    assert str(tensix.unique_values(x).tolist()) == "[1.0, 2.0, 3.0, nan, nan]"
    assert tensix.unique_values(x).dtype is x.dtype
    assert tensix.isin(x, x).tolist() == tensix.isin(exact, exact).tolist()
    assert tensix.isin(x, 3).tolist() == [True, False, False, False, False, False]


@settings(max_examples=40)
@given(nps.arrays(np.int16, nps.array_shapes(min_dims=0, max_dims=2), elements=st.integers(-3, 3)),
       nps.arrays(np.int16, nps.array_shapes(min_dims=0, max_dims=2), elements=st.integers(-3, 3)), st.booleans())
def test_isin(x1, x2, invert):
    found = tensix.isin(tensix.from_numpy(x1), tensix.from_numpy(x2), invert=invert)
    expected = np.asarray(np.isin(x1, x2, invert=invert))
    assert (found.shape, str(found.dtype), found.tolist()) == (expected.shape, "bool", expected.tolist())


def test_isin_of_numbers():
    x = tensix.tensor([1, 2])
    assert tensix.isin(x, 2).tolist() == [False, True] and tensix.isin(2, x).tolist() is True
    assert tensix.isin(x, 1.5).tolist() == [False, False]
    for args in ((1, 2), (x, "a"), ([1], [2])):
        with pytest.raises((TypeError, ValueError)):
            tensix.isin(*args)


def test_isin_promotes():
    assert tensix.isin(tensix.tensor([1, 2]), tensix.tensor([2.0])).tolist() == [False, True]
    with pytest.raises(TypeError, match="do not promote"):
        tensix.isin(tensix.tensor([1], dtype="uint64"), tensix.tensor([1]))
