"""Shapes, orders and repetitions against NumPy's; which of them are views."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import tensix

arrays = nps.arrays(np.int16, nps.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
                    elements=st.integers(-9, 9))  # fmt: skip
some_arrays = nps.arrays(np.int16, nps.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4),
                         elements=st.integers(-9, 9))  # fmt: skip
few = settings(max_examples=40)


def assert_like(x, array):
    assert (x.shape, str(x.dtype)) == (array.shape, str(array.dtype)) and x.tolist() == array.tolist()


def axes_of(array):
    """Draw a subset of an array's dimensions, counted from either end."""
    each = [st.sampled_from([i, i - array.ndim]) for i in range(array.ndim)]
    return st.tuples(*each).flatmap(lambda axes: st.lists(st.sampled_from(axes), unique=True)) if each else st.just([])


# ---- views


@few
@given(some_arrays, st.data())
def test_flip(array, data):
    x = tensix.from_numpy(array)
    axes = tuple(data.draw(axes_of(array)))
    assert_like(tensix.flip(x, axis=axes), np.flip(array, axes))
    assert_like(tensix.flip(x), np.flip(array))
    assert tensix.flip(x).is_alias_of(x)


@few
@given(some_arrays, st.data())
def test_permute_dims_and_moveaxis(array, data):
    x = tensix.from_numpy(array)
    order = data.draw(st.permutations(range(array.ndim)))
    assert_like(tensix.permute_dims(x, tuple(order)), np.permute_dims(array, order))
    source, target = data.draw(st.tuples(*[st.integers(-array.ndim, array.ndim - 1)] * 2))
    moved = tensix.moveaxis(x, source, target)
    assert_like(moved, np.moveaxis(array, source, target))
    front = tuple(range(array.ndim))
    assert_like(tensix.moveaxis(x, tuple(order), front), np.moveaxis(array, order, front))
    assert moved.is_alias_of(x)


@few
@given(arrays, st.data())
def test_expand_dims_and_squeeze(array, data):
    x = tensix.from_numpy(array)
    places = data.draw(st.lists(st.integers(0, array.ndim), unique=True, max_size=2))
    places = tuple(place - (array.ndim + len(places)) * data.draw(st.booleans()) for place in places)
    expanded = tensix.expand_dims(x, axis=places)
    assert_like(expanded, np.expand_dims(array, places))
    assert_like(tensix.squeeze(expanded, places), array)
    assert expanded.is_alias_of(x)


@few
@given(nps.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3))
def test_broadcasting(shapes):
    arrays = [np.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in shapes.input_shapes]
    tensors = [tensix.from_numpy(array) for array in arrays]
    assert tensix.broadcast_shapes(*shapes.input_shapes) == shapes.result_shape
    found = tensix.broadcast_arrays(*tensors)
    assert type(found) is tuple
    for x, y, array in zip(found, tensors, np.broadcast_arrays(*arrays), strict=True):
        assert_like(x, array)
        assert_like(tensix.broadcast_to(y, shapes.result_shape), array)
        assert x.is_alias_of(y)


def test_broadcast_shapes_of_nothing():
    assert tensix.broadcast_shapes() == () and tensix.broadcast_shapes((0,), (1,)) == (0,)
    assert tensix.broadcast_arrays() == ()


def test_unstack():
    array = np.arange(24).reshape(2, 3, 4)
    x = tensix.from_numpy(array)
    for axis in (0, 1, -1):
        parts = tensix.unstack(x, axis=axis)
        assert type(parts) is tuple and all(part.is_alias_of(x) for part in parts)
        for part, expected in zip(parts, np.unstack(array, axis=axis), strict=True):
            assert_like(part, expected)
    assert tensix.unstack(tensix.ones(0, 2)) == ()


def test_reshape():
    x = tensix.arange(6)
    assert tensix.reshape(x, (2, 3)).is_alias_of(x) and tensix.reshape(x, (2, -1), copy=False).is_alias_of(x)
    copied = tensix.reshape(x, (3, 2), copy=True)
    assert not copied.is_alias_of(x) and copied.tolist() == [[0, 1], [2, 3], [4, 5]]
    across = tensix.reshape(x, (2, 3)).T
    assert tensix.reshape(across, (6,)).tolist() == [0, 3, 1, 4, 2, 5]
    with pytest.raises(ValueError, match="single stride"):
        tensix.reshape(across, (6,), copy=False)


def test_view_of_a_read_only_tensor_is_read_only():
    x = tensix.asarray(b"abcd")
    for view in (tensix.flip(x), tensix.reshape(x, (2, 2)), tensix.expand_dims(x, 0), tensix.unstack(x)[0]):
        assert view.readonly


def test_views_work_on_meta():
    x = tensix.empty(2, 1, device="meta")
    assert tensix.flip(x).shape == tensix.moveaxis(x, 0, 1).T.shape == (2, 1)
    assert tensix.broadcast_to(x, (2, 5)).shape == (2, 5) and tensix.squeeze(x, 1).shape == (2,)


# ---- copies


@few
@given(some_arrays, st.integers(1, 3), st.data())
def test_concat_and_stack(array, count, data):
    x = tensix.from_numpy(array)
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    for found, expected in (
        (tensix.concat([x] * count, axis=axis), np.concatenate([array] * count, axis)),
        (tensix.concat((x,) * count, axis=None), np.concatenate([array] * count, None)),
        (tensix.stack([x] * count, axis=axis), np.stack([array] * count, axis)),
        (tensix.cat([x] * count, axis), np.concatenate([array] * count, axis)),
    ):
        assert_like(found, expected)
        assert not found.is_alias_of(x)


