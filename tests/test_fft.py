"""The Fourier transforms against NumPy's, in their precision."""

import numpy as np
import pytest

import tensix
from tensix import fft

COMPLEX = {"float32": "complex64", "float64": "complex128", "complex64": "complex64", "complex128": "complex128"}
REAL = {"complex64": "float32", "complex128": "float64", "float32": "float32", "float64": "float64"}
NORMS = ["backward", "ortho", "forward"]
# name -> what it takes and what it gives
ONE = {"fft": (None, COMPLEX), "ifft": (None, COMPLEX), "rfft": ("float", COMPLEX), "irfft": (None, REAL),
       "hfft": (None, REAL), "ihfft": ("float", COMPLEX)}  # fmt: skip
MANY = {"fftn": (None, COMPLEX), "ifftn": (None, COMPLEX), "rfftn": ("float", COMPLEX), "irfftn": (None, REAL)}


def accepted(functions):
    """Return each name with each element type that it takes."""
    return [(name, dtype) for name, (only, _) in functions.items() for dtype in COMPLEX if not only or only in dtype]


def numbers(shape, dtype):
    generator = np.random.default_rng(1)
    array = generator.normal(size=shape)
    return (array + 1j * generator.normal(size=shape) if "complex" in dtype else array).astype(dtype)


def assert_close(x, array, dtype):
    assert (x.shape, str(x.dtype)) == (array.shape, dtype)
    np.testing.assert_allclose(np.asarray(x), array, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name, dtype", accepted(ONE))
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [None, 3, 9])
def test_along_one_dimension(name, dtype, norm, n):
    results = ONE[name][1]
    array = numbers((4, 6), dtype)
    for axis in (-1, 0):
        options = {"n": n, "axis": axis, "norm": norm}
        expected = getattr(np.fft, name)(array, **options)
        assert_close(getattr(fft, name)(tensix.from_numpy(array), **options), expected, results[dtype])


@pytest.mark.parametrize("name, dtype", accepted(MANY))
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("s, axes", [(None, None), ((3, 4), (0, 2)), ((3, 8), (-1, -2)), (None, (1,)), ((4,), None)])
def test_along_many_dimensions(name, dtype, norm, s, axes):
    results = MANY[name][1]
    array = numbers((2, 4, 6), dtype)
    expected = getattr(np.fft, name)(array, s=s, axes=axes or (s and (-1,)), norm=norm)
    found = getattr(fft, name)(tensix.from_numpy(array), s=s, axes=axes, norm=norm)
    assert_close(found, expected, results[dtype])


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("axes", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_shifts(name, axes, dtype):
    array = np.arange(15).reshape(3, 5).astype(dtype)
    assert_close(getattr(fft, name)(tensix.from_numpy(array), axes=axes), getattr(np.fft, name)(array, axes), dtype)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_frequencies_have_the_bits_of_numpys(name, dtype):
    for n in (1, 2, 3, 8, 9, 1000):
        for d in (1.0, 0.1, -2.5, 1e-300, float("inf")):
            with np.errstate(over="ignore"):
                truth = getattr(np.fft, name)(n, d).astype(dtype)
            assert getattr(fft, name)(n, d=d, dtype=dtype).numpy().tobytes() == truth.tobytes()


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies(name, n):
    function, expected = getattr(fft, name), getattr(np.fft, name)
    assert_close(function(n), expected(n), "float32")
    assert_close(function(n, d=0.5), expected(n, 0.5), "float32")
    assert_close(function(n, dtype=tensix.float64), expected(n), "float64")
    assert str(function(n, device="meta").device) == "meta"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_narrow_types_are_computed_in_float32(name, dtype):
    x = tensix.astype(tensix.tensor([[1.0, 2, 4], [0.5, 3, 1]]), dtype)
    found, expected = getattr(fft, name)(x), getattr(fft, name)(tensix.astype(x, tensix.float32))
    assert str(found.dtype) == (dtype if expected.dtype is tensix.float32 else "complex64")
    assert found.tolist() == tensix.astype(expected, found.dtype).tolist()


@pytest.mark.parametrize("name", [*ONE, *MANY])
@pytest.mark.parametrize("value", [3e38, np.inf, np.nan])
def test_what_overflows_on_the_way_is_as_in_numpy(name, value):
    array = np.array([value, value, -value, -value], "float32")
    with np.errstate(all="ignore"):
        expected = getattr(np.fft, name)(array)
    np.testing.assert_array_equal(np.asarray(getattr(fft, name)(tensix.from_numpy(array))), expected)


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_integers_become_the_default_type(dtype):
    assert fft.fft(tensix.ones(4, dtype=dtype)).dtype is tensix.complex64


def test_input_is_unchanged():
    x = tensix.ones(4, dtype="complex64")
    assert not fft.fft(x, n=4).is_alias_of(x) and x.tolist() == [1] * 4


X = tensix.ones(2, 3)


@pytest.mark.parametrize("call, error", [
    (lambda: fft.fft(X, n=0), ValueError), (lambda: fft.fft(X, n=2.5), TypeError),
    (lambda: fft.fft(X, axis=2), IndexError),
    (lambda: fft.fft(X, norm="none"), ValueError), (lambda: fft.fft([1.0]), TypeError),
    (lambda: fft.fftn(X, axes=(0, 5)), IndexError), (lambda: fft.fftn(X, s=(2,), axes=(0, 1)), ValueError),
    (lambda: fft.fftshift(X, axes=2), IndexError), (lambda: fft.fftfreq(0), ValueError),
    (lambda: fft.rfftfreq(-1), ValueError),
    (lambda: fft.fftfreq(2.5), TypeError), (lambda: fft.rfft(tensix.ones(2, dtype="complex64")), TypeError),
    (lambda: fft.fft(tensix.ones(())), IndexError), (lambda: fft.fftfreq(4, dtype="nothing"), TypeError),
])  # fmt: skip
def test_bad_input(call, error):
    with pytest.raises(error):
        call()
