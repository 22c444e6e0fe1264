"""Views: each one's shape, strides, offset and elements, and what is refused."""

import numpy as np
import pytest

import tensix


@pytest.fixture
def x():
    """Return elements 0 to 23 in the shape (2, 3, 4)."""
    return tensix.tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))


@pytest.mark.parametrize("index, shape, stride, offset", [
    (1, (3, 4), (4, 1), 12), (-1, (3, 4), (4, 1), 12), ((1, 2, 3), (), (), 23), ((-2, -3, -4), (), (), 0),
    ((slice(None), 1), (2, 4), (12, 1), 4), (slice(1, None), (1, 3, 4), (12, 4, 1), 12),
    ((..., 1), (2, 3), (12, 4), 1), (..., (2, 3, 4), (12, 4, 1), 0), ((), (2, 3, 4), (12, 4, 1), 0),
    ((1, ..., 2), (3,), (4,), 14), ((..., 0, slice(None, None, 2)), (2, 2), (12, 2), 0),
    ((slice(None), slice(None, None, -1)), (2, 3, 4), (12, -4, 1), 8),
    ((..., slice(None, None, -3)), (2, 3, 2), (12, 4, -3), 3), ((..., slice(-100, 100)), (2, 3, 4), (12, 4, 1), 0),
    ((0, 0, np.int8(2)), (), (), 2), ((slice(5, 9),), (0, 3, 4), (12, 4, 1), 0),
])
def test_basic_indexing(x, index, shape, stride, offset):
    view = x[index]
    assert (view.shape, view.stride(), view.storage_offset()) == (shape, stride, offset)
    assert view.is_alias_of(x) and view.tolist() == np.arange(24).reshape(2, 3, 4)[index].tolist()


@pytest.mark.parametrize("index, shape", [(None, (1, 2, 3, 4)), ((..., None), (2, 3, 4, 1)), ((0, None, 1), (1, 4)),
                                          ((None, ..., None, 0), (1, 2, 3, 1)), ((None,) * 61, (1,) * 61 + (2, 3, 4))])
def test_none_adds_a_dimension(x, index, shape):
    assert x[index].shape == shape and x[index].is_alias_of(x)
    assert x[index].reshape(-1).tolist() == np.arange(24).reshape(2, 3, 4)[index].ravel().tolist()


@pytest.mark.parametrize("index, text", [
    (2, "index 2 is out of bounds for dimension 0 with size 2"), (-3, "index -3 is out of bounds for dimension 0"),
    ((0, 0, 4), "index 4 is out of bounds for dimension 2 with size 4"), (2**70, "out of bounds"),
    (-(2**70), "out of bounds"), ((0, 0, 0, 0), "too many indices for a tensor of 3 dimensions: found 4"),
    ((..., ...), "single ellipsis"), (True, "found bool"), ([0, 1], "found list"), (1.0, "found float"),
    ("a", "found str"), ((0, 1.5), "found float"),
])
def test_refused_index(x, index, text):
    with pytest.raises(IndexError, match=text):
        x[index]


@pytest.mark.parametrize("index, error", [
    (slice(None, None, 0), ValueError), (slice(1.5, None), TypeError), ((None,) * 62, ValueError),
])
def test_refused_slice(x, index, error):
    with pytest.raises(error):
        x[index]
    assert x.storage().use_count() == 2  # nothing kept by what failed


def test_no_dimensions_to_index():
    with pytest.raises(IndexError, match="too many indices"):
        tensix.zeros(())[0]
    assert tensix.zeros(())[...].shape == () and tensix.zeros(())[None].shape == (1,)


def test_huge_slice_bounds(x):
    assert x[-(2**70) : 2**70].shape == (2, 3, 4)
    assert x[:: 2**62].shape == (1, 3, 4) and x[:: -(2**62)][0].tolist() == x[1].tolist()


# ---- writing through an index


@pytest.mark.parametrize("index, value", [
    (0, 5), ((..., slice(None, None, -1)), [1, 2, 3, 4]), ((1, 2, 3), 7.5), (..., np.ones((3, 1))), (slice(0, 0), 9),
])
def test_assignment_to_an_index(x, index, value):
    expected = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    expected[index] = value
    x[index] = value
    assert x.tolist() == expected.tolist()


