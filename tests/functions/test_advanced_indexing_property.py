"""Advanced indexing against NumPy, for any mixture of keys, bases with any strides, and all element types."""

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix
from tensix import from_numpy

settings.register_profile("indexing", max_examples=150, deadline=None, derandomize=True)
settings.load_profile("indexing")

SHAPES = hnp.array_shapes(min_dims=0, max_dims=7, min_side=0, max_side=4)
DTYPES = ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32",
          "float64", "complex64", "complex128"]  # fmt: skip
INDEX_DTYPES = st.sampled_from(["int64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"])


@st.composite
def bases(draw):
    """Return an array with any strides, of which no two elements share a place, and a tensor over a copy like it."""
    shape = draw(SHAPES)
    steps = [draw(st.sampled_from([1, 1, 2, -1, -2])) for _ in shape]
    whole = tuple(size * abs(step) for size, step in zip(shape, steps, strict=True))
    numbers = np.arange(np.prod(whole, dtype=int)).astype(draw(st.sampled_from(DTYPES)))
    order = draw(st.permutations(range(len(shape))))
    view = (*[slice(None, None, step) for step in steps], ...)
    array, twin = (copy.reshape(whole)[view].transpose(order) for copy in (numbers, numbers.copy()))
    return array, from_numpy(twin)


@st.composite
def keys(draw, shape):
    """Return an index of a shape as NumPy takes it: ints, slices, masks and integer arrays in any order."""
    parts, left, common = [], list(shape), draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=1, max_side=3))
    while left and not (parts and draw(st.integers(0, 5)) == 5):
        size = left[0]
        kind = draw(st.sampled_from(["array", "array", "array", "mask", "slice", "int", "none", "bool"]))
        if kind == "none" and len(parts) < 8:
            parts.append(None)
        elif kind == "bool" and not any(isinstance(part, bool) for part in parts):
            parts.append(draw(st.booleans()))
        elif kind == "slice" or size == 0:
            parts.append(draw(st.slices(size)))
            left.pop(0)
        elif kind == "int":
            parts.append(draw(st.integers(-size, size - 1)))
            left.pop(0)
        elif kind == "mask":
            count = draw(st.integers(1, min(2, len(left))))
            parts.append(draw(hnp.arrays(bool, tuple(left[:count]))))
            del left[:count]
        else:
            own = tuple(1 if draw(st.booleans()) else side for side in common)
            dtype = draw(INDEX_DTYPES)
            first = 0 if dtype.startswith("u") else -size
            parts.append(draw(hnp.arrays(dtype, own, elements=st.integers(first, size - 1))))
            left.pop(0)
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), ...)
        if left and not draw(st.integers(0, 2)):
            parts.append(draw(st.integers(-left[-1], left[-1] - 1)) if left[-1] else slice(None))
    return tuple(parts) if len(parts) != 1 or draw(st.booleans()) else parts[0]


def as_ours(draw, index):
    """Return an index whose arrays are tensors, lists or, as they are, arrays."""
    if isinstance(index, tuple):
        return tuple(as_ours(draw, key) for key in index)
    if not isinstance(index, np.ndarray):
        return index
    form = draw(st.sampled_from(["tensor", "array", "list", "strided"]))
    if form == "list" and index.ndim and index.size:
        return index.tolist()
    if form == "strided":
        return from_numpy(np.repeat(index[..., None], 2, axis=-1))[..., 1]
    return index if form == "array" else from_numpy(index.copy())


def outcome(function):
    """Return what a function returns, or the error of an index or shape that does not fit."""
    try:
        return function()
    except (IndexError, ValueError, TypeError) as error:
        return error
    except DeprecationWarning as warning:  # NumPy before 2.3, of what is outside where nothing is read
        return IndexError(*warning.args)


def assert_same(tensor, array):
    assert (tensor.shape, str(tensor.dtype)) == (array.shape, str(array.dtype))
    assert tensor.tolist() == array.tolist()


@given(bases(), st.data())
def test_reading(both, data):
    array, x = both
    index = data.draw(keys(array.shape))
    expected = outcome(lambda: np.asarray(array[index]))
    found = outcome(lambda: x[as_ours(data.draw, index)])
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
    else:
        assert_same(found, expected)


@given(bases(), st.data())
def test_writing(both, data):
    array, x = both
    index = data.draw(keys(array.shape))
    ours = as_ours(data.draw, index)
    selected = outcome(lambda: np.asarray(array[index]))
    if isinstance(selected, Exception):
        values = np.full((), 50).astype(array.dtype)
    else:
        shape = [1 if data.draw(st.integers(0, 3)) == 0 else size for size in selected.shape]
        cut = data.draw(st.integers(0, len(shape)))
        shape = shape[cut:] if data.draw(st.integers(0, 9)) else [2, *shape]  # at times too many
        values = (np.arange(np.prod(shape, dtype=int)) + 50).astype(array.dtype).reshape(shape)
    forms = [values, from_numpy(values)] + [values.tolist()] * (values.size > 0)  # an empty list has no second size
    given_values = data.draw(st.sampled_from(forms))
    before = array.tolist()
    expected = outcome(lambda: array.__setitem__(index, values))
    found = outcome(lambda: x.__setitem__(ours, given_values))
    assert isinstance(expected, Exception) == isinstance(found, Exception)
    assert x.tolist() == (before if isinstance(found, Exception) else array.tolist())


@given(st.integers(1, 6), st.integers(1, 4), st.data())
def test_overlapping_source(rows, columns, data):
    """Values and keys that are views of the target act as copies made before."""
    array = np.arange(rows * columns).reshape(rows, columns) % rows
    x = tensix.tensor(array)
    positions = data.draw(st.lists(st.integers(0, rows - 1), min_size=rows, max_size=rows, unique=True))
    column = data.draw(st.integers(0, columns - 1))
    reverse = slice(None, None, data.draw(st.sampled_from([1, -1])))
    array[positions] = array.copy()[reverse]
    x[tensix.tensor(positions)] = x[reverse]
    assert x.tolist() == array.tolist()
    order = np.argsort(np.argsort(array[:, column], kind="stable"), kind="stable")
    array[:, column], x[:, column] = order, from_numpy(order)
    array[array[:, column].copy()] = array.copy()[reverse]
    x[x[:, column]] = x[reverse]
    assert x.tolist() == array.tolist()


@given(hnp.arrays(np.uint16, hnp.array_shapes(min_dims=1, max_dims=3, max_side=4)), st.data())
def test_bfloat16_by_its_bits(array, data):
    """Every pattern of bits comes back, NaNs included."""
    bits = array.copy()
    strides = [stride // 2 for stride in bits.strides]
    x = tensix.Tensor.from_storage(from_numpy(bits).storage(), 0, bits.shape, strides, tensix.bfloat16)
    index = data.draw(keys(array.shape))
    expected = outcome(lambda: np.asarray(array[index]))
    if isinstance(expected, Exception):
        return
    found = x[as_ours(data.draw, index)]
    assert found.dtype is tensix.bfloat16 and found.shape == expected.shape
    array[index] = array[index][::-1] if expected.ndim else expected
    x[index] = found[::-1] if expected.ndim else found
    assert bits.tolist() == array.tolist()
