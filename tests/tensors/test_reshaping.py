"""Other shapes and other types of the same elements: flatten, unflatten, contiguous, view(dtype)."""

import numpy as np
import pytest

import tensix
from tensix import Storage, Tensor, float32


@pytest.fixture
def array():
    return np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture
def x(array):
    return tensix.from_numpy(array)


@pytest.mark.parametrize("dims, shape", [((), (24,)), ((1,), (2, 12)), ((0, 1), (6, 4)), ((-2, -1), (2, 12)),
                                         ((1, 1), (2, 3, 4)), ((0, -2), (6, 4))])
def test_flatten(x, dims, shape):
    flat = x.flatten(*dims)
    assert flat.shape == shape and flat.is_alias_of(x) and flat.tolist() == x.reshape(shape).tolist()


def test_flatten_copies_where_no_stride_fits(x, array):
    assert x.T.flatten().tolist() == array.T.ravel().tolist() and not x.T.flatten().is_alias_of(x)
    assert x.permute(2, 0, 1).flatten(1).is_alias_of(x)
    assert tensix.full((), 3).flatten().tolist() == tensix.full((), 3).flatten(0, -1).tolist() == [3]


def test_unflatten_without_elements():
    assert tensix.empty(2, 0).unflatten(1, (3, -1)).shape == (2, 3, 0)
    assert tensix.empty(2, 0).unflatten(1, (0, 5)).shape == (2, 0, 5)
    assert tensix.empty(2, 0).unflatten(0, (-1, 2)).shape == (1, 2, 0)


@pytest.mark.parametrize("call, error", [
    (lambda x: x.flatten(1, 0), ValueError), (lambda x: x.flatten(0, 3), IndexError),
    (lambda x: x.flatten(0.0), TypeError), (lambda x: x[0, 0, 0].flatten(1), IndexError),
    (lambda x: x.unflatten(2, (3, -1)), ValueError), (lambda x: x.unflatten(2, ()), ValueError),
    (lambda x: x.unflatten(2, (-1, -1)), ValueError), (lambda x: x.unflatten(2, (0, -1)), ValueError),
    (lambda x: x.unflatten(2, (-2, -2)), ValueError), (lambda x: x.unflatten(2, (2**32, 2**32)), ValueError),
    (lambda x: x.unflatten(3, (1,)), IndexError), (lambda x: x.unflatten(2, 4), TypeError),
    (lambda x: x.unflatten(2, (2.0, 2)), TypeError), (lambda x: x.unflatten(2, (4,) + (1,) * 62), ValueError),
    (lambda x: x[:, :, :0].unflatten(2, (0, -1)), ValueError), (lambda x: x.squeeze((0, 0)), ValueError),
    (lambda x: x[:1].squeeze((0, -3)), ValueError), (lambda x: x.view_as(None), TypeError),
    (lambda x: x.expand_as(x[0]), ValueError), (lambda x: x.T.view_as(x), ValueError),
    (lambda x: x.view(True, -1), TypeError), (lambda x: x.reshape(24, True), TypeError),
    (lambda x: x[:1, :1, :0].expand(2**40, 2**40, 0).flatten(0, 1), OverflowError),
])
def test_refused_shapes(x, call, error):
    with pytest.raises(error):
        call(x)
    assert x.storage().use_count() == 2


def test_shapes_of_others(x):
    assert x.view_as(tensix.empty(4, 6)).shape == x.T.reshape_as(tensix.empty(4, 6)).shape == (4, 6)
    assert x[:, :1].expand_as(x).stride() == (12, 0, 1)


def test_a_new_dimension_spans_the_next():
    """So that a batch of one is recognised as what the image was."""
    images = tensix.empty(2, 3, 4, 5, memory_format=tensix.channels_last)
    assert images[0].unsqueeze(0).is_contiguous(memory_format=tensix.channels_last)
    assert [tensix.empty(2, 3).unsqueeze(dim).stride() for dim in (0, 1, 2)] == [(6, 3, 1), (3, 3, 1), (3, 1, 1)]


# ---- contiguous


def test_contiguous(x, array):
    assert x.contiguous() is x and x[1].contiguous().is_alias_of(x)
    rows = x.T.contiguous()
    assert rows.is_contiguous() and not rows.is_alias_of(x) and rows.tolist() == array.T.tolist()
    assert x[:0].T.contiguous().is_alias_of(x)  # nothing to copy


# ---- other types


SAME_SIZE = ["float32", "int32", "uint32"]
SMALLER = ["int8", "uint8", "int16", "float16", "bool"]
LARGER = ["float64", "int64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", SAME_SIZE + SMALLER + LARGER)
def test_view_of_another_type(x, array, dtype):
    view = x.view(getattr(tensix, dtype))
    assert view.dtype is getattr(tensix, dtype) and view.is_alias_of(x)
    assert np.array(view).tobytes() == array.tobytes() and view.shape == array.view(dtype).shape
    back = view.view("float32")
    assert back.tolist() == x.tolist() and back.stride() == x.stride()


def test_a_view_of_another_type_reads_and_writes_the_same_bytes(x, array):
    x.view(tensix.int32)[0, 0] = 0x3F800000
    assert array[0, 0].tolist() == [1.0] * 4
    assert x[1:, :, 2:].view(tensix.int8)[0, 0].fill_(0).shape == (8,)
    assert array[1, 0].tolist() == [12.0, 13.0, 0.0, 0.0]
    halves = x[:, :, 2:].view(tensix.bfloat16)
    assert (halves.shape, halves.stride(), halves.storage_offset()) == ((2, 3, 4), (24, 8, 1), 4)


