"""Copying elements: clone, copy_ and fill_, with conversion, overlap, and memory that cannot be written."""

import itertools

import numpy as np
import pytest

import tensix
from tensix import CPUAllocator, Storage, Tensor, float32, from_numpy


def counted(*shape):
    return tensix.tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))


def read_only(array):
    array.flags.writeable = False
    return from_numpy(array)


# ---- clone


@pytest.mark.parametrize("make, stride", [
    (lambda x: x, (12, 4, 1)), (lambda x: x.T, (1, 4, 12)), (lambda x: x.permute(1, 2, 0), (4, 1, 12)),
    (lambda x: x[1], (4, 1)), (lambda x: x[:, 1], (4, 1)), (lambda x: x[::-1], (12, 4, 1)),
    (lambda x: x[0, 0, 0].expand(2, 3), (3, 1)), (lambda x: x[..., ::2], (6, 2, 1)), (lambda x: x[0:0], (12, 4, 1)),
    (lambda x: x[1, 2, 3], ()), (lambda x: x.T[:, :, 1], (1, 4)),
])
def test_clone_keeps_dense_strides_and_no_others(make, stride):
    x = make(counted(2, 3, 4))
    copy = x.clone()
    assert (copy.shape, copy.stride(), copy.storage_offset(), copy.dtype) == (x.shape, stride, 0, x.dtype)
    assert copy.tolist() == x.tolist() and not copy.is_alias_of(x)
    assert copy.storage().nbytes() == x.nbytes and copy.storage().resizable


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("shape", [(64, 65), (128, 192), (3, 70, 131), (67, 2, 100), (300, 3)])
def test_rows_that_become_columns(dtype, shape):
    """Blocks of each item's size, whole ones and those at the edges."""
    array = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    x = from_numpy(array)
    turned = tensix.empty(shape[::-1], dtype=dtype)
    assert np.array_equal(turned.copy_(x.permute(*range(x.ndim)[::-1])).numpy(), array.T)
    for order in itertools.permutations(range(x.ndim)):
        np.testing.assert_array_equal(x.permute(order).contiguous().numpy(), array.transpose(order))
        np.testing.assert_array_equal(tensix.flip(x, axis=0).permute(order).contiguous().numpy(),
                                      array[::-1].transpose(order))
        part = x[..., 1:].permute(order)
        np.testing.assert_array_equal(part.contiguous().numpy(), array[..., 1:].transpose(order))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex64", "complex128"])
@pytest.mark.parametrize("view", [
    lambda x: x.T, lambda x: x.permute(2, 0, 1, 3), lambda x: x[::-1, :, ::2], lambda x: x[1:, ..., None, 1].T,
    lambda x: x[0, 0, 0, 0].expand(5, 4, 3), lambda x: x.reshape((1,) * 3 + x.shape).T, lambda x: x[:0].T,
])
@pytest.mark.parametrize("shape", [(2, 3, 5, 3), (9, 8, 7, 6)])  # a few elements go another way
def test_a_row_major_copy_of_any_strides(view, dtype, shape):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    x = view(tensix.tensor(array))
    copy = x.contiguous()
    assert copy.is_contiguous() and copy.shape == x.shape and copy.dtype == x.dtype
    assert copy.tolist() == x.tolist() == x.clone(memory_format="contiguous_format").tolist()


def test_clone_copies_at_once():
    x = counted(300, 300)
    copy = x.clone()
    x.zero_()
    assert copy[299, 299].item() == 89999.0 and not copy.is_cow()


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "float16", "int32", "float64", "complex64", "complex128"])
def test_items_of_every_size(dtype):
    array = np.arange(60).reshape(3, 4, 5).astype(dtype)
    x = from_numpy(array)
    assert x.T[::2].clone().tolist() == array.T[::2].tolist()
    assert tensix.empty(5, 4, 3, dtype=dtype).copy_(x.T).tolist() == array.T.tolist()


# ---- copy_


@pytest.mark.parametrize("source", [counted(3, 4), counted(4), counted(3, 1), counted(1, 1), counted(4, 3).T,
                                    tensix.ones(()), counted(1, 4)])
def test_copy_broadcasts_and_returns_itself(source):
    target = tensix.zeros(3, 4)
    assert target.copy_(source) is target
    assert target.tolist() == np.broadcast_to(source.tolist(), (3, 4)).tolist()


@pytest.mark.parametrize("target, source", [((3,), (2, 3)), ((3,), (2,)), ((3, 4), (3,)), ((), (2,)), ((1,), (3,)),
                                            ((0,), (2,)), ((2, 3), (2, 2, 3)), ((4,), (2, 3, 4))])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_copy_of_a_shape_that_does_not_fit(target, source, dtype):
    x = tensix.zeros(target)
    with pytest.raises(ValueError, match="broadcast"):
        x.copy_(tensix.ones(source, dtype=dtype))
    assert x.tolist() == np.zeros(target).tolist()


