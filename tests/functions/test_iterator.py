"""Walks over any geometry, against NumPy: order, direction and gaps of dimensions, broadcasting, conversion."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix

settings.register_profile("iterator", max_examples=80, deadline=None, derandomize=True)
settings.load_profile("iterator")

LARGE = [(70_000,), (300, 400), (2, 90_000), (90_000, 2), (5, 7, 3000), (64, 3, 5, 90)]


@st.composite
def laid_out(draw, shape, dtype=np.float64):
    """Return an array of a shape whose dimensions lie in any order, backwards or with gaps, some perhaps repeated."""
    order = draw(st.permutations(range(len(shape))))
    gaps = [draw(st.sampled_from([1, 1, 2, 3])) for _ in shape]
    room = np.arange(np.prod([s * gap for s, gap in zip(shape, gaps, strict=True)], dtype=int)).astype(dtype)
    room = room.reshape([shape[dim] * gaps[dim] for dim in order]).transpose(np.argsort(order))
    view = room[(*(slice(None, None, gap) for gap in gaps), ...)]
    view = view[(*(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in shape), ...)]
    for dim in range(len(shape)):
        if shape[dim] and draw(st.integers(0, 5)) == 0:
            first = view[(slice(None),) * dim + (slice(0, 1),)]
            view = np.broadcast_to(first, shape)
    assert view.shape == tuple(shape)
    return view


def same(tensor, array):
    np.testing.assert_array_equal(np.asarray(tensor), array)
    assert tensor.dtype.numpy == array.dtype and tensor.shape == array.shape


@given(st.data())
def test_binary_and_unary(data):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=6, max_side=4, min_side=0))
    a, b = (data.draw(laid_out(shape)) for shape in shapes.input_shapes)
    x, y = tensix.from_numpy(a), tensix.from_numpy(b)
    same(x + y, np.asarray(a + b))
    same(x - y, np.asarray(a - b))
    same(-x, np.asarray(-a))


@given(st.data())
def test_copies(data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=6, min_side=0, max_side=4))
    a = data.draw(laid_out(shape))
    b = np.array(data.draw(laid_out(shape)))[(*(slice(None, None, -1) for _ in shape), ...)]
    same(tensix.from_numpy(a).clone(), a)
    tensix.from_numpy(b).copy_(tensix.from_numpy(a))
    np.testing.assert_array_equal(b, a)
    tensix.from_numpy(b).fill_(7)
    assert (b == 7).all()


@given(st.data())
def test_mixed_types(data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
    a = data.draw(laid_out(shape, data.draw(st.sampled_from(["f4", "i2", "u1", "?"]))))
    b = data.draw(laid_out(shape))
    x, y = tensix.from_numpy(a), tensix.from_numpy(b)
    same(x + y, np.asarray(a + b))
    same(y * x, np.asarray(b * a))


@pytest.mark.parametrize("shape", LARGE)
@pytest.mark.parametrize("threads", [1, 3])
def test_large(shape, threads):
    rng = np.random.default_rng(0)
    before = tensix.get_num_threads()
    tensix.set_num_threads(threads)
    try:
        a = rng.standard_normal(shape).astype("f4")
        for b in (rng.standard_normal(shape).astype("f4"), a[..., ::-1], np.array(2.0, "f4"), a[:1], a[..., :1]):
            x, y = tensix.from_numpy(a), tensix.from_numpy(b)
            same(x + y, a + b)
            same(x * y, a * b)
            same(x.T * y.T, a.T * b.T)
            same(x.clone(memory_format="contiguous_format"), a)
        same(x.T.clone(memory_format="contiguous_format"), a.T)
    finally:
        tensix.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "i8", "c16"])
@pytest.mark.parametrize("shape", [(70, 65), (65, 700), (700, 66), (3, 90, 130)])
def test_operands_in_two_orders(shape, dtype):
    rng = np.random.default_rng(1)
    a = rng.integers(0, 100, shape).astype(dtype)
    b = rng.integers(1, 100, shape[::-1]).astype(dtype).T
    x = tensix.from_numpy(a)
    for other in (b, b[::-1], b[..., ::-1], np.repeat(b.T, 2, axis=-1)[..., ::2].T, b.real.astype("u1")):
        y = tensix.from_numpy(other)
        same(x + y, a + other)
        same(y == x, other == a)
        same(tensix.where(x == y, y, x), np.where(a == other, other, a))
        if dtype != "c16":
            same(tensix.maximum(y, x), np.maximum(other, a))
            same(tensix.clip(x, y, y), np.clip(a, other, other).astype(x.dtype.numpy))


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 40_000, 200_001])
def test_blocks_of_conversion(count):
    a = np.arange(count, dtype="i4")[::-1]
    b = np.arange(count, dtype="f4") / 7
    same(tensix.from_numpy(a) + tensix.from_numpy(b), a.astype("f4") + b)
    same(tensix.from_numpy(b) - tensix.from_numpy(a[:1]), b - a[:1].astype("f4"))
    same(tensix.from_numpy(a[::2]) / tensix.from_numpy(a[::2] + 1), a[::2].astype("f4") / (a[::2] + 1).astype("f4"))


# ---- the order of results


def turned(*shape):
    return tensix.ones(*shape).permute(*reversed(range(len(shape))))


def test_inputs_of_one_dense_order_give_it_to_the_result():
    x = turned(4, 3, 2)
    for result in (x + x, -x, x * 2, 2 / x, x + turned(4, 3, 2), x + tensix.ones(3, 1), tensix.ones(2, 1, 4) - x):
        assert result.stride() == x.stride() == (1, 2, 6) and result.shape == (2, 3, 4)


def test_gaps_are_left_out_of_the_order():
    x = turned(4, 3, 2)
    for result in (x[:, ::2] * x[:, ::2], -x[:, ::2], x[:, 1:] - x[:, :-1], tensix.diff(x, axis=1)):
        assert result.shape == (2, 2, 4) and result.stride() == (1, 2, 4)
        assert result.tolist() in ([[[v] * 4] * 2] * 2 for v in (1.0, -1.0, 0.0))


def test_all_other_results_are_row_major():
    x = turned(4, 3, 2)
    y = tensix.ones(2, 3, 4)
    for result in (x + y, y - x, x[:, ::2] * y[:, ::2], x + tensix.ones(5, 1, 1, 1), -x[::-1], -x[:1].expand(5, 3, 4)):
        assert result.is_contiguous()


def test_meta_has_the_same_order():
    for result in (turned(3, 2) + turned(3, 2), -turned(3, 2), turned(3, 2) * 2, turned(3, 2) + tensix.ones(2, 3)):
        assert result.stride() in ((1, 2), (3, 1))
    x = tensix.empty(3, 2, device="meta").T
    assert (x + x).stride() == (-x).stride() == (x * 2).stride() == (2 + x).stride() == (1, 2)
    assert (x + tensix.empty(2, 3, device="meta")).stride() == (3, 1)


def test_dimensions_of_every_number():
    a = np.arange(2.0**12).reshape((2,) * 12 + (1,) * 40)
    order = np.random.default_rng(0).permutation(52)
    x = tensix.from_numpy(a).permute(*order.tolist())
    same(x + x, (a + a).transpose(order))
    same(x.sum(axis=tuple(range(0, 52, 2))), a.transpose(order).sum(axis=tuple(range(0, 52, 2))))


@pytest.mark.parametrize("columns", [1, 2, 4, 5, 6, 8, 15, 16, 17])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "complex128"])
def test_short_rows_with_gaps(columns, dtype):
    """Runs go along columns or rows, by their length and by what is called for them."""
    room = np.random.default_rng(columns).integers(0, 9, (3000, columns + 2)).astype(dtype)
    a, b = room[:, 1 : columns + 1], room[::-1, : columns][:, ::-1]
    x, y = tensix.from_numpy(room)[:, 1 : columns + 1], tensix.flip(tensix.from_numpy(room), axis=0)[:, :columns]
    y = tensix.flip(y, axis=1)
    same(x.clone(), a)
    same(x.T.contiguous(), a.T)
    same(x + y, a + b)
    same(tensix.astype(x, tensix.complex64), a.astype("complex64"))
    np.testing.assert_allclose(np.asarray(tensix.exp(x)), np.exp(a.astype(x.exp().dtype.numpy)), rtol=1e-6)
    same(tensix.concat((x, y), axis=1), np.concatenate((a, b), axis=1))
    same(x.sum(1), a.sum(1, dtype=x.sum(1).dtype.numpy))
    filled = tensix.zeros(6000, columns, dtype=x.dtype)
    filled[::2] = 3
    filled[1::2, :] = y
    same(filled[::2], np.full((3000, columns), 3, dtype))
    same(filled[1::2], b)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("dtype", "offset"),
    [("float32", 0), ("float32", 1), ("float64", 3), ("uint8", 0), ("uint8", 61), ("complex128", 0), ("complex128", 1)],
)
def test_results_larger_than_the_cache(dtype, offset, threads):
    """Stored past the cache from the first line on that an element begins with, but for what is left at the ends."""
    count = (33 << 20) // np.dtype(dtype).itemsize + 7
    a = (np.arange(count + offset) % 100).astype(dtype)
    x = tensix.from_numpy(a)[offset:]
    a = a[offset:]
    out = tensix.zeros(count + offset, dtype=x.dtype)
    before = tensix.get_num_threads()
    tensix.set_num_threads(threads)
    try:
        same(tensix.add(x, x, out=out[offset:]), a + a)
        assert not out[:offset].any()
        same(x.clone(), a)
        same(x * 2, a * 2)
        same(x.add_(1), a)  # in place, in the array's own memory
    finally:
        tensix.set_num_threads(before)


def test_large_results_that_do_not_lie_side_by_side():
    a = np.random.default_rng(0).random((3 << 20, 3), "float32")
    x, row, column = (tensix.from_numpy(array) for array in (a, a[5], a[:, :1]))
    same(x + row, a + a[5])
    same(x + column, a + a[:, :1])
    out = tensix.zeros(3 << 20, 6, dtype=tensix.float32)
    same(tensix.multiply(x, x, out=out[:, ::2]), a * a)
    assert not out[:, 1::2].any()
    same(x.T.contiguous(), a.T)
    same(tensix.flip(x, axis=0).clone(), a[::-1])


def test_large_result_of_which_no_element_begins_a_line():
    room = np.zeros((33 << 20) + 64 + 16, np.uint8)
    start = -room.ctypes.data % 64 + 8
    out = room[start : start + (33 << 20)].view(np.complex128)
    a = np.arange(out.size, dtype=np.complex128)
    x = tensix.from_numpy(a)
    tensix.add(x, x, out=tensix.from_numpy(out))
    same(tensix.from_numpy(out), a + a)