def test_assignment_of_a_tensor(x):
    x[0] = x[1]
    x[1, :, ::2] = tensix.zeros(3, 1)
    assert x[0].tolist() == np.arange(12.0, 24).reshape(3, 4).tolist()
    assert x[1, 0].tolist() == [0.0, 13.0, 0.0, 15.0]


@pytest.mark.parametrize("value", [[1, 2], "a", tensix.ones(2), tensix.ones(2, 3, 4), np.ones((5, 3, 4))])
def test_refused_assignment_writes_nothing(x, value):
    with pytest.raises((ValueError, TypeError)):
        x[0] = value
    assert x.tolist() == np.arange(24).reshape(2, 3, 4).tolist()


# ---- view and reshape


@pytest.mark.parametrize("shape, found", [
    ((24,), (24,)), ((-1,), (24,)), ((4, -1), (4, 6)), (((6, 4),), (6, 4)), (([2, 12],), (2, 12)),
    ((1, 24, 1), (1, 24, 1)), ((2, 1, -1, 2), (2, 1, 6, 2)),
])
def test_view_of_contiguous_elements(x, shape, found):
    for view in (x.view(*shape), x.reshape(*shape)):
        assert view.shape == found and view.is_contiguous() and view.is_alias_of(x)


def test_view_of_what_has_strides(x):
    merged = x[:, :, ::2].view(2, 6)
    assert (merged.shape, merged.stride()) == ((2, 6), (12, 2)) and merged.is_alias_of(x)
    split = x[:, ::-1].view(2, 3, 2, 2)
    assert split.tolist() == np.arange(24).reshape(2, 3, 4)[:, ::-1].reshape(2, 3, 2, 2).tolist()


def test_reshape_copies_where_view_is_refused(x):
    with pytest.raises(ValueError, match=r"no single stride. Use reshape"):
        x.T.view(24)
    copied = x.T.reshape(24)
    assert not copied.is_alias_of(x) and copied.tolist() == np.arange(24).reshape(2, 3, 4).T.ravel().tolist()


@pytest.mark.parametrize("shape", [(5,), (-1, 5), (-1, -1), (-2, 12), (0, -1), (2**62 + 1, 24), (2**32, 2**32)])
def test_wrong_number_of_elements(x, shape):
    for change in (x.view, x.reshape, x[:, :, ::2].reshape):
        with pytest.raises(ValueError, match=r"shape|sizes"):
            change(shape)


@pytest.mark.parametrize("change", [
    lambda x: x.view(2.5, -1), lambda x: x.reshape(24.0), lambda x: x.permute(0.0, 1, 2), lambda x: x.transpose(0, 1.5),
    lambda x: x.expand(2, 3, 4.5), lambda x: x.unsqueeze(0.5), lambda x: x.view("24"), lambda x: x.stride(0.5),
])
def test_sizes_and_dimensions_are_whole_numbers(x, change):
    with pytest.raises(TypeError):
        change(x)


@pytest.mark.parametrize("old, new, found", [
    ((0,), (-1,), (0,)), ((0, 3), (-1,), (0,)), ((0, 3), (3, -1), (3, 0)), ((2, 0), (0, 5), (0, 5)),
    ((3, 0), (3, 0, 1), (3, 0, 1)),
])
def test_shapes_without_elements(old, new, found):
    assert tensix.empty(old).reshape(new).shape == tensix.empty(old).view(new).shape == found


@pytest.mark.parametrize("shape", [(0, -1), (1,), (2**32, 2**32), (-1, 0)])
def test_refused_shapes_without_elements(shape):
    with pytest.raises(ValueError):
        tensix.empty(0, 3).reshape(shape)


# ---- order of dimensions


def test_permute_transpose_and_t(x):
    assert (x.permute(2, 0, 1).shape, x.permute((2, 0, 1)).stride()) == ((4, 2, 3), (1, 12, 4))
    assert x.permute(-1, -3, -2).tolist() == x.permute(2, 0, 1).tolist()
    assert (x.T.shape, x.T.stride()) == ((4, 3, 2), (1, 4, 12))
    assert x.transpose(0, -1).tolist() == x.permute(2, 1, 0).tolist() == x.T.tolist()
    assert x.transpose(1, 1).stride() == x.stride() and not x.T.is_contiguous() and x.T.T.is_contiguous()