def test_types_of_one_size_need_no_order(x, array):
    assert x.T[::-1].view("int32").tolist() == array.T[::-1].view("int32").tolist()
    assert x[0, 0, 0].view("int32").shape == ()


def storage_view(shape, stride, offset):
    return Tensor.from_storage(Storage(400), offset, shape, stride, float32)


@pytest.mark.parametrize("make, dtype, text", [
    (lambda x: x.T, "int8", "last stride must be 1, found 12"), (lambda x: x[..., ::-1], "int64", "found -1"),
    (lambda x: x[0, 0, 0], "int8", "without dimensions"),
    (lambda x: x[..., 1:], "int64", "last size must be divisible by 2, found 3"),
    (lambda x: x[..., 1:3], "float64", "storage offset must be divisible by 2, found 1"),
    (lambda x: storage_view((2, 2), (3, 1), 0), "float64", "stride of dimension 0 must be .* found 3"),
    (lambda x: x[..., :2], "complex128", "last size must be divisible by 4, found 2"),
])
def test_refused_types(x, make, dtype, text):
    with pytest.raises(ValueError, match=text):
        make(x).view(dtype)


@pytest.mark.parametrize("dtype", ["float24", "24", Tensor().dtype])
def test_what_is_no_type(x, dtype):
    with pytest.raises(TypeError):
        x.view(dtype)


def test_memory_that_is_not_aligned_for_the_type():
    buffer = np.zeros(80, np.uint8)
    start = -buffer.ctypes.data % 8
    x = tensix.from_numpy(buffer[start + 4 : start + 36].view(np.float32))
    with pytest.raises(ValueError, match=r"not be aligned for float64. Copy them with clone"):
        x.view("float64")
    assert x.clone().view("float64").shape == (4,) and x[1:7].clone().view("complex64").shape == (3,)


def test_more_elements_than_can_be_counted():
    x = tensix.ones(1).as_strided((0, 2**62), (1, 1))
    with pytest.raises(ValueError, match="more elements than 63 bits count"):
        x.view(tensix.int8)


# ---- resize_


def test_resize_keeps_the_elements_in_their_order():
    x = tensix.arange(6)
    same = x.resize_(2, 2)
    assert same is x and x.tolist() == [[0, 1], [2, 3]]
    assert x.resize_((3, 2)).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert x.storage().nbytes() == 48
    assert x.resize_(7)[:6].tolist() == [0, 1, 2, 3, 4, 5] and x.storage().nbytes() == 56
    assert x.resize_(()).item() == 0 and x.resize_(0, 5).shape == (0, 5) and x.resize_(5).tolist() == [0, 1, 2, 3, 4]


def test_resize_to_the_same_sizes_changes_nothing():
    x = tensix.arange(6).reshape(2, 3).T
    assert x.resize_(3, 2).stride() == (1, 3)
    assert x.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]  # as they lie


def test_resize_is_seen_by_every_handle_and_not_by_views():
    x = tensix.arange(6)
    handle, view = tensix.Tensor.from_impl(tensix.IntrusivePtr.reclaim_copy(x.impl)), x[2:4]
    x.resize_(100)
    assert handle.shape == (100,)
    x[2] = 7
    assert view.tolist() == [7, 3]


def test_resize_of_a_view_begins_where_it_begins():
    x = tensix.arange(10)
    view = x[4:6]
    assert view.resize_(3).tolist() == [4, 5, 6] and x.storage().nbytes() == 80
    view.resize_(8)
    assert x.storage().nbytes() == 96 and view[:6].tolist() == [4, 5, 6, 7, 8, 9] and x.tolist() == [*range(10)]


def test_resize_leaves_lazy_clones_alone():
    x = tensix.arange(4)
    lazy = x.lazy_clone()
    lazy.resize_(2)
    assert lazy.is_cow() and lazy.data_ptr() == x.data_ptr()
    lazy.resize_(1000)
    assert lazy.data_ptr() != x.data_ptr() and lazy[:4].tolist() == x.tolist() == [0, 1, 2, 3]


def test_resize_on_meta():
    assert tensix.empty(2, device="meta").resize_(2**20, 2**20).shape == (2**20, 2**20)


@pytest.mark.parametrize(("make", "sizes", "error", "text"), [
    (lambda: tensix.from_numpy(np.ones(2)), (3,), RuntimeError, "24 bytes: the storage is not resizable"),
    (lambda: tensix.ones(2), (-1,), ValueError, "negative dimension -1"),
    (lambda: tensix.ones(2), (2**62, 4), ValueError, "overflow"),
    (lambda: tensix.ones(2), (2**40,), tensix.OutOfMemoryError, "4,398,046,511,104 bytes"),
    (tensix.Tensor, (2,), RuntimeError, "undefined"),
    (lambda: tensix.ones(2).to_sparse(), (3,), RuntimeError, "sparse_coo tensor has neither storage nor strides"),
])  # fmt: skip
def test_resize_that_cannot_be(make, sizes, error, text):
    x = make()
    before = x.shape
    with pytest.raises(error, match=text):
        x.resize_(*sizes)
    assert x.shape == before


def test_resize_of_what_others_use_is_refused_if_it_must_move():
    x = tensix.arange(4)
    array = x.numpy()
    assert x.resize_(2).tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="resize"):
        x.resize_(100)
    assert array.tolist() == [0, 1, 2, 3] and x.shape == (2,)
