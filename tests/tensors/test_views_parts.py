"""Views that reorder dimensions or look at parts: diagonals, windows, any strides; on storages of every kind."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import tensix
from tensix import DataPtr, Storage, Tensor, float32


@pytest.fixture
def array():
    return np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture
def x(array):
    """Return elements 0 to 23 in the shape (2, 3, 4)."""
    return tensix.from_numpy(array)


# ---- order


def test_matrices_transposed(x, array):
    assert x[0].t().tolist() == x[0].T.tolist() == x[0].mT.tolist() == array[0].T.tolist()
    assert x.mT.tolist() == np.swapaxes(array, -1, -2).tolist() and x.mT.stride() == (12, 1, 4)
    assert x[0, 0].t().stride() == (1,) and x[0, 0, 0].t().shape == () and x[0, 0].t() is not x


@pytest.mark.parametrize("call, error", [
    (lambda x: x.t(), ValueError), (lambda x: x[0, 0].mT, AttributeError), (lambda x: x[0, 0, 0].mT, AttributeError),
    (lambda x: x.movedim((0, 0), (1, 2)), ValueError), (lambda x: x.movedim((0, 1), (1, -2)), ValueError),
    (lambda x: x.movedim((0, 1), (1,)), ValueError), (lambda x: x.movedim(3, 0), IndexError),
    (lambda x: x.movedim(0, -4), IndexError), (lambda x: x.movedim("a", 0), TypeError),
    (lambda x: x.movedim(0.0, 1), TypeError), (lambda x: x.transpose(True, 0), TypeError),
])
def test_refused_orders(x, call, error):
    with pytest.raises(error):
        call(x)


# ---- diagonals


@pytest.mark.parametrize("offset", [-3, -2, -1, 0, 1, 2, 3, 4, 2**70, -(2**70)])
@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (-1, 0), (1, 2)])
def test_diagonal(x, array, offset, dims):
    view = x[:, ::-1].diagonal(offset, *dims)
    expected = np.diagonal(array[:, ::-1], max(min(offset, 100), -100), *dims)
    assert (view.shape, view.tolist()) == (expected.shape, expected.tolist()) and view.is_alias_of(x)
    assert 0 <= view.storage_offset() < 24


def test_a_diagonal_is_written_to(x, array):
    x.diagonal(dim1=1, dim2=2).zero_()
    assert array[:, [0, 1, 2], [0, 1, 2]].tolist() == [[0.0] * 3] * 2 and array.sum() == 276 - 0 - 5 - 10 - 12 - 17 - 22


@pytest.mark.parametrize("arguments, error", [
    ((0, 1, 1), ValueError), ((0, 1, -2), ValueError), ((0, 0, 3), IndexError), ((1.0,), TypeError),
    ((0, None, 1), TypeError),
])
def test_refused_diagonals(x, arguments, error):
    with pytest.raises(error):
        x.diagonal(*arguments)


# ---- windows


@pytest.mark.parametrize("size, step", [(1, 1), (2, 1), (2, 3), (4, 1), (4, 9), (0, 1), (0, 4), (3, 2**62), (3, 2**70)])
@pytest.mark.parametrize("turn", [1, -1])
def test_unfold(x, array, size, step, turn):
    windows = x[..., ::turn].unfold(-1, size, step)
    if size:
        expected = sliding_window_view(array[..., ::turn], size, -1)[:, :, :: min(step, 100)]
        assert windows.tolist() == expected.tolist()
    else:
        assert windows.shape == (2, 3, 4 // step + 1, 0)
    assert windows.is_alias_of(x)


def test_windows_over_two_dimensions(x, array):
    patches = x.unfold(1, 2, 1).unfold(2, 3, 1)
    assert patches.stride() == (12, 4, 1, 4, 1)
    assert patches.tolist() == sliding_window_view(array, (2, 3), (1, 2)).tolist()


@pytest.mark.parametrize("arguments, error", [
    ((2, 5, 1), ValueError), ((2, -1, 1), ValueError), ((2, 2, 0), ValueError), ((2, 2, -1), ValueError),
    ((3, 1, 1), IndexError), ((2, 2**70, 1), ValueError), ((2, 1.0, 1), TypeError), ((2, 1, None), TypeError),
])
def test_refused_windows(x, arguments, error):
    with pytest.raises(error):
        x.unfold(*arguments)


def test_windows_need_a_dimension():
    with pytest.raises(IndexError, match="no dimensions"):
        tensix.ones(()).unfold(0, 1, 1)


# ---- any strides


def test_as_strided(x):
    assert x.as_strided((2, 3), (1, 5)).tolist() == [[0.0, 5.0, 10.0], [1.0, 6.0, 11.0]]
    assert x.as_strided((3,), (-2,), 23).tolist() == [23.0, 21.0, 19.0]
    assert x.as_strided((2, 2), (0, 0), 7).tolist() == [[7.0, 7.0]] * 2 and x.as_strided((), (), 5).item() == 5.0
    assert x[1, 1].as_strided((1,), (1,)).item() == 16.0  # from where the tensor begins
    assert x[1, 1].as_strided((24,), (1,), 0).tolist() == list(range(24))  # the storage, not the tensor
    assert x.as_strided((2, 2), (-1, -1), 2).is_alias_of(x) and x.as_strided((0, 5), (2**62, 2**62)).shape == (0, 5)


@pytest.mark.parametrize("size, stride, offset, error", [
    ((25,), (1,), 0, RuntimeError), ((24,), (1,), 1, RuntimeError), ((2,), (-1,), 0, RuntimeError),
    ((3, 3), (2**62, 2**62), 0, RuntimeError), ((2,), (-(2**63),), 0, RuntimeError), ((1,), (1,), 24, RuntimeError),
    ((1,), (1,), 2**62, RuntimeError), ((2,), (1,), -1, ValueError), ((-1,), (1,), 0, ValueError),
    ((2, 2), (1,), 0, ValueError), ((2**40, 2**40), (0, 0), 0, ValueError), ((2**63,), (0,), 0, OverflowError),
    ((2.0,), (1,), 0, TypeError), ((True,), (1,), 0, TypeError), ((2,), (1.0,), 0, TypeError), (2, 1, 0, TypeError),
    ((1,) * 65, (1,) * 65, 0, ValueError), ((1,), (1,), 0.0, TypeError),
])
def test_refused_strides(x, size, stride, offset, error):
    with pytest.raises(error):
        x.as_strided(size, stride, offset)
    assert x.storage().use_count() == 2


def test_what_as_strided_may_see_shrinks_with_the_storage():
    storage = Storage(96, resizable=True)
    x = Tensor.from_storage(storage, 0, (24,), (1,), float32)
    view = x.as_strided((2,), (23,)).zero_()
    storage.resize_(92)
    with pytest.raises(RuntimeError, match="the storage has 92 bytes"):
        x.as_strided((2,), (23,))
    with pytest.raises(RuntimeError, match="the storage has 92 bytes"):
        view.tolist()


# ---- what holds for every view

VIEWS = {
    "t": lambda x: x[0].t(), "mT": lambda x: x.mT, "movedim": lambda x: x.movedim(0, 1),
    "select": lambda x: x.select(0, 1), "narrow": lambda x: x.narrow(1, 1, 2), "diagonal": lambda x: x.diagonal(1),
    "unfold": lambda x: x.unfold(2, 2, 2), "as_strided": lambda x: x.as_strided((2, 2), (12, 1), 3),
    "flatten": lambda x: x.flatten(1), "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "view": lambda x: x.view(tensix.int16), "unbind": lambda x: x.unbind(1)[2], "split": lambda x: x.split(2, 2)[1],
    "chunk": lambda x: x.chunk(2)[1], "contiguous": lambda x: x.contiguous(), "expand_as": lambda x: x.expand_as(x),
    "view_as": lambda x: x.view_as(tensix.empty(4, 6)), "reshape_as": lambda x: x.reshape_as(tensix.empty(24)),
    "unsqueeze": lambda x: x.unsqueeze(1), "transpose": lambda x: x.transpose(0, 1),
}  # fmt: skip


@pytest.mark.parametrize("look", VIEWS.values(), ids=VIEWS)
def test_every_view_writes_to_the_one_storage(x, array, look):
    view = look(x)
    assert view.is_alias_of(x)
    array += 1
    view.zero_()
    assert view.tolist() == np.zeros(view.shape).tolist() and (array == 0).sum() == view.nbytes // 4


@pytest.mark.parametrize("look", VIEWS.values(), ids=VIEWS)
def test_every_view_stays_read_only(array, look):
    array.flags.writeable = False
    view = look(tensix.from_numpy(array))
    assert view.readonly
    with pytest.raises(RuntimeError, match="read-only"):
        view.zero_()


@pytest.mark.parametrize("look", VIEWS.values(), ids=VIEWS)
def test_every_view_needs_no_memory(look, x):
    """A device may keep shapes only."""
    storage = Storage.from_data_ptr(96, DataPtr(device="meta"))
    shapes_only = look(Tensor.from_storage(storage, 0, (2, 3, 4), (12, 4, 1), float32))
    view = look(x)
    assert (shapes_only.shape, shapes_only.stride()) == (view.shape, view.stride())
    assert shapes_only.storage_offset() == view.storage_offset() and str(shapes_only.device) == "meta"


@pytest.mark.parametrize("look", VIEWS.values(), ids=VIEWS)
def test_every_view_keeps_the_bytes_shared_copy_on_write(x, look):
    source = x.clone()  # nobody outside has its bytes
    clone = source.lazy_clone()
    view = look(clone)
    assert view.is_cow() and view.storage().data_ptr() == source.storage().data_ptr()


@pytest.mark.parametrize("look", VIEWS.values(), ids=VIEWS)
def test_nothing_to_look_at(look):
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        look(Tensor())
