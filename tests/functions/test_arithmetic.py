"""Arithmetic of operands of any strides; types, numbers and broadcasting: test_elementwise.py, test_operators.py."""

import operator

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix

OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}

settings.register_profile("arithmetic", max_examples=100, deadline=None, derandomize=True)
settings.load_profile("arithmetic")


def as_numpy(tensor):
    return np.array(tensor.tolist(), tensor.dtype.numpy).reshape(tensor.shape)


def assert_same(tensor, array):
    assert (tensor.shape, tensor.dtype.numpy) == (array.shape, array.dtype)
    np.testing.assert_array_equal(as_numpy(tensor), array)


def test_integers_wrap_and_floats_go_on():
    assert (tensix.tensor([255], dtype="uint8") + tensix.tensor([1], dtype="uint8")).tolist() == [0]
    assert (tensix.tensor([1.0, -1.0]) / tensix.zeros(2)).tolist() == [float("inf"), float("-inf")]
    assert np.isnan((tensix.zeros(1) / tensix.zeros(1)).item())


@pytest.mark.parametrize("a, b", [((2,), (3,)), ((2, 3), (3, 2)), ((0,), (2,)), ((4, 1, 3), (2, 3, 2))])
def test_shapes_that_do_not_broadcast(a, b):
    with pytest.raises(ValueError, match=r"cannot be broadcast together: sizes \d and \d differ"):
        tensix.ones(a) + tensix.ones(b)


@st.composite
def operand(draw, shape):
    """Return an array of a shape, with any order and direction of its dimensions, and gaps between them."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, -1, 2, -2])) for _ in shape]
    room = np.arange(np.prod([2 * size for size in shape], dtype=int), dtype=np.float32) + 1
    room = room.reshape([2 * shape[dim] for dim in order]).transpose(np.argsort(order))
    kept = tuple(slice(None, 2 * size, 1) for size in shape)
    view = room[kept][tuple(slice(None, None, step) for step in steps)]
    return view[tuple(slice(0, size) for size in shape)]


@given(st.data())
def test_any_strides(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=6, min_side=1, max_side=4))
    a, b = data.draw(operand(shape)), data.draw(operand(shape))
    for apply in OPERATORS.values():
        assert_same(apply(tensix.from_numpy(a), tensix.from_numpy(b)), apply(a, b))
    assert_same(-tensix.from_numpy(a), -a)


@pytest.mark.parametrize("side", [3, 200])
def test_large_and_strided(side):
    """From some size on the walk runs without the GIL."""
    a = np.arange(side * side, dtype=np.float32).reshape(side, side)
    x = tensix.from_numpy(a)
    assert_same(x.T + x[::-1], a.T + a[::-1])
    assert_same(x[:, :1] * x[0], a[:, :1] * a[0])


def test_operands_may_overlap_and_stay_as_they_are():
    a = np.arange(10.0)
    x = tensix.from_numpy(a)
    assert_same(x[1:] + x[:-1], a[1:] + a[:-1])
    assert_same(x - x[::-1], a - a[::-1])
    assert a.tolist() == list(range(10))


def test_results_own_their_bytes():
    x = tensix.ones(2, 3)
    for result in (x + x, x + 1, -x, x * tensix.ones(()), (x.T / 2).T):
        assert not result.is_alias_of(x) and result.is_contiguous()
