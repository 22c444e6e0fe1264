"""Views: each one's shape, strides, offset and elements, and what is refused."""

import numpy as np
import pytest

import tensix


@pytest.fixture
def x():
    """Return elements 0 to 23 in the shape (2, 3, 4)."""
    return tensix.tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))


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