@pytest.mark.parametrize("dims, error", [((0, 1), ValueError), ((0, 1, 1), ValueError), ((0, 1, -2), ValueError),
                                         ((0, 1, 3), IndexError), ((0, 1, 2, 3), ValueError), ((0, 1, "a"), TypeError)])
def test_refused_permutation(x, dims, error):
    with pytest.raises(error):
        x.permute(dims)


# ---- dimensions of size 1


def test_expand():
    column = tensix.tensor([[1.0], [2.0]])
    wide = column.expand(3, 2, 4)
    assert (wide.shape, wide.stride()) == ((3, 2, 4), (0, 1, 0)) and wide.is_alias_of(column)
    assert wide.tolist() == np.broadcast_to([[1.0], [2.0]], (3, 2, 4)).tolist()
    assert column.expand(-1, 5).shape == (2, 5) and column.expand(2, 0).shape == (2, 0)
    assert tensix.ones(()).expand(2, 2).tolist() == [[1.0, 1.0]] * 2


@pytest.mark.parametrize("shape", [(3, 1), (2,), (-1, 2, 1), (2, -2), (2**40, 2, 2**40)])
def test_refused_expansion(shape):
    with pytest.raises(ValueError):
        tensix.ones(2, 1).expand(shape)


def test_squeeze_and_unsqueeze(x):
    thin = x[:1, :, 2:3]
    assert (thin.squeeze(0).shape, thin.squeeze(-1).shape, thin.squeeze((0, 2)).shape) == ((3, 1), (1, 3), (3,))
    assert thin.squeeze((2, 0)).tolist() == [2.0, 6.0, 10.0] and thin.squeeze(()).shape == (1, 3, 1)
    assert [x.unsqueeze(dim).shape for dim in (0, 3, -1, -4)] == [
        (1, 2, 3, 4), (2, 3, 4, 1), (2, 3, 4, 1), (1, 2, 3, 4)
    ]  # fmt: skip
    with pytest.raises(ValueError, match="its size is not 1"):
        x.squeeze(1)
    for change in (x.squeeze, x.unsqueeze):
        with pytest.raises(IndexError, match="out of range"):
            change(-5)


# ---- parts


def test_select_and_narrow(x):
    assert x.select(1, -1).tolist() == x[:, 2].tolist() and x.select(-1, 0).shape == (2, 3)
    assert x.narrow(2, 1, 2).tolist() == x[..., 1:3].tolist() and x.narrow(0, 2, 0).shape == (0, 3, 4)
    assert x.narrow(-1, -2, 2).tolist() == x[..., 2:].tolist()


@pytest.mark.parametrize("call", [
    lambda x: x.select(3, 0), lambda x: x.select(1, 3), lambda x: x.narrow(1, 2, 2), lambda x: x.narrow(1, 0, -1),
    lambda x: x.narrow(1, -4, 1), lambda x: x.narrow(0, 2**70, 1), lambda x: x.transpose(0, 3),
])
def test_refused_parts(x, call):
    with pytest.raises(IndexError):
        call(x)


def test_views_write_to_one_storage(x):
    x.T[0].fill_(-1)
    x.select(0, 1).narrow(0, 0, 1).view(2, 2)[0].zero_()
    assert x[..., 0].tolist() == [[-1.0, -1.0, -1.0], [0.0, -1.0, -1.0]] and x[1, 0, 1].item() == 0.0
    assert x.storage().use_count() == 2


def test_view_of_64_dimensions_and_no_more(x):
    deep = x.reshape((1,) * 61 + (2, 3, 4))
    assert deep.ndim == 64 and deep.T.shape == (4, 3, 2) + (1,) * 61
    for change in (lambda: deep.unsqueeze(0), lambda: deep[None], lambda: deep.expand((1, *deep.shape))):
        with pytest.raises(ValueError, match="64 dimensions"):
            change()
