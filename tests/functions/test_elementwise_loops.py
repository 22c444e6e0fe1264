"""Loops of our own in the place of NumPy's: the same bits, whatever the values and however they lie."""

import numpy as np
import pytest

import tensix

inf, nan = float("inf"), float("nan")
FLOATS = ["float32", "float64"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
BINARY = ["copysign", "floor_divide", "logical_and", "logical_or", "logical_xor", "nextafter", "remainder"]
UNARY = ["conj", "logical_not", "positive", "reciprocal", "sign"]
COUNT = 1500  # not a multiple of any block


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def values(dtype, seed, specials=True):
    """Return numbers of all sizes, every tenth of them a special one."""
    random = np.random.default_rng(seed)
    info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    if np.dtype(dtype).kind in "iu":
        numbers = random.integers(info.min, info.max, COUNT, dtype=dtype, endpoint=True)
        edges = [info.min, info.max, 0, 1]
    else:
        numbers = (random.normal(size=COUNT) * 10.0 ** random.integers(-4, 5, COUNT)).astype(dtype)
        edges = [inf, -inf, nan, 0.0, -0.0, 1, -1, 0.5, info.max, -info.max, info.tiny, info.smallest_subnormal]
    if specials:
        numbers[::10] = random.choice(np.array(edges, dtype), len(numbers[::10]))
    return numbers


def layouts(a, b):
    """Return pairs of operands: side by side, with gaps, backwards, and one element for all on either side."""
    yield a, b
    yield a[::2], b[::2]
    yield a[::-1], b
    for i in range(0, 100, 10):  # where the special values are
        yield a, b[i]
        yield a[i], b
    yield a, b[1]
    yield a[1], b


def assert_same_bits(result, truth):
    """Compare all bits but those of what is not a number."""
    result = np.asarray(result)
    assert (result.shape, result.dtype) == (truth.shape, truth.dtype)
    if truth.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(result) & ~np.isnan(result), np.signbit(truth) & ~np.isnan(truth))
    np.testing.assert_array_equal(result, truth)


def tensors(*arrays):
    return [tensix.asarray(a, copy=True) if a.ndim == 0 else tensix.from_numpy(a) for a in map(np.asarray, arrays)]


def truth_of(name, a, b):
    truth = np.asarray(getattr(np, name)(a, b))
    if name == "floor_divide":  # the standard has other results of infinite operands
        truth = np.where(np.isinf(a) | np.isinf(b), a / b, truth)
    return truth


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("specials", [False, True])
def test_two_operands(name, dtype, specials):
    for a, b in layouts(values(dtype, 1, specials), values(dtype, 2, specials)):
        x, y = tensors(a, b)
        truth = truth_of(name, a, b)
        assert_same_bits(getattr(tensix, name)(x, y), truth)
        room = tensix.empty(2 * truth.size, dtype=str(truth.dtype))
        assert_same_bits(getattr(tensix, name)(x, y, out=room[::2]), truth)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name, dtype):
    for a, _ in layouts(values(dtype, 1), values(dtype, 2)):
        truth = np.asarray(getattr(np, name)(a))
        assert_same_bits(getattr(tensix, name)(*tensors(a)), truth)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_division_near_whole_quotients(name, dtype):
    """Where a rounded quotient is one too large, and where quotients are too large for the short way."""
    b = values(dtype, 3, specials=False)
    whole = np.random.default_rng(4).integers(0, 2**30, COUNT).astype(dtype)
    for scale in (1, 2.0**-8, 2.0**-20):
        product = (np.floor(whole * scale) * b).astype(dtype)
        for a in (product, np.nextafter(product, np.dtype(dtype).type(0))):
            for divisor in (b, -b):
                assert_same_bits(getattr(tensix, name)(*tensors(a, divisor)), truth_of(name, a, divisor))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_division_of_integers(name, dtype):
    """Beside whole quotients, by 0 and -1, and where float64 would not hold the operands."""
    random = np.random.default_rng(5)
    bits = np.iinfo(dtype).bits
    edges = [0, 1, -1, 2, -3, 7, *(sign * 2 ** (n - 1) - (sign > 0) for n in (31, 32, bits) for sign in (1, -1))]
    edges += [sign * 2**n + more for n in (50, 51, 53) for sign in (1, -1) for more in (-1, 0, 1)]
    edges = np.array([edge for edge in edges if -(2 ** (bits - 1)) <= edge < 2 ** (bits - 1)], dtype)
    pairs = [(np.repeat(edges, len(edges)), np.tile(edges, len(edges)))]
    pairs += [random.integers(-(2**n), 2**n, (2, COUNT)).astype(dtype) for n in (4, 20, bits - 15, bits - 2)]
    quotients, divisors = random.integers(-(2**20), 2**20, COUNT), random.integers(-1000, 1000, COUNT)
    pairs += [((quotients * divisors + more).astype(dtype), divisors.astype(dtype)) for more in (-1, 0, 1)]
    for a, b in pairs:
        for x, y in layouts(a, b):
            assert_same_bits(getattr(tensix, name)(*tensors(x, y)), np.asarray(getattr(np, name)(x, y)))


