"""take, take_along_axis and diff against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import tensix

arrays = nps.arrays(np.int32, nps.array_shapes(max_dims=3, max_side=4), elements=st.integers(-9, 9))


def assert_like(x, array):
    assert (x.shape, str(x.dtype)) == (np.shape(array), str(array.dtype)) and x.tolist() == array.tolist()


@settings(max_examples=50)
@given(arrays, st.data())
def test_take(array, data):
    x = tensix.from_numpy(array)
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    length = array.shape[axis]
    indices = data.draw(nps.arrays(np.int64, nps.array_shapes(min_dims=0, max_dims=2, min_side=0),
                                   elements=st.integers(-length, length - 1)))  # fmt: skip
    found = tensix.take(x, tensix.from_numpy(indices), axis=axis)
    assert_like(found, np.take(array, indices, axis))
    assert_like(tensix.take(x, tensix.from_numpy(indices)), np.take(array, indices))
    along = data.draw(nps.arrays(np.int16, array.shape, elements=st.integers(-length, length - 1)))
    assert_like(tensix.take_along_axis(x, tensix.from_numpy(along), axis=axis), np.take_along_axis(array, along, axis))
    assert not found.is_alias_of(x)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint64", "int64"])
def test_types_of_indices(dtype):
    x, where = tensix.tensor([5, 6, 7]), tensix.tensor([2, 0], dtype=dtype)
    assert tensix.take(x, where).tolist() == tensix.take_along_axis(x, where).tolist() == [7, 5]


@pytest.mark.parametrize("dtype", ["bool", "bfloat16", "complex128"])
def test_types_of_elements(dtype):
    x = tensix.ones(3, dtype=dtype)
    assert tensix.take(x, tensix.tensor([0])).dtype is tensix.take_along_axis(x, tensix.tensor([0])).dtype is x.dtype


X = tensix.ones(2, 3)


@pytest.mark.parametrize("call, error", [
    (lambda: tensix.take(X, tensix.tensor([2]), axis=0), IndexError),
    (lambda: tensix.take(X, tensix.tensor([-3]), axis=0), IndexError),
    (lambda: tensix.take(X, tensix.tensor([2**63], dtype="uint64"), axis=0), IndexError),
    (lambda: tensix.take(X, tensix.tensor([0]), axis=2), IndexError),
    (lambda: tensix.take(X, tensix.ones(1), axis=0), TypeError),
    (lambda: tensix.take(X, tensix.tensor([True]), axis=0), TypeError),
    (lambda: tensix.take(X, [0], axis=0), TypeError),
    (lambda: tensix.take_along_axis(X, tensix.tensor([0])), ValueError),
    (lambda: tensix.take_along_axis(X, tensix.tensor([[9]])), IndexError),
    (lambda: tensix.take_along_axis(X, tensix.tensor([[0]]), axis=2), IndexError),
    (lambda: tensix.take_along_axis(X, tensix.ones(2, 3)), TypeError),
    (lambda: tensix.diff(X, axis=2), IndexError), (lambda: tensix.diff(X, n=-1), ValueError),
    (lambda: tensix.diff(tensix.ones(())), ValueError), (lambda: tensix.diff(X, prepend=1), TypeError),
    (lambda: tensix.diff(X, append=tensix.ones(3)), ValueError),
])
def test_bad_input(call, error):
    with pytest.raises(error):
        call()


# ---- differences


@settings(max_examples=50)
@given(arrays, st.integers(0, 3), st.data())
def test_diff(array, n, data):
    x = tensix.from_numpy(array)
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    assert_like(tensix.diff(x, axis=axis, n=n), np.diff(array, n, axis))
    both = {"prepend": array, "append": array}
    given_tensors = {name: tensix.from_numpy(value) for name, value in both.items()}
    assert_like(tensix.diff(x, n, axis=axis, **given_tensors), np.diff(array, n, axis, **both))


def test_diff_of_no_differences_is_a_copy():
    x = tensix.ones(2)
    tensix.diff(x, n=0).fill_(5)
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("n", [3, 4, 5, 2**70])
def test_diff_ends_when_nothing_is_left(n):
    x = tensix.ones(3, 2, dtype=tensix.uint8)
    assert tensix.diff(x, n, axis=0).shape == (0, 2) and tensix.diff(x, n, axis=0).dtype == tensix.uint8
    assert tensix.diff(x, n, append=x[:, :1]).shape == (3, 0)
    with pytest.raises(IndexError):
        tensix.diff(x, n, axis=2)


def test_diff_promotes():
    assert tensix.diff(tensix.tensor([1, 2]), append=tensix.tensor([2.5])).tolist() == [1.0, 0.5]
