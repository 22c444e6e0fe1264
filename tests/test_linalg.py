"""The linear algebra extension against NumPy, in every precision, for matrices and stacks of them."""

import numpy as np
import pytest

import tensix
from tensix import linalg

FLOATS = ["float32", "float64", "complex64", "complex128"]
SQUARE = [(3, 3), (1, 1), (0, 0), (2, 3, 3), (0, 2, 2)]
OBLONG = [*SQUARE, (2, 4), (4, 2), (5, 2, 3)]


def matrices(shape, dtype):
    """Return well-conditioned matrices."""
    generator = np.random.default_rng(1)
    array = generator.normal(size=shape)
    if "complex" in dtype:
        array = array + 1j * generator.normal(size=shape)
    return (array + 4 * np.eye(*shape[-2:])).astype(dtype)


def hermitian(shape, dtype):
    array = matrices(shape, dtype)
    return array @ array.conj().mT


def assert_close(x, array, dtype=None):
    array = np.asarray(array)
    assert (x.shape, str(x.dtype)) == (array.shape, dtype or str(array.dtype))
    np.testing.assert_allclose(np.asarray(x), array, rtol=1e-4, atol=1e-4)


def real_of(dtype):
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SQUARE)
def test_square_matrices(shape, dtype):
    array = matrices(shape, dtype)
    x = tensix.from_numpy(array)
    assert_close(linalg.inv(x), np.linalg.inv(array), dtype)
    assert_close(linalg.det(x), np.linalg.det(array), dtype)
    assert_close(linalg.matrix_power(x, 3), np.linalg.matrix_power(array, 3), dtype)
    assert_close(linalg.matrix_power(x, -1), np.linalg.inv(array), dtype)
    assert_close(linalg.trace(x, offset=1), np.linalg.trace(array, offset=1), dtype)
    sign, logabsdet = linalg.slogdet(x)
    assert_close(sign, np.linalg.slogdet(array).sign, dtype)
    assert_close(logabsdet, np.linalg.slogdet(array).logabsdet, real_of(dtype))
    vector, many = np.ones(shape[-1], dtype), np.ones((*shape[:-1], 2), dtype)
    assert_close(linalg.solve(x, tensix.from_numpy(vector)), np.linalg.solve(array, vector), dtype)
    assert_close(linalg.solve(x, tensix.from_numpy(many)), np.linalg.solve(array, many), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SQUARE)
def test_hermitian_matrices(shape, dtype):
    array = hermitian(shape, dtype)
    x = tensix.from_numpy(array)
    for upper in (False, True):
        assert_close(linalg.cholesky(x, upper=upper), np.linalg.cholesky(array, upper=upper), dtype)
    values, vectors = linalg.eigh(x)
    assert_close(values, np.linalg.eigvalsh(array), real_of(dtype))
    assert_close(linalg.eigvalsh(x), np.linalg.eigvalsh(array), real_of(dtype))
    assert_close(x @ vectors, np.asarray(vectors) * np.asarray(values)[..., None, :], dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SQUARE)
