"""Views against NumPy: the same values, shapes and strides, on one storage, for any chain of operations."""

import hypothesis.extra.numpy as hnp
import numpy as np
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
        step = draw(st.sampled_from(["index", "permute", "transpose", "T", "expand", "unsqueeze", "squeeze", "select"]))
        array, tensor = STEPS[step](draw, array, tensor)
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


STEPS = {
    "index": by_index, "permute": by_permute, "transpose": by_transpose, "T": by_reversal, "expand": by_expand,
    "unsqueeze": by_unsqueeze, "squeeze": by_squeeze, "select": by_select,
}  # fmt: skip


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
