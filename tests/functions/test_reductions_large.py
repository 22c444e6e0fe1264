"""Reductions of large tensors, which are cut into blocks; positions, counts, running sums; and the device meta."""

import numpy as np
import pytest

import tensix

SHAPES = [(1_000_000,), (1000, 1003), (3, 200_000), (200_000, 3), (50, 60, 70), (2, 3, 100_000), (100_000, 2, 3)]


def axes_of(ndim):
    return [None, *range(ndim), *([(0, ndim - 1)] if ndim > 1 else [])]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64", "bool", "float16"])
def test_every_axis(shape, dtype):
    values = np.random.default_rng(0).standard_normal(shape)
    a = (values > 0 if dtype == "bool" else values * 100 if dtype == "int32" else values).astype(dtype)
    for b in (a, a.T, a[::-1], a[1:, ...]):
        x = tensix.from_numpy(b)
        exact = b.astype({"float32": "f8", "float16": "f8", "complex64": "c16"}.get(dtype, dtype))
        for axis in axes_of(len(shape)):
            total = exact.sum(axis)
            size = np.abs(exact).sum(axis).max() * np.finfo("f2" if dtype == "float16" else "f4").eps * 4
            np.testing.assert_allclose(np.asarray(x.sum(axis)), total, rtol=0, atol=size)
            if dtype not in ("complex64", "bool"):
                np.testing.assert_array_equal(np.asarray(x.max(axis)), b.max(axis))
                np.testing.assert_array_equal(np.asarray(x.min(axis)), b.min(axis))
            np.testing.assert_array_equal(np.asarray(x.any(axis)), b.any(axis))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("count", [131_071, 131_072, 262_144, 300_001, 1_000_003, 5_000_000])
def test_sum_of_one_run_has_numpys_digits(dtype, count):
    """Cut where NumPy halves, the parts add up to the same number."""
    a = np.random.default_rng(0).standard_normal(count).astype(dtype)
    assert tensix.from_numpy(a).sum().item() == a.sum().item()
    assert tensix.from_numpy(a[::2]).sum().item() == a[::2].sum().item()


def test_error_grows_slowly():
    x = tensix.full((10_000_000,), 0.1, dtype="float32")
    assert abs(x.sum().item() - 1_000_000) < 0.5
    assert abs(tensix.full((1000, 10_000), 0.1, dtype="float32").sum(0).sum().item() - 1_000_000) < 5


# ---- by NumPy's functions


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "float64", "bool"])
def test_positions(name, dtype):
    a = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 50, (6, 7, 8)).astype(dtype)
    for b in (a, a.T, a[::-1, ::2]):
        x = tensix.from_numpy(b)
        for axis in (None, 0, 1, -1):
            for keepdims in (False, True):
                result = getattr(tensix, name)(x, axis=axis, keepdims=keepdims)
                expected = getattr(np, name)(b, axis, keepdims=keepdims)
                assert result.dtype is tensix.int64 and result.shape == np.shape(expected)
                assert result.tolist() == expected.tolist()
    assert getattr(x, name)(1).tolist() == getattr(b, name)(1).tolist()


def test_nothing_has_no_position():
    for axis, shape in ((None, (0,)), (0, (0, 3)), (None, (3, 0))):
        with pytest.raises(ValueError, match="empty"):
            tensix.argmax(tensix.empty(*shape), axis=axis)
    assert tensix.argmin(tensix.empty(0, 3), axis=1).shape == (0,)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "complex64"])
@pytest.mark.parametrize("include_initial", [False, True])
def test_running(name, dtype, include_initial):
    a = np.random.default_rng(0).integers(0, 2, (4, 5)).astype(dtype)
    function = {"cumulative_sum": np.cumsum, "cumulative_prod": np.cumprod}[name]
    for axis in (0, 1, -1):
        result = getattr(tensix, name)(tensix.from_numpy(a), axis=axis, include_initial=include_initial)
        expected = function(a, axis)
        if include_initial:
            first = np.full_like(expected[:1] if axis == 0 else expected[:, :1], name == "cumulative_prod")
            expected = np.concatenate([first, expected], axis)
        np.testing.assert_array_equal(np.asarray(result), expected)
        assert result.dtype.numpy == expected.dtype
    assert getattr(tensix, name)(tensix.from_numpy(a[0]), dtype=tensix.complex128).dtype is tensix.complex128
    with pytest.raises(ValueError, match="axis must be given"):
        getattr(tensix, name)(tensix.from_numpy(a))


# ---- meta


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "count_nonzero",
                                  "argmax", "cumulative_sum"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "float16", "float32", "complex64"])
def test_meta_has_the_shape_and_type_of_the_cpu(name, dtype):
    x = tensix.empty(2, 3, 4, dtype=dtype).fill_(1)
    y = tensix.empty(2, 3, 4, dtype=dtype, device="meta")
    for options in ({"axis": 0}, {"axis": -1}, {"axis": 1, "keepdims": True}, {}):
        if name == "cumulative_sum":
            options = {"axis": options.get("axis", 0), "include_initial": "keepdims" in options}
        result, expected = getattr(tensix, name)(y, **options), getattr(tensix, name)(x, **options)
        assert (result.shape, result.dtype, str(result.device)) == (expected.shape, expected.dtype, "meta")
        assert result.stride() == expected.stride()


# ---- truth: a fold stops early where nothing can change it


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "float64", "complex128", "float16"])
@pytest.mark.parametrize("place", [0, 1, 4097, 149_999, 299_999])
def test_one_element_decides(dtype, place):
    zeros, ones = np.zeros(300_000, dtype), np.ones(300_000, dtype)
    assert not tensix.from_numpy(zeros).any() and tensix.from_numpy(ones).all()
    zeros[place], ones[place] = 1, 0
    assert tensix.from_numpy(zeros).any() and not tensix.from_numpy(ones).all()
    for axis in (0, 1):
        a, b = zeros.reshape(300, 1000), ones.reshape(300, 1000)
        assert tensix.from_numpy(a).any(axis).tolist() == a.any(axis).tolist()
        assert tensix.from_numpy(b).all(axis).tolist() == b.all(axis).tolist()


def test_nan_is_true_and_minus_zero_is_not():
    assert tensix.tensor([0.0, float("nan")]).any() and not tensix.tensor([0.0, -0.0]).any()