def test_eigenvalues_are_complex_in_any_case(shape, dtype):
    array = matrices(shape, dtype)
    complex_dtype = {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)
    values, vectors = linalg.eig(tensix.from_numpy(array))
    assert_close(values, np.linalg.eigvals(array), complex_dtype)
    assert_close(linalg.eigvals(tensix.from_numpy(array)), np.linalg.eigvals(array), complex_dtype)
    assert_close(vectors, np.linalg.eig(array).eigenvectors, complex_dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", OBLONG)
def test_decompositions(shape, dtype):
    array = matrices(shape, dtype)
    x = tensix.from_numpy(array)
    for full in (False, True):
        expected = [part.shape for part in np.linalg.svd(array, full_matrices=full)]
        assert [part.shape for part in linalg.svd(x, full_matrices=full)] == expected
    u, s, vh = linalg.svd(x, full_matrices=False)
    assert (str(u.dtype), str(s.dtype), str(vh.dtype)) == (dtype, real_of(dtype), dtype)
    np.testing.assert_allclose((np.asarray(u) * np.asarray(s)[..., None, :]) @ np.asarray(vh), array, atol=1e-4)
    assert_close(linalg.svdvals(x), np.linalg.svdvals(array), real_of(dtype))
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(x, mode=mode)
        assert (q.shape, r.shape) == tuple(part.shape for part in np.linalg.qr(array, mode=mode))
        np.testing.assert_allclose(np.asarray(q) @ np.asarray(r), array, atol=1e-4)
    if array.size:
        assert_close(linalg.pinv(x), np.linalg.pinv(array), dtype)
        assert_close(linalg.matrix_rank(x), np.linalg.matrix_rank(array), "int64")
        assert_close(linalg.matrix_rank(x, rtol=0.5), np.linalg.matrix_rank(array, rtol=0.5), "int64")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ord", ["fro", "nuc", None, 1, -1, 2, -2, float("inf"), -float("inf")])
@pytest.mark.parametrize("keepdims", [False, True])
def test_matrix_norms(ord, keepdims, dtype):
    array = matrices((2, 3, 2), dtype)
    found = linalg.matrix_norm(tensix.from_numpy(array), ord=ord, keepdims=keepdims)
    assert_close(found, np.linalg.matrix_norm(array, ord=ord or "fro", keepdims=keepdims), real_of(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ord", [0, 1, 2, 2.5, -1, float("inf"), -float("inf")])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), (1, 2), (0, 1, 2)])
def test_vector_norms(ord, axis, dtype):
    array = matrices((2, 3, 2), dtype)
    for keepdims in (False, True):
        found = linalg.vector_norm(tensix.from_numpy(array), axis=axis, ord=ord, keepdims=keepdims)
        assert_close(found, np.linalg.vector_norm(array, axis=axis, ord=ord, keepdims=keepdims), real_of(dtype))


@pytest.mark.parametrize("dtype", ["int8", "int64", *FLOATS])
def test_products(dtype):
    a, b = np.arange(6).reshape(2, 3).astype(dtype), np.arange(3).astype(dtype)
    x, y = tensix.from_numpy(a), tensix.from_numpy(b)
    assert_close(linalg.cross(x, y), np.linalg.cross(a, b), dtype)
    assert_close(linalg.cross(x.T, tensix.from_numpy(a).T, axis=0), np.linalg.cross(a.T, a.T, axis=0), dtype)
    assert_close(linalg.outer(y, y), np.linalg.outer(b, b), dtype)
    assert linalg.vecdot is tensix.vecdot and linalg.tensordot is tensix.tensordot and linalg.matmul is tensix.matmul


@pytest.mark.parametrize("dtype, result", [("int8", "int64"), ("uint8", "uint64"), ("float32", "float32")])
def test_trace_of_types(dtype, result):
    x = tensix.ones(200, 200, dtype=dtype)
    assert str(linalg.trace(x).dtype) == result and linalg.trace(x).item() == 200
    assert linalg.trace(x, dtype=tensix.float64).dtype is tensix.float64


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", ["transposed", "every second", "repeated", "lazy clone"])
def test_any_strides_give_what_numpy_computes(layout, dtype):
    array = hermitian((4, 4, 4), dtype)
    x = tensix.from_numpy(array)
    if layout == "transposed":
        array, x = array.transpose(1, 2, 0), x.permute(1, 2, 0)
    elif layout == "every second":
        array, x = array[:, ::2, 1::2], x[:, ::2, 1::2]
    elif layout == "repeated":
        array, x = np.broadcast_to(array[:1], (3, 4, 4)), x[:1].expand(3, 4, 4)
    else:
        x = x.lazy_clone()
    for name in ("det", "inv", "qr", "svd", "svdvals", "eig", "eigvals", "eigh", "eigvalsh", "slogdet"):
        found, expected = getattr(linalg, name)(x), getattr(np.linalg, name)(array)
        for part, exact in zip(
            [found] if name in ONE_RESULT else found, [expected] if name in ONE_RESULT else expected, strict=True
        ):
            np.testing.assert_array_equal(np.asarray(part), exact)
    np.testing.assert_array_equal(np.asarray(linalg.solve(x, x[0])), np.linalg.solve(array, array[0]))


ONE_RESULT = ("det", "inv", "svdvals", "eigvals", "eigvalsh")


@pytest.mark.parametrize("name", ["eig", "eigvals", "svd", "svdvals", "qr", "inv", "det", "cholesky", "eigh"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_fails_as_in_numpy(name, value):
    array = np.eye(3, dtype="float32")
    array[1, 1] = value
    try:
        with np.errstate(all="ignore"):
            expected = getattr(np.linalg, name)(array)
    except np.linalg.LinAlgError as error:
        with pytest.raises(np.linalg.LinAlgError, match=f"^{error}$"):
            getattr(linalg, name)(tensix.from_numpy(array))
    else:
        found = getattr(linalg, name)(tensix.from_numpy(array))
        for part, exact in zip(
            found if isinstance(found, tuple) else [found],
            expected if isinstance(expected, tuple) else [expected],
            strict=True,
        ):
            np.testing.assert_array_equal(np.asarray(part), exact)


VECTOR = tensix.tensor([1.0, -2.0, 3.0])
NARROW = {
    **{name: getattr(linalg, name) for name in (
        "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matrix_norm", "matrix_rank", "pinv", "qr",
        "slogdet", "svd", "svdvals", "trace", "vector_norm")},
    **{name: lambda x, name=name: getattr(linalg, name)(x, x) for name in (
        "cross", "matmul", "solve", "tensordot", "vecdot")},
    "outer": lambda x: linalg.outer(x[0], x[1]),
    "matrix_power": lambda x: (linalg.matrix_power(x, 2), linalg.matrix_power(x, -1)),
    "nuclear norm": lambda x: linalg.matrix_norm(x, ord="nuc"),
    "pinv with a tolerance": lambda x: linalg.pinv(x, rtol=0.01),
    "solve of vectors": lambda x: linalg.solve(x, tensix.astype(VECTOR, x.dtype)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("function", NARROW.values(), ids=NARROW)
def test_narrow_types_are_computed_in_float32(function, dtype):
    x = tensix.astype(tensix.tensor([[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 2]]), dtype)
    found, expected = function(x), function(tensix.astype(x, tensix.float32))
    if isinstance(found, tensix.Tensor):
        found, expected = (found,), (expected,)
    for part, exact in zip(found, expected, strict=True):
        assert str(part.dtype) == (dtype if exact.dtype is tensix.float32 else str(exact.dtype))
        assert part.tolist() == tensix.astype(exact, part.dtype).tolist()


def test_narrow_types_meet_others():
    x = tensix.eye(2, dtype="bfloat16")
    assert linalg.solve(x, tensix.ones(2)).dtype is tensix.float32
    assert linalg.solve(x, tensix.tensor([1, 2])).dtype is x.dtype
    assert linalg.outer(x[0], tensix.tensor([1])).dtype is x.dtype
    assert linalg.trace(x, dtype=tensix.float32).dtype is tensix.float32


def test_diagonal_is_a_view():
    x = tensix.arange(12).reshape(1, 3, 4)
    for offset in (0, 1, -2, 9):
        found = linalg.diagonal(x, offset=offset)
        assert found.tolist() == np.linalg.diagonal(np.asarray(x), offset=offset).tolist()
        assert found.is_alias_of(x)


def test_results_are_named():
    x = tensix.eye(2)
    assert linalg.eigh(x)._fields == linalg.eig(x)._fields == ("eigenvalues", "eigenvectors")
    assert linalg.qr(x)._fields == ("Q", "R") and linalg.svd(x)._fields == ("U", "S", "Vh")
    assert linalg.slogdet(x)._fields == ("sign", "logabsdet")


@pytest.mark.parametrize(
    "function",
    [linalg.inv, linalg.det, linalg.svdvals, linalg.matrix_norm, linalg.eigvalsh, linalg.cholesky, linalg.vector_norm],
)
def test_integers_become_the_default_type(function):
    assert function(tensix.tensor([[2, 0], [0, 3]])).dtype is tensix.float32


X = tensix.ones(2, 3)


@pytest.mark.parametrize("call, error", [
    (lambda: linalg.inv(tensix.zeros(2, 2)), np.linalg.LinAlgError), (lambda: linalg.inv(X), ValueError),
    (lambda: linalg.inv(tensix.ones(2)), ValueError), (lambda: linalg.det(X), ValueError),
    (lambda: linalg.cholesky(-tensix.eye(2)), ValueError), (lambda: linalg.solve(X, X), ValueError),
    (lambda: linalg.solve(tensix.eye(2), tensix.ones(3)), ValueError), (lambda: linalg.eig(X), ValueError),
    (lambda: linalg.qr(X, mode="r"), ValueError), (lambda: linalg.matrix_norm(X, ord="abc"), ValueError),
    (lambda: linalg.matrix_norm(tensix.ones(2)), ValueError), (lambda: linalg.vector_norm(X, axis=2), IndexError),
    (lambda: linalg.vector_norm(X, ord="fro"), TypeError), (lambda: linalg.cross(X.T, X.T), ValueError),
    (lambda: linalg.outer(X, X), ValueError), (lambda: linalg.matrix_power(X, 2), ValueError),
    (lambda: linalg.matrix_power(tensix.eye(2), 1.5), TypeError),
    (lambda: linalg.diagonal(tensix.ones(2)), (IndexError, ValueError)),
    (lambda: linalg.inv([[1.0]]), TypeError), (lambda: linalg.trace(tensix.ones(2)), IndexError),
    (lambda: linalg.trace(X + 1j, dtype=tensix.float32), TypeError),
    (lambda: linalg.inv(tensix.zeros(2, 2, dtype="float16")), np.linalg.LinAlgError),
    (lambda: linalg.solve(tensix.zeros(2, 2, dtype="bfloat16"), X[:, 0]), np.linalg.LinAlgError),
])  # fmt: skip
def test_bad_input(call, error):
    with pytest.raises(error):
        call()
    assert X.tolist() == [[1.0] * 3] * 2
