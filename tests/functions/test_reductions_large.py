"""Reductions of large tensors, which are cut into blocks; positions, counts, running sums; and the device meta."""

import math

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


def sum_in_lanes(a):
    """Add as Note [Lanes] says, one NumPy operation per step."""
    lanes, block = 256 // a.itemsize, 16384 // a.itemsize
    if len(a) > block:
        half = (len(a) // block + 1) // 2 * block
        return sum_in_lanes(a[:half]) + sum_in_lanes(a[half:])
    rows = np.append(a, np.zeros(-len(a) % (8 * lanes), a.dtype)).reshape(-1, 8, lanes)
    total = np.zeros(lanes, a.dtype)
    for eight in rows:
        part = np.zeros(lanes, a.dtype)
        for row in eight:
            part = part + row
        total = total + part
    while len(total) > 1:
        half = len(total) // 2
        total = total[:half] + total[half:]
    return total[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 3, 12, 63, 64, 65, 100, 1023, 1024, 1025, 2048, 5000, 30_001])
def test_bits_of_a_sum_depend_on_nothing(dtype, count):
    """Vectors of any width, and any distance of the elements, give the same bits."""
    a = np.random.default_rng(count).standard_normal(3 * count).astype(dtype)
    assert tensix.from_numpy(a[:count]).sum().item() == sum_in_lanes(a[:count]).item()
    assert tensix.from_numpy(a[::3]).sum().item() == sum_in_lanes(a[::3].copy()).item()


HARD = {
    "of one sign": lambda rng, n: rng.random(n), "of both": lambda rng, n: rng.standard_normal(n),
    "of many sizes": lambda rng, n: np.exp(rng.uniform(-30, 30, n)), "one large": lambda rng,
    n: np.append(1e6, rng.random(n - 1)), "all the same": lambda rng, n: np.full(n, 0.1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("count", [12, 64, 1000, 5000, 1_000_003])
def test_sums_are_as_exact_as_by_pairs(kind, dtype, count):
    """A number takes part in 23 additions and as many as there are halvings of the blocks, or fewer."""
    a = HARD[kind](np.random.default_rng(0), count).astype(dtype)
    exact, size = math.fsum(a.tolist()), math.fsum(np.abs(a).tolist())
    bound = (23 + math.ceil(math.log2(max(count / 1024, 1)))) * np.finfo(dtype).eps / 2 * size
    for x in (tensix.from_numpy(a), tensix.from_numpy(np.repeat(a, 2)[::2]), tensix.from_numpy(a[::-1])):
        assert abs(x.sum().item() - exact) <= bound
        assert abs(x.mean().item() * count - exact) <= bound + 2 * size * np.finfo(dtype).eps


def test_error_grows_slowly():
    x = tensix.full((10_000_000,), 0.1, dtype="float32")
    assert abs(x.sum().item() - 1_000_000) < 0.5
    assert abs(tensix.full((1000, 10_000), 0.1, dtype="float32").sum(0).sum().item() - 1_000_000) < 5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("place", [0, 5, 63, 64, 700, 1023, 5000])
def test_special_values_are_found_at_every_place(dtype, place):
    for value in (np.nan, np.inf, -np.inf):
        a = np.linspace(1, 2, 5001).astype(dtype)
        a[place] = value
        for b in (a, np.repeat(a, 2)[::2], np.stack([a, a], 1), np.stack([a, a])):
            for name in ("sum", "max", "min", "mean", "var", "any", "all"):
                for axis in axes_of(b.ndim):
                    with np.errstate(all="ignore"):
                        expected = getattr(np, name)(b, axis)
                    result = np.asarray(getattr(tensix.from_numpy(b), name)(axis))
                    np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_leave_the_range_of_numbers_as_from_first_to_last(dtype):
    big = 1e30 if dtype == "float32" else 1e300
    for a in (
        [big, 1 / big] * 500, [big, big, 0.0] + [1.0] * 100, [1 / big] * 64 + [-1.0], [-big] * 3 + [1.0] * 100,
        [-0.5] * 2001, [big] * 70 + [-1 / big] * 70, [1.0] * 100 + [np.nan], [np.inf, -1.0] + [2.0] * 90,
    ):
        a = np.array(a, dtype)
        with np.errstate(all="ignore"):
            expected = np.multiply.accumulate(a)[-1]
        result = tensix.from_numpy(a).prod().item()
        assert result == expected or (np.isnan(result) and np.isnan(expected))
        assert np.isnan(expected) or np.signbit(result) == np.signbit(expected)


@pytest.mark.parametrize(
    "dtype",
    [
        "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
        "float64", "complex64", "complex128",
    ],
)
@pytest.mark.parametrize("shape", [(1000,), (40, 70), (3, 700), (700, 3), (5, 6, 70)])
def test_every_loop_at_every_distance(dtype, shape):
    """Integers wrap, and counts go beyond what a byte holds."""
    a = np.random.default_rng(0).integers(-3, 4, [2 * size for size in shape]) * 60
    a = a.astype(dtype)
    odd = (slice(None, None, 2),) * len(shape)
    for b in (a[odd], a[odd].copy(), np.asfortranarray(a[odd])):
        x = tensix.from_numpy(b)
        for axis in axes_of(len(shape)):
            for name in ("max", "min", "any", "all", "count_nonzero"):
                if dtype.startswith("complex") and name in ("max", "min"):
                    continue
                found = np.asarray(getattr(tensix, name)(x, axis=axis))
                np.testing.assert_array_equal(found, getattr(np, name)(b, axis))
            if b.dtype.kind in "biu":
                for name in ("sum", "prod"):
                    np.testing.assert_array_equal(np.asarray(getattr(x, name)(axis)), getattr(np, name)(b, axis))
        for axis in range(len(shape)):
            if dtype != "float16":
                for name, theirs in (("cumulative_sum", np.cumsum), ("cumulative_prod", np.cumprod)):
                    with np.errstate(all="ignore"):
                        expected = theirs(b, axis)
                    found = np.asarray(getattr(tensix, name)(x, axis=axis, include_initial=True))
                    one = tuple(slice(1, None) if i == axis else slice(None) for i in range(len(shape)))
                    np.testing.assert_array_equal(found[one], expected)
                    assert (np.take(found, 0, axis) == (name == "cumulative_prod")).all()


def test_running_sums_keep_the_sign_of_zero():
    x = tensix.from_numpy(np.full((3, 5), -0.0))
    for axis in (0, 1):
        assert np.signbit(np.asarray(tensix.cumulative_sum(x, axis=axis))).all()


# ---- positions and running results


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_positions_along_each_axis(name, dtype):
    """Large ones are found in a copy whose last axis it is."""
    array = np.random.default_rng(6).integers(0, 50, (40, 30, 50)).astype(dtype)
    if dtype == "float32":
        array[3, 4, 5] = array[7, 4, 6] = np.nan
    for x, numbers in ((tensix.from_numpy(array), array), (tensix.from_numpy(array).permute(2, 0, 1),
                                                           array.transpose(2, 0, 1))):
        for axis in (None, 0, 1, 2, -3):
            for keepdims in (False, True):
                found = getattr(tensix, name)(x, axis=axis, keepdims=keepdims).numpy()
                expected = getattr(np, name)(numbers, axis=axis, keepdims=keepdims)
                assert found.shape == np.shape(expected) and np.array_equal(found, expected)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "complex128"])