def test_joining_promotes_as_tensix_does():
    parts = [tensix.ones(1, dtype="int64"), tensix.ones(1)]
    assert tensix.concat(parts).dtype is tensix.stack(parts).dtype is tensix.float32
    assert tensix.concat([tensix.ones(1, dtype="bfloat16"), tensix.ones(1, dtype="int8")]).dtype is tensix.bfloat16
    with pytest.raises(TypeError, match="do not promote"):
        tensix.concat([tensix.ones(1, dtype="uint64"), parts[0]])


@few
@given(some_arrays, st.integers(0, 3), st.data())
def test_repeat(array, count, data):
    x = tensix.from_numpy(array)
    axis = data.draw(st.none() | st.integers(-array.ndim, array.ndim - 1))
    assert_like(tensix.repeat(x, count, axis=axis), np.repeat(array, count, axis))
    length = array.size if axis is None else array.shape[axis]
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=length, max_size=length)), np.int64)
    assert_like(tensix.repeat(x, tensix.from_numpy(counts), axis=axis), np.repeat(array, counts, axis))


@pytest.mark.parametrize("shape", [(300_001,), (700, 901), (3, 200_003), (3, 5, 10_007)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_repeat_of_so_many_that_threads_share_them(shape, count):
    array = np.random.default_rng(0).random(shape, "f4")
    for axis in (None, *range(len(shape))):
        assert_like(tensix.repeat(tensix.from_numpy(array), count, axis=axis), np.repeat(array, count, axis))


@few
@given(some_arrays, st.data())
def test_roll(array, data):
    x = tensix.from_numpy(array)
    axes = tuple(data.draw(axes_of(array))) or (0,)
    shifts = data.draw(st.tuples(*[st.integers(-9, 9)] * len(axes)))
    assert_like(tensix.roll(x, shifts, axis=axes), np.roll(array, shifts, axes))
    assert_like(tensix.roll(x, 2), np.roll(array, 2))


@few
@given(arrays, st.lists(st.integers(0, 3), max_size=4))
def test_tile(array, counts):
    assert_like(tensix.tile(tensix.from_numpy(array), tuple(counts)), np.tile(array, counts))


def test_copies_do_not_alias():
    """Also where nothing is to do."""
    x = tensix.arange(3)
    for copied in (tensix.roll(x, 0), tensix.tile(x, ()), tensix.repeat(x, 1), tensix.concat([x])):
        copied.fill_(9)
    assert x.tolist() == [0, 1, 2]


@pytest.mark.parametrize("function", [
    lambda x: tensix.roll(x, 1), lambda x: tensix.tile(x, (2,)), lambda x: tensix.repeat(x, 2),
    lambda x: tensix.concat([x, x]), lambda x: tensix.stack([x, x]), tensix.flip,
])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "bfloat16", "float64", "complex64"])
def test_every_type_is_kept(function, dtype):
    assert str(function(tensix.ones(2, dtype=dtype)).dtype) == dtype


# ---- bad input

X = tensix.ones(2, 3)


@pytest.mark.parametrize("call, error", [
    (lambda: tensix.flip(X, axis=2), IndexError), (lambda: tensix.flip(X, axis=(0, -2)), ValueError),
    (lambda: tensix.expand_dims(X, 4), IndexError), (lambda: tensix.expand_dims(X, (0, 0)), ValueError),
    (lambda: tensix.squeeze(X, 0), ValueError), (lambda: tensix.squeeze(X, 2), IndexError),
    (lambda: tensix.permute_dims(X, (0,)), ValueError), (lambda: tensix.permute_dims(X, (0, 0)), ValueError),
    (lambda: tensix.moveaxis(X, 0, 2), IndexError), (lambda: tensix.moveaxis(X, (0, 1), 0), ValueError),
    (lambda: tensix.broadcast_to(X, (2, 2)), ValueError), (lambda: tensix.broadcast_to(X, (-1, 3)), ValueError),
    (lambda: tensix.broadcast_to(X, (3,)), ValueError), (lambda: tensix.broadcast_shapes((2,), (3,)), ValueError),
    (lambda: tensix.broadcast_shapes((-1,)), ValueError), (lambda: tensix.broadcast_shapes((1.5,)), TypeError),
    (lambda: tensix.unstack(X, axis=2), IndexError), (lambda: tensix.reshape(X, (4,)), ValueError),
    (lambda: tensix.concat([X, X], axis=2), IndexError), (lambda: tensix.concat([X, X.T]), ValueError),
    (lambda: tensix.concat([]), ValueError), (lambda: tensix.concat(X), TypeError),
    (lambda: tensix.concat([X, 1]), TypeError), (lambda: tensix.stack([X, X.T]), ValueError),
    (lambda: tensix.stack([X], axis=3), IndexError), (lambda: tensix.concat([tensix.ones(())]), ValueError),
    (lambda: tensix.repeat(X, -1), ValueError), (lambda: tensix.repeat(X, tensix.tensor([1, 2]), axis=1), ValueError),
    (lambda: tensix.repeat(X, 1.5), TypeError), (lambda: tensix.repeat(X, tensix.ones(2), axis=0), TypeError),
    (lambda: tensix.roll(X, 1, axis=2), IndexError), (lambda: tensix.roll(X, 1.5), TypeError),
    (lambda: tensix.tile(X, (-1,)), ValueError), (lambda: tensix.flip(np.ones(2)), TypeError),
    (lambda: tensix.tile(X, (2**40, 2**40)), (ValueError, MemoryError)),
    (lambda: tensix.flip(tensix.Tensor()), RuntimeError), (lambda: tensix.expand_dims("a", 0), TypeError),
    (lambda: tensix.broadcast_arrays(X, 1), TypeError),
])  # fmt: skip
def test_bad_input(call, error):
    with pytest.raises(error):
        call()
    assert X.tolist() == [[1.0] * 3] * 2
