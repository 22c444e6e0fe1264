"""Order, and that equal elements keep theirs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import tensix

arrays = nps.arrays(st.sampled_from([np.dtype("i1"), np.dtype("f4"), np.dtype("?"), np.dtype("u8")]),
                    nps.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=9),
                    elements={"allow_nan": False})  # fmt: skip


@settings(max_examples=60)
@given(arrays, st.booleans(), st.booleans(), st.data())
def test_sort_and_argsort(array, descending, stable, data):
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    x = tensix.from_numpy(array)
    expected = np.sort(array, axis)
    expected = np.flip(expected, axis) if descending else expected
    found = tensix.sort(x, axis=axis, descending=descending, stable=stable)
    order = tensix.argsort(x, axis=axis, descending=descending, stable=stable)
    assert (found.shape, str(found.dtype), str(order.dtype)) == (array.shape, str(array.dtype), "int64")
    np.testing.assert_array_equal(np.asarray(found), expected)
    np.testing.assert_array_equal(np.take_along_axis(array, np.asarray(order), axis), expected)
    assert not found.is_alias_of(x)


@given(st.lists(st.integers(0, 3)))
def test_equal_elements_keep_their_order(values):
    """As in Python, whose order is stable both ways."""
    x = tensix.tensor(values, dtype="int8")
    for descending in (False, True):
        expected = sorted(range(len(values)), key=values.__getitem__, reverse=descending)
        assert tensix.argsort(x, descending=descending).tolist() == expected


def test_zeros_of_both_signs_keep_their_order():
    x = tensix.tensor([0.0, -0.0, 0.0])
    for descending in (False, True):
        assert np.signbit(np.asarray(tensix.sort(x, descending=descending))).tolist() == [False, True, False]


def test_nan():
    x = tensix.tensor([float("nan"), 1.0, 2.0])
    assert str(tensix.sort(x).tolist()) == "[1.0, 2.0, nan]"
    assert str(tensix.sort(x, descending=True).tolist()) == "[nan, 2.0, 1.0]"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("descending", [False, True])
def test_narrow_types_are_ordered_as_float32(dtype, descending):
    exact = tensix.tensor([[3, float("nan"), 1], [float("nan"), -0.0, float("inf")]])
    x = tensix.astype(exact, dtype)
    for axis in (0, 1):
        found = tensix.sort(x, axis=axis, descending=descending)
        order = tensix.argsort(x, axis=axis, descending=descending)
        assert str(found.tolist()) == str(tensix.sort(exact, axis=axis, descending=descending).tolist())
        assert order.tolist() == tensix.argsort(exact, axis=axis, descending=descending).tolist()
        assert (str(found.dtype), str(order.dtype)) == (dtype, "int64")


@pytest.mark.parametrize("function", [tensix.sort, tensix.argsort])
@pytest.mark.parametrize("descending", [False, True])
def test_dimension_that_is_not_there(function, descending):
    for x, axis in ((tensix.ones(2), 1), (tensix.ones(2, 2), -3), (tensix.ones(()), -1)):
        with pytest.raises(IndexError):
            function(x, axis=axis, descending=descending)


def test_read_only_input():
    assert tensix.sort(tensix.asarray(b"ba")).tolist() == [97, 98]