@pytest.mark.parametrize("name", ["copysign", "remainder", "floor_divide", "maximum"])
def test_result_over_an_operand(name):
    a, b = values("float32", 1), values("float32", 2)
    x, y = tensors(a.copy(), b)
    fresh = np.asarray(getattr(tensix, name)(x, y))
    gaps = tensix.from_numpy(np.repeat(a, 2))[::2]
    assert_same_bits(getattr(tensix, name)(gaps, y, out=gaps), fresh)
    assert_same_bits(getattr(tensix, name)(x, y, out=x), fresh)


# ---- bounds: of equal zeros the second, which NumPy has on some machines only


def greater_of(a, b):
    return np.where((a > b) | (a != a), a, b)


def less_of(a, b):
    return np.where((a < b) | (a != a), a, b)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_bounds(dtype):
    for a, b in layouts(values(dtype, 1), values(dtype, 2)):
        x, y = tensors(a, b)
        assert_same_bits(tensix.maximum(x, y), greater_of(a, b))
        assert_same_bits(tensix.minimum(x, y), less_of(a, b))
        np.testing.assert_array_equal(np.asarray(tensix.maximum(x, y)), np.maximum(a, b))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_clip(dtype):
    a, bounds = values(dtype, 1), values(dtype, 2)
    for i, j in [(0, 1), (1, 2), (2, 1), (10, 20), (20, 30), (30, 40), (40, 50), (50, 60), (3, 3)]:
        low, high = bounds[i], bounds[j]
        for given in (a, a[::2], a[::-1], a.reshape(50, 30).T):
            x, y, z = tensors(given, low, high)
            assert_same_bits(tensix.clip(x, y, z), less_of(greater_of(given, low), high))


# ---- functions that are rounded otherwise than by the C library


def test_hypot():
    for dtype in FLOATS:
        for a, b in layouts(values(dtype, 1), values(dtype, 2)):
            result = np.asarray(tensix.hypot(*tensors(a, b)))
            truth = np.asarray(np.hypot(a, b))
            np.testing.assert_array_equal(np.isnan(result), np.isnan(truth))
            number = np.isfinite(truth)
            np.testing.assert_array_equal(result[~number], truth[~number])
            np.testing.assert_array_max_ulp(result[number], truth[number], 1)


def test_logaddexp():
    for dtype in FLOATS:
        for a, b in layouts(values(dtype, 1), values(dtype, 2)):
            result = np.asarray(tensix.logaddexp(*tensors(a, b)))
            truth = np.asarray(np.logaddexp(a, b))
            np.testing.assert_array_equal(np.isfinite(result), np.isfinite(truth))
            number = np.isfinite(truth)
            np.testing.assert_array_equal(result[~number], truth[~number])
            smaller = np.where(np.isfinite(np.minimum(a, b)), np.minimum(a, b), 0)
            largest = np.maximum(np.maximum(abs(smaller), abs(np.maximum(a, b))), truth.dtype.type(0.5))
            assert (abs(result - truth)[number] <= 2 * np.spacing(largest[number])).all()


@pytest.mark.parametrize("name", ["remainder", "hypot", "logaddexp", "floor_divide"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_an_element_does_not_depend_on_its_neighbours(name, dtype):
    """Blocks with and without rare elements, and threads that cut elsewhere, give the same."""
    a, b = values(dtype, 1), values(dtype, 2)
    whole = np.asarray(getattr(tensix, name)(*tensors(a, b)))
    for start in (0, 1, 5, 63):
        parts = [getattr(tensix, name)(*tensors(a[i : i + 7], b[i : i + 7])) for i in range(start, COUNT, 7)]
        assert_same_bits(tensix.concat(parts), whole[start:])