@pytest.mark.parametrize("shape", [(500_001,), (3, 150_001), (900, 701), (300_000, 2)])
def test_positions_in_parts(name, dtype, shape):
    """What threads find in parts is the first of equal ones, and the first that is not a number."""
    array = np.random.default_rng(8).integers(0, 2 if dtype == "bool" else 50, shape).astype(dtype)
    for holes in ((), (400_003, 100_000)):
        if array.dtype.kind in "fc":
            array.reshape(-1)[list(holes)] = np.nan
        x = tensix.from_numpy(array)
        assert getattr(tensix, name)(x).item() == getattr(np, name)(array)
        np.testing.assert_array_equal(getattr(tensix, name)(x, axis=-1).numpy(), getattr(np, name)(array, -1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_that_vanish(dtype):
    """A product is 0 where that of NumPy is, with the same sign, or too small for all its bits; never another."""
    rng = np.random.default_rng(9)
    for n in [*range(1, 400, 7), 2000, 5000]:
        for last in (1.0, -0.0, np.inf, np.nan):
            a = (rng.uniform(0.05, 1, n) * rng.choice([-1, 1], n)).astype(dtype)
            a[n // 2 :] = 0.9 if n % 2 else a[n // 2 :]
            a[-1] = last
            found = tensix.from_numpy(a).prod().item()
            with np.errstate(all="ignore"):
                expected = np.multiply.reduce(a).item()
            if found == 0:
                assert expected == 0 and np.signbit(found) == np.signbit(expected)
            elif expected == 0:
                assert abs(found) < np.finfo(dtype).tiny
            else:
                np.testing.assert_allclose(found, expected, 1e-4, np.finfo(dtype).tiny)


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
    with pytest.raises(ValueError, match="axis is required"):
        getattr(tensix, name)(tensix.from_numpy(a))


# ---- meta


@pytest.mark.parametrize(
    "name",
    ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "count_nonzero", "argmax", "cumulative_sum"],
)
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
