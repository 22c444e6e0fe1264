"""Products of tensors against NumPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix

sizes = st.integers(0, 4)


def numbers(*shape, dtype="int64"):
    array = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7 - 3).astype(dtype)
    return array * (1 + 2j) if "complex" in dtype else array


def assert_like(x, array):
    array = np.asarray(array)
    assert (x.shape, str(x.dtype)) == (array.shape, str(array.dtype))
    np.testing.assert_allclose(np.asarray(x), array, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("a, b", [((2, 3), (3, 4)), ((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)),
                                  ((5, 1, 2, 3), (4, 3, 2)), ((0, 3), (3, 2)), ((2, 0), (0, 2))])
def test_matmul(a, b, dtype):
    x, y = numbers(*a, dtype=dtype), numbers(*b, dtype=dtype)
    for matmul in (tensix.matmul, tensix.linalg.matmul):
        assert_like(matmul(tensix.from_numpy(x), tensix.from_numpy(y)), np.matmul(x, y))


@st.composite
def factors(draw):
    """Draw two arrays of random strides whose shapes fit a product of matrices."""
    batch = draw(st.lists(sizes, max_size=2))
    rows, inner, columns = draw(sizes), draw(sizes), draw(sizes)
    shapes = []
    for core in ((rows, inner), (inner, columns)):
        kept = batch[draw(st.integers(0, len(batch))):]
        shapes.append([*[draw(st.sampled_from((1, size))) for size in kept], *core])
    dtype = draw(st.sampled_from(["bool", "uint8", "int32", "float16", "float32", "float64", "complex128"]))
    return [strided(draw, shape, dtype) for shape in shapes]


def strided(draw, shape, dtype):
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from((1, 2, -1))) for _ in shape]
    whole = numbers(*[shape[i] * abs(steps[i]) for i in order], dtype=dtype)
    return whole.transpose(np.argsort(order))[tuple([slice(None, None, step) for step in steps])]


@settings(max_examples=150)
@given(factors())
def test_matmul_of_any_strides(arrays):
    x, y = arrays
    a, b = tensix.from_numpy(x), tensix.from_numpy(y)
    assert_like(a @ b, x @ y)
    if min(y.shape[-1:] + x.shape[-2:-1]) and x.ndim == y.ndim == 2:
        assert_like(a @ b[:, 0], x @ y[:, 0])
        assert_like(a[0] @ b, x[0] @ y)
        assert_like(a[0] @ b[:, 0], x[0] @ y[:, 0])


def test_matmul_of_bfloat16_goes_through_float32():
    x, y = numbers(3, 5, dtype="float32"), numbers(5, 2, dtype="float32")
    product = tensix.astype(tensix.from_numpy(x), "bfloat16") @ tensix.astype(tensix.from_numpy(y), "bfloat16")
    assert product.dtype is tensix.bfloat16 and product.tolist() == (x @ y).tolist()


def test_many_small_products_share_threads():
    x, y = numbers(70_000, 2, 3, dtype="float64"), numbers(70_000, 3, 2, dtype="float64")
    before = tensix.get_num_threads()
    for threads in (1, 2):
        tensix.set_num_threads(threads)
        assert np.array_equal(np.asarray(tensix.from_numpy(x) @ tensix.from_numpy(y)), x @ y)
    tensix.set_num_threads(before)


def test_products_on_meta_are_shapes():
    x, y = tensix.empty(4, 1, 2, 3, device="meta"), tensix.empty(5, 3, 2, device="meta")
    assert (x @ y).shape == (4, 5, 2, 2) and tensix.vecdot(x, x).shape == (4, 1, 2)
    with pytest.raises(RuntimeError, match="same device"):
        x @ tensix.ones(3, 2)


def test_matrix_transpose_is_a_view():
    x = tensix.arange(6).reshape(1, 2, 3)
    assert tensix.matrix_transpose(x).tolist() == np.asarray(x).mT.tolist()
    assert tensix.matrix_transpose(x).is_alias_of(x) and tensix.linalg.matrix_transpose is tensix.matrix_transpose
    with pytest.raises((ValueError, IndexError, RuntimeError)):
        tensix.matrix_transpose(tensix.ones(2))


@settings(max_examples=30)
@given(sizes, sizes, sizes, sizes)
def test_tensordot(a, b, c, d):
    x, y = numbers(a, b, c), numbers(b, c, d)
    s, t = tensix.from_numpy(x), tensix.from_numpy(y)
    assert_like(tensix.tensordot(s, t), np.tensordot(x, y))
    assert_like(tensix.tensordot(s, t, axes=0), np.tensordot(x, y, 0))
    for axes in (((1, 2), (0, 1)), ((-1, 1), (1, 0)), ([2], [1])):
        assert_like(tensix.tensordot(s, t, axes=axes), np.tensordot(x, y, axes))


@pytest.mark.parametrize("dtype", ["int16", "float32", "complex128"])
@pytest.mark.parametrize("a, b, axis", [((3,), (3,), -1), ((2, 3), (3,), -1), ((2, 3), (2, 3), -2),
                                        ((4, 1, 3), (2, 3), -1), ((2, 0), (2, 0), -1)])
def test_vecdot(a, b, axis, dtype):
    x, y = numbers(*a, dtype=dtype), numbers(*b, dtype=dtype)
    assert_like(tensix.vecdot(tensix.from_numpy(x), tensix.from_numpy(y), axis=axis), np.vecdot(x, y, axis=axis))


def test_promotion_is_ours():
    x, y = tensix.ones(2, dtype="int64"), tensix.ones(2)
    for product in (tensix.matmul, tensix.vecdot, lambda a, b: tensix.tensordot(a, b, axes=1), tensix.linalg.outer):
        assert product(x, y).dtype is tensix.float32
        with pytest.raises(TypeError):
            product(x, tensix.ones(2, dtype="uint64"))


X = tensix.ones(2, 3)


@pytest.mark.parametrize("call, error", [
    (lambda: tensix.matmul(X, X), ValueError), (lambda: tensix.matmul(X, tensix.ones(())), ValueError),
    (lambda: tensix.matmul(X, 2), TypeError), (lambda: tensix.ones(2, 2, 3) @ tensix.ones(3, 3, 2), ValueError),
    (lambda: tensix.tensordot(X, X, axes=1), ValueError), (lambda: tensix.tensordot(X, X, axes=3), ValueError),
    (lambda: tensix.tensordot(X, X, axes=-1), ValueError), (lambda: tensix.tensordot(X, None), TypeError),
    (lambda: tensix.tensordot(X, X, axes=((0,), (5,))), IndexError),
    (lambda: tensix.tensordot(X, X, axes=((0,), (0, 1))), ValueError),
    (lambda: tensix.vecdot(X, tensix.ones(2)), ValueError),
    (lambda: tensix.vecdot(X, X, axis=3), IndexError), (lambda: tensix.vecdot(X, [1, 2, 3]), TypeError),
])  # fmt: skip
def test_bad_input(call, error):
    with pytest.raises(error):
        call()