@pytest.mark.parametrize("to", ["int8", "uint16", "int64", "float16", "float64", "complex64", "bool"])
@pytest.mark.parametrize("origin", ["int32", "float32", "bool", "uint8"])
def test_copy_converts(to, origin):
    array = np.arange(6).reshape(2, 3).astype(origin)
    target = tensix.zeros(3, 2, dtype=to)
    assert target.T.copy_(from_numpy(array)).tolist() == array.astype(to).tolist()


SHIFTS = {
    "up": (slice(1, None), slice(None, -1)), "down": (slice(None, -1), slice(1, None)),
    "reversed": (slice(None), slice(None, None, -1)), "spread": (slice(0, 10, 2), slice(0, 5)),
    "gathered": (slice(0, 5), slice(0, 10, 2)),
}  # fmt: skip


@pytest.mark.parametrize("to, origin", SHIFTS.values(), ids=SHIFTS)
@pytest.mark.parametrize("several", [False, True], ids=["one storage", "two storages over the same bytes"])
def test_copy_within_overlapping_bytes(to, origin, several):
    expected, array = np.arange(10.0), np.arange(10.0)
    expected[to] = expected[origin].copy()
    if several:
        from_numpy(array[to]).copy_(from_numpy(array[origin]))
    else:
        x = from_numpy(array)
        x[to].copy_(x[origin])
    assert array.tolist() == expected.tolist()


def test_copy_to_itself_and_its_transpose():
    x = counted(3, 3)
    assert x.copy_(x).tolist() == counted(3, 3).tolist()
    assert x.copy_(x.T).tolist() == counted(3, 3).T.tolist()


def test_overlapping_copy_frees_what_it_borrowed():
    x = counted(1000)
    before = CPUAllocator.bytes_in_use()
    x[1:].copy_(x[:-1])
    assert CPUAllocator.bytes_in_use() == before


@pytest.mark.parametrize("write", [
    lambda x: x.copy_(counted(3)), lambda x: x.copy_(tensix.ones(3, dtype=tensix.int8)),
    lambda x: x.__setitem__(slice(None), counted(3)),
])
def test_several_values_for_one_element_are_refused(write):
    """As PyTorch and NumPy refuse it: which value would win?"""
    x = tensix.zeros(1)
    with pytest.raises((RuntimeError, ValueError)):
        write(x.expand(3))
    assert x.item() == 0.0


# ---- fill_


@pytest.mark.parametrize("dtype, value", [("float32", 2.5), ("int8", -3), ("bool", True), ("complex64", 1 + 2j),
                                          ("float64", 1e300), ("uint64", 2**64 - 1), ("float16", 0.5)])
def test_fill(dtype, value):
    x = tensix.zeros(3, 4, dtype=dtype)
    view = x[1:, ::-2]
    assert view.fill_(value) is view
    expected = np.zeros((3, 4), dtype)
    expected[1:, ::-2] = value
    assert x.tolist() == expected.tolist() and x.zero_().tolist() == np.zeros((3, 4), dtype).tolist()


@pytest.mark.parametrize("dtype, value, error", [("uint8", 300, OverflowError), ("float32", "3", TypeError),
                                                 ("int32", [1, 2, 3], ValueError), ("float32", None, TypeError),
                                                 ("float32", b"3", TypeError), ("float32", np.array(1j), TypeError),
                                                 ("bfloat16", tensix.tensor(1j), TypeError)])
def test_fill_with_what_does_not_fit(dtype, value, error):
    x = tensix.ones(2, dtype=dtype)
    with pytest.raises(error):
        x.fill_(value)
    assert x.tolist() == [1, 1]


def test_only_the_view_is_written():
    storage = Storage(40)
    base = Tensor.from_storage(storage, 0, (10,), (1,), float32).zero_()
    Tensor.from_storage(storage, 7, (2, 2), (-4, 2), float32).copy_(tensix.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert base.tolist() == [0, 0, 0, 3.0, 0, 4.0, 0, 1.0, 0, 2.0]


# ---- read-only


@pytest.mark.parametrize("write", [
    lambda x: x.fill_(1), lambda x: x.zero_(), lambda x: x.copy_(tensix.ones(3)), lambda x: x.T.copy_(x),
    lambda x: x.copy_(tensix.ones(3, dtype=tensix.int8)), lambda x: x[1:2].fill_(0), lambda x: x.view(3, 1)[0].zero_(),
    lambda x: x.__setitem__(0, 5), lambda x: x.__setitem__(slice(None), tensix.ones(3)), lambda x: x[0:0].fill_(1),
])
def test_read_only_memory_is_not_written(write):
    array = np.arange(3.0)
    with pytest.raises(RuntimeError, match="read-only"):
        write(read_only(array))
    assert array.tolist() == [0.0, 1.0, 2.0]


def test_reading_read_only_memory():
    x = read_only(np.arange(3.0))
    assert tensix.zeros(3).copy_(x).tolist() == x.clone().tolist() == (x + 0).tolist() == [0.0, 1.0, 2.0]
    assert x.reshape(3, 1).readonly and not x.clone().readonly
