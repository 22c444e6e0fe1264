"""Tensors over NumPy's arrays: no copy, both lifetimes, and the arrays that cannot be looked at."""

import gc
import weakref

import numpy as np
import pytest

import tensix
from tensix import from_numpy


class Array(np.ndarray):
    """An array that can be watched by a weak reference."""


def watched(shape=(4,)):
    return np.zeros(shape).view(Array)


def test_bytes_are_shared():
    array = np.arange(6.0).reshape(2, 3)
    tensor = from_numpy(array)
    assert (tensor.shape, tensor.stride(), tensor.data_ptr()) == ((2, 3), (3, 1), array.ctypes.data)
    assert (tensor.allocator, tensor.readonly, tensor.storage().nbytes()) == (None, False, 48)
    tensor[0, 1] = -1
    array[1, 2] = -2
    assert tensor.tolist() == array.tolist() == [[0.0, -1.0, 2.0], [3.0, 4.0, -2.0]]


def test_tensor_keeps_the_array_and_lets_it_go():
    array = watched()
    gone = weakref.ref(array)
    tensor = from_numpy(array)
    view, array = tensor[1:], None
    del tensor
    gc.collect()
    assert gone() is not None and view.tolist() == [0.0] * 3
    del view
    assert gone() is None


def test_array_does_not_need_the_tensor():
    array = np.zeros(4)
    from_numpy(array).fill_(3)
    assert array.tolist() == [3.0] * 4


@pytest.mark.parametrize("array", [
    np.arange(24.0).reshape(2, 3, 4)[::-1, :, ::-2], np.arange(6.0)[::-1], np.asfortranarray(np.ones((3, 4))),
    np.arange(12.0).reshape(3, 4).T[1:, ::2], np.array(5.0), np.zeros((0, 3)), np.zeros((3, 0, 2))[:, :, ::-1],
    np.arange(4.0)[2:2], np.lib.stride_tricks.as_strided(np.arange(5.0), (3, 3), (8, 8)), np.ones((1,) * 64),
    np.broadcast_to(np.arange(3.0), (4, 3)), np.arange(3, dtype=np.longlong), np.array([1 + 2j]), np.array([True]),
    np.zeros(3, [("a", "f4"), ("b", "f4")])["b"], np.arange(4, dtype=np.float16)[::3],
])
def test_any_strides(array):
    tensor = from_numpy(array)
    assert (tensor.shape, tensor.tolist(), tensor.dtype.numpy) == (array.shape, array.tolist(), array.dtype)
    assert tensor.is_contiguous() == array.flags.c_contiguous
    assert (tensor[...] if array.ndim == 0 else tensor[:1]).is_alias_of(tensor)
    assert (tensor if array.dtype == bool else tensor + tensor).shape == array.shape
    if array.size:
        assert tensor.data_ptr() == array.ctypes.data
        assert tensor.stride() == tuple(stride // array.itemsize for stride in array.strides)


def test_storage_spans_what_the_array_does():
    base = np.arange(10.0)
    tensor = from_numpy(base[8:2:-2])
    assert (tensor.storage().nbytes(), tensor.storage_offset(), tensor.stride()) == (40, 4, (-2,))
    assert tensor.storage().data_ptr() == base[4:].ctypes.data


def misaligned():
    return np.frombuffer(bytes(17), np.uint8)[1:].view(np.float64)


@pytest.mark.parametrize("make, error, text", [
    (lambda: np.zeros(3, ">f4"), ValueError, "not in the machine's order"),
    (misaligned, ValueError, "not aligned"),
    (lambda: np.zeros(3, [("a", "i4"), ("b", "f8", ())])["b"], ValueError, "not aligned|not a multiple"),
    (lambda: np.zeros((3, 3), "i4").view("i1")[:, :8].view("i8"), ValueError, "not aligned|12 bytes is not a multiple"),
    (lambda: np.array(["a"]), TypeError, "not an element type"),
    (lambda: np.array([None]), TypeError, "not an element type"),
    (lambda: np.zeros(2, "M8[s]"), TypeError, "not an element type"),
    (lambda: np.zeros(2, [("a", "f4")]), TypeError, "not an element type"),
    (lambda: [1, 2], TypeError, "takes a numpy.ndarray, found list"),
    (lambda: np.float32(3), TypeError, "takes a numpy.ndarray, found float32"),
])
def test_arrays_that_are_refused(make, error, text):
    with pytest.raises(error, match=text):
        from_numpy(make())


def test_refused_array_is_not_kept():
    array = watched().astype(">f8")
    gone = weakref.ref(array)
    with pytest.raises(ValueError):
        from_numpy(array)
    del array
    assert gone() is None


@pytest.mark.parametrize("write", [
    lambda x: x.fill_(1), lambda x: x.zero_(), lambda x: x[0].copy_(tensix.zeros(())), lambda x: x.mutable_data_ptr(),
    lambda x: x.__setitem__(0, 1), lambda x: x.storage().mutable_data_ptr(),
])
def test_read_only_array_gives_a_read_only_tensor(write):
    array = np.arange(3.0)
    array.flags.writeable = False
    tensor = from_numpy(array)
    assert tensor.readonly and tensor[1:].readonly and tensor.storage().readonly
    with pytest.raises(RuntimeError, match="read-only"):
        write(tensor)
    assert array.tolist() == [0.0, 1.0, 2.0]


def test_copies_of_a_read_only_tensor_can_be_written():
    array = np.arange(3.0)
    array.flags.writeable = False
    tensor = from_numpy(array)
    for copy in (tensor.clone(), tensor.lazy_clone(), tensor + 0):
        assert not copy.readonly and copy.fill_(7).tolist() == [7.0] * 3
    assert array.tolist() == [0.0, 1.0, 2.0]


def test_exported_bytes_are_not_shared_copy_on_write():
    """The array's holders may write them behind our back."""
    array = np.zeros(3)
    tensor = from_numpy(array)
    clone = tensor.lazy_clone()
    array[:] = 1
    assert clone.tolist() == [0.0] * 3 and tensor.tolist() == [1.0] * 3


@pytest.mark.parametrize("number", [np.float32(2), np.float64(2), np.int64(2), np.bool_(True)])
def test_numpys_numbers_are_numbers(number):
    """On either side the result is a tensor, not an array of objects."""
    x = tensix.ones(2)
    for result in (x + number, number + x, x * number, number * x):
        assert isinstance(result, tensix.Tensor) and result.shape == (2,)
