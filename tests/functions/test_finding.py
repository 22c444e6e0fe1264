"""Positions of elements, and choice among them, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import tensix

few = settings(max_examples=50)
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64",
         "complex128"]  # fmt: skip


def assert_like(x, array):
    assert (x.shape, str(x.dtype)) == (array.shape, str(array.dtype))
    np.testing.assert_array_equal(np.asarray(x), array)


# ---- where


@few
@given(nps.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=4), st.sampled_from(TYPES), st.data())
def test_where(shapes, dtype, data):
    mask, left, right = [np.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in shapes.input_shapes]
    mask = np.asarray(mask % 3 == 1)
    left, right = left.astype(dtype), np.asarray(100 - right).astype(dtype)
    found = tensix.where(*map(tensix.from_numpy, (mask, left, right)))
    assert_like(found, np.where(mask, left, right))
    assert found.is_contiguous()


@pytest.mark.parametrize("dtype", TYPES)
def test_where_of_strided_and_of_large_tensors(dtype):
    left, right = (np.arange(100_000) % 101).astype(dtype).reshape(100, 1000), np.zeros((1000, 100), dtype).T
    mask = (np.arange(200_000).reshape(100, 2000) % 7 < 3)[:, ::2]
    for parts in ((mask, left, right), (mask.copy(), left, right.copy()), (mask[:, ::-1], left[::-1], right)):
        assert_like(tensix.where(*map(tensix.from_numpy, parts)), np.where(*parts))


@pytest.mark.parametrize("x1, x2, dtype", [
    (1, 2, "int64"), (1, 2.5, "float32"), (True, False, "bool"), (1j, 1, "complex64"),
    (tensix.ones(2, dtype="int8"), 3, "int8"), (3, tensix.ones(2, dtype="int8"), "int8"),
    (tensix.ones(2, dtype="int8"), 2.5, "float32"), (tensix.ones(2, dtype="bfloat16"), 2.5, "bfloat16"),
    (tensix.ones(2, dtype="int64"), tensix.zeros(2), "float32"),
    (np.float32(1), tensix.ones(2, dtype="int8"), "float32"), (np.int8(1), np.float64(2), "float64"),
    (np.int8(1), tensix.ones(2, dtype="uint8"), "int16"),
])
def test_types_and_numbers_in_where(x1, x2, dtype):
    found = tensix.where(tensix.tensor([True, False]), x1, x2)
    assert str(found.dtype) == dtype
    pick = [x.tolist() if isinstance(x, tensix.Tensor) else [x, x] for x in (x1, x2)]
    assert found.tolist() == [pick[0][0], pick[1][1]]


def test_condition_of_numbers():
    assert tensix.where(tensix.tensor([0.0, 2.0]), 1, 0).tolist() == [0, 1]


def test_where_makes_a_tensor_of_its_own():
    x = tensix.ones(2)
    found = tensix.where(tensix.tensor([True, True]), x, x)
    found.fill_(5)
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("args, error", [
    ((tensix.ones(3), tensix.ones(2), 1), ValueError), ((tensix.ones(3), 1, tensix.ones(2, 2)), ValueError),
    ((True, 1, 2), TypeError), ((tensix.ones(2), "a", 1), TypeError), ((tensix.ones(2), [1, 2], 1), TypeError),
    ((tensix.ones(2), None, 1), TypeError), ((tensix.Tensor(), 1, 2), RuntimeError),
    ((tensix.ones(2), tensix.Tensor(), 2), RuntimeError),
    ((tensix.ones(2), tensix.Tensor(), tensix.ones(2)), RuntimeError),
    ((tensix.ones(2), tensix.ones(2, dtype="uint64"), tensix.ones(2, dtype="int8")), TypeError),
    ((tensix.ones(2, device="meta"), tensix.ones(2), 1), NotImplementedError),
])
def test_where_that_cannot_be(args, error):
    with pytest.raises(error):
        tensix.where(*args)


def test_where_called_by_its_operator():
    where = tensix.ops.tensix.where
    assert where(tensix.ones(1), tensix.ones(1), tensix.zeros(1)).tolist() == [1.0]
    with pytest.raises(TypeError):
        where(tensix.ones(1), 1, tensix.zeros(1))


# ---- nonzero, argwhere


@few
@given(nps.arrays(st.sampled_from([np.dtype(t) for t in TYPES]), nps.array_shapes(min_dims=1, max_dims=3, min_side=0)))
def test_nonzero_and_argwhere(array):
    x = tensix.from_numpy(array)
    found = tensix.nonzero(x)
    assert type(found) is tuple
    for positions, expected in zip(found, np.nonzero(array), strict=True):
        assert_like(positions, expected)
    assert_like(tensix.argwhere(x), np.argwhere(array))
    np.testing.assert_array_equal(np.asarray(x[found]), array[np.nonzero(array)])


@pytest.mark.parametrize("shape", [(300_001,), (700, 901), (3, 200_003), (5, 7, 20_011), (200_003, 3)])
@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
def test_nonzero_of_so_many_that_threads_share_them(shape, share):
    array = np.random.default_rng(0).random(shape) < share
    for positions, expected in zip(tensix.nonzero(tensix.from_numpy(array)), np.nonzero(array), strict=True):
        assert_like(positions, expected)
    assert_like(tensix.argwhere(tensix.from_numpy(array)), np.argwhere(array))


def test_nonzero_without_dimensions():
    with pytest.raises(ValueError, match="dimensions"):
        tensix.nonzero(tensix.ones(()))
    assert tensix.argwhere(tensix.ones(())).shape == (1, 0)


# ---- searchsorted


@few
@given(nps.arrays(np.float32, st.integers(0, 9), elements=st.integers(-5, 5)),
       nps.arrays(np.float32, nps.array_shapes(min_dims=0, max_dims=2), elements=st.integers(-6, 6)),
       st.sampled_from(["left", "right"]))
def test_searchsorted(array, values, side):
    order = np.argsort(array)
    x, y = tensix.from_numpy(array), tensix.from_numpy(values)
    expected = np.asarray(np.searchsorted(array, values, side, order))
    assert_like(tensix.searchsorted(x, y, side=side, sorter=tensix.from_numpy(order)), expected)
    assert_like(tensix.searchsorted(tensix.sort(x), y, side=side), expected)
    assert tensix.searchsorted(tensix.sort(x), 2.5, side=side).shape == ()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted_orders_narrow_types_as_float32(dtype, side):
    exact = tensix.tensor([1, 2, float("inf"), float("nan"), float("nan")])
    x = tensix.astype(exact, dtype)
    assert_like(tensix.searchsorted(x, x, side=side), np.searchsorted(np.asarray(exact), np.asarray(exact), side))
    assert tensix.searchsorted(x, 2, side=side).item() == (1 if side == "left" else 2)


@pytest.mark.parametrize("x1, x2, options, error", [
    (tensix.ones(2, 2), 1, {}, ValueError), (tensix.ones(2), 1, {"side": "up"}, ValueError),
    ([1, 2], tensix.ones(1), {}, TypeError), (tensix.ones(2), "a", {}, (TypeError, ValueError)),
    (tensix.ones(2), 1, {"sorter": tensix.tensor([0])}, ValueError),
    (tensix.ones(2), 1, {"sorter": tensix.ones(2)}, TypeError),
])
def test_searchsorted_that_cannot_be(x1, x2, options, error):
    with pytest.raises(error):
        tensix.searchsorted(x1, x2, **options)
