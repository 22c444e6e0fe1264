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
    (lambda: tensix.matmul(X, 2), TypeError),
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
