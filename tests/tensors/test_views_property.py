"""Views against NumPy: the same values, shapes and strides, on one storage, for any chain of operations."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix

settings.register_profile("views", max_examples=150, deadline=None, derandomize=True)
settings.load_profile("views")

SHAPES = hnp.array_shapes(min_dims=0, max_dims=7, min_side=0, max_side=4)


def pair(shape):
    """Return an array and a tensor over the same memory, different in every element."""
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape)
    return array, tensix.from_numpy(array)


def assert_same(tensor, array):
    """Compare values and shape, and the strides where they mean anything."""
    assert tensor.shape == array.shape and tensor.tolist() == array.tolist()
    assert (tensor.numel(), tensor.ndim) == (array.size, array.ndim)
    if array.size:
        found = [stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1]
        expected = [stride // 8 for stride, size in zip(array.strides, array.shape, strict=True) if size > 1]
        assert found == expected
        assert tensor.data_ptr() == array.ctypes.data
    assert tensor.is_contiguous() == array.flags.c_contiguous


@given(st.data())
def test_basic_indexing(data):
    array, tensor = pair(data.draw(SHAPES))
    index = data.draw(hnp.basic_indices(array.shape, allow_newaxis=True, max_dims=20))
    keys = index if isinstance(index, tuple) else (index,)
    view = tensor[index]
    assert_same(view, array[keys if Ellipsis in keys else (*keys, ...)])  # an array, where NumPy gives a number else
    assert view.is_alias_of(tensor)


@st.composite
def shapes_of(draw, count):
    """Return a shape of so many elements, at times with one size left open."""
    sizes, rest = [], count
    while rest > 1 and len(sizes) < 8:
        size = draw(st.sampled_from([d for d in range(1, rest + 1) if rest % d == 0]))
        sizes.append(size)
        rest //= size
    sizes.append(rest)
    shape = draw(st.permutations(sizes))
    if draw(st.booleans()) and count:
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    return tuple(shape)


@st.composite
def strided(draw):
    """Return an array and a tensor that a random chain of views has brought to the same place."""
    array, tensor = pair(draw(SHAPES))
    for _ in range(draw(st.integers(0, 4))):
        array, tensor = draw(st.sampled_from(STEPS))(draw, array, tensor)
    return array, tensor


def by_index(draw, array, tensor):
    slices = tuple(
        slice(None, None, draw(st.sampled_from([1, 1, -1, 2, -2, 3])))
        if draw(st.booleans())
        else slice(draw(st.integers(0, 2)), None)
        for _ in range(array.ndim)
    )
    return array[(*slices, ...)], tensor[slices]


def by_permute(draw, array, tensor):
    dims = draw(st.permutations(range(array.ndim)))
    negative = [dim - array.ndim if draw(st.booleans()) else dim for dim in dims]
    return array.transpose(dims), tensor.permute(negative)


def by_transpose(draw, array, tensor):
    if not array.ndim:
        return array, tensor
    a, b = (draw(st.integers(-array.ndim, array.ndim - 1)) for _ in range(2))
    return array.swapaxes(a, b), tensor.transpose(a, b)


def by_reversal(draw, array, tensor):
    return array.T, tensor.T


def by_expand(draw, array, tensor):
    front = draw(st.lists(st.integers(0, 3), max_size=2))
    shape = (*front, *(draw(st.integers(0, 3)) if size == 1 else size for size in array.shape))
    return np.broadcast_to(array, shape), tensor.expand(shape)


def by_unsqueeze(draw, array, tensor):
    dim = draw(st.integers(-array.ndim - 1, array.ndim))
    return np.expand_dims(array, dim), tensor.unsqueeze(dim)


def by_squeeze(draw, array, tensor):
    dims = tuple(dim for dim, size in enumerate(array.shape) if size == 1 and draw(st.booleans()))
    return np.squeeze(array, dims), tensor.squeeze(dims)


def by_select(draw, array, tensor):
    dims = [dim for dim, size in enumerate(array.shape) if size]
    if not dims:
        return array, tensor
    dim = draw(st.sampled_from(dims))
    where = draw(st.integers(-array.shape[dim], array.shape[dim] - 1))
    return np.moveaxis(array, dim, 0)[where, ...], tensor.select(dim, where)


def by_narrow(draw, array, tensor):
    if not array.ndim:
        return array, tensor
    dim = draw(st.integers(-array.ndim, array.ndim - 1))
    extent = array.shape[dim]
    start = draw(st.integers(0, extent))
    length = draw(st.integers(0, extent - start))
    place = draw(st.sampled_from([start, start - extent])) if start < extent else start
    return np.moveaxis(np.moveaxis(array, dim, 0)[start : start + length], 0, dim), tensor.narrow(dim, place, length)


def by_diagonal(draw, array, tensor):
    if array.ndim < 2:
        return array, tensor
    offset, dims = draw(st.integers(-4, 4)), draw(st.permutations(range(array.ndim)))[:2]
    return np.diagonal(array, offset, *dims), tensor.diagonal(offset, *dims)


def by_unfold(draw, array, tensor):
    if not array.ndim or not array.size:
        return array, tensor
    dim = draw(st.integers(-array.ndim, array.ndim - 1))
    size, step = draw(st.integers(1, array.shape[dim])), draw(st.integers(1, 3))
    windows = np.lib.stride_tricks.sliding_window_view(array, size, dim)
    return windows[(slice(None),) * (dim % array.ndim) + (slice(None, None, step),)], tensor.unfold(dim, size, step)


def by_movedim(draw, array, tensor):
    count = draw(st.integers(0, array.ndim))
    source, destination = (draw(st.permutations(range(array.ndim)))[:count] for _ in range(2))
    return np.moveaxis(array, source, destination), tensor.movedim(source, [dim - array.ndim for dim in destination])


def by_matrix_transpose(draw, array, tensor):
    return (np.swapaxes(array, -1, -2), tensor.mT) if array.ndim > 1 else (array, tensor.t())


def by_unflatten(draw, array, tensor):
    dims = [dim for dim, size in enumerate(array.shape) if size]
    if not dims:
        return array, tensor
    dim = draw(st.sampled_from(dims))
    sizes = draw(shapes_of(array.shape[dim]))
    whole = np.lib.stride_tricks.as_strided(np.empty(1), array.shape[dim : dim + 1], array.strides[dim : dim + 1])
    parts = whole.reshape(sizes)  # a view, so NumPy says the strides
    shape = (*array.shape[:dim], *parts.shape, *array.shape[dim + 1 :])
    strides = (*array.strides[:dim], *parts.strides, *array.strides[dim + 1 :])
    return np.lib.stride_tricks.as_strided(array, shape, strides), tensor.unflatten(dim, sizes)


def by_parts(draw, array, tensor):
    if not array.ndim:
        return array, tensor
    dim = draw(st.integers(-array.ndim, array.ndim - 1))
    extent = array.shape[dim]
    if extent and draw(st.booleans()):
        index = draw(st.integers(0, extent - 1))
        return np.moveaxis(array, dim, 0)[index, ...], tensor.unbind(dim)[index]
    size = draw(st.integers(1, 5))
    ends = range(size, extent, size)
    index = draw(st.integers(0, len(ends)))
    return np.split(array, ends, dim)[index], tensor.split(size, dim)[index]


STEPS = [
    by_index, by_permute, by_transpose, by_reversal, by_expand, by_unsqueeze, by_squeeze, by_select, by_narrow,
    by_diagonal, by_unfold, by_movedim, by_matrix_transpose, by_unflatten, by_parts,
]  # fmt: skip


@given(strided())
def test_chains_of_views(both):
    array, tensor = both
    assert_same(tensor, array)
    assert tensor.clone().tolist() == array.tolist()


@given(strided(), st.data())
def test_reshape_is_a_view_exactly_where_numpy_has_one(both, data):
    array, tensor = both
    shape = data.draw(shapes_of(array.size))
    expected = array.reshape(shape)
    found = tensor.reshape(shape)
    assert (found.shape, found.tolist()) == (expected.shape, expected.tolist())
    if array.size:
        shared = np.shares_memory(expected, array)
        assert found.is_alias_of(tensor) == shared
        if shared:
            assert_same(tensor.view(shape), expected)
        else:
            assert found.is_contiguous()


@given(strided(), st.data())
def test_sizes_that_numpy_refuses_are_refused(both, data):
    array, tensor = both
    shape = tuple(data.draw(st.lists(st.integers(-1, 5), max_size=4)))
    try:
        expected = array.reshape(shape)
    except ValueError:
        expected = None
    try:
        found = tensor.reshape(shape)
    except ValueError:
        found = None
    assert (found is None) == (expected is None)
    assert found is None or found.shape == expected.shape


@given(strided(), st.data())
def test_writes_through_a_view_are_seen_by_all(both, data):
    array, tensor = both
    if not array.flags.writeable or 0 in array.strides:
        array, tensor = pair((3, 4))
    index = data.draw(hnp.basic_indices(array.shape))
    expected = array.copy()
    expected[index] = -1.0
    tensor[index] = -1.0
    assert array.tolist() == tensor.tolist() == expected.tolist()


@given(st.integers(6, 64), st.data())
def test_many_dimensions(ndim, data):
    """Beyond five dimensions sizes and strides lie outside the body."""
    long = data.draw(st.sets(st.integers(0, ndim - 1), max_size=3))
    array, tensor = pair(tuple(2 if dim in long else 1 for dim in range(ndim)))
    assert_same(tensor.T, array.T)
    flat = tensor.T.squeeze(tuple(dim for dim in range(ndim) if array.T.shape[dim] == 1))
    assert flat.tolist() == array.T.squeeze().tolist()
    assert (tensor.T + tensor.T).tolist() == (array.T + array.T).tolist()


@given(strided(), st.sampled_from(["uint8", "int16", "float32", "int64", "complex128"]))
def test_another_type_reads_the_same_bytes(both, dtype):
    array, tensor = both
    wanted = getattr(tensix, dtype)
    try:
        view = tensor.view(wanted)
    except ValueError:
        assert wanted.itemsize != 8  # which is always possible
        assert array.ndim == 0 or tensor.stride(-1) != 1 or wanted.itemsize == 16
        return
    assert np.array(view).tobytes() == array.tobytes() and view.is_alias_of(tensor)
    if array.size:
        assert view.view(tensix.float64).stride() == tensor.stride()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), max_size=6), st.integers(0, 30))
def test_any_strides_inside_the_storage_and_no_others(dims, offset):
    shape, strides = [size for size, _ in dims], [stride for _, stride in dims]
    places = offset + sum(
        (np.arange(size).reshape([-1 if i == dim else 1 for i in range(len(dims))]) * stride
         for dim, (size, stride) in enumerate(dims)), np.zeros(shape, int),
    )  # fmt: skip
    tensor = tensix.tensor(list(range(24)))
    if ((places < 0) | (places >= 24)).any():
        with pytest.raises(RuntimeError, match="the storage has 192 bytes"):
            tensor.as_strided(shape, strides, offset)
    else:
        assert tensor.as_strided(shape, strides, offset).tolist() == places.tolist()
