"""Conversion of every type to every other, against NumPy."""

import warnings

import numpy as np
import pytest

import tensix

DTYPES = [name for name in tensix.__all__ if isinstance(getattr(tensix, name), tensix.DType) and name != "bfloat16"]


def samples(dtype):
    """Return values that every type can hold, and some that only this one can."""
    values = np.array([0, 1, 2, 3, 5, 100, 127] * 3).astype(dtype)
    if values.dtype.kind in "fc":
        values = np.concatenate([values, np.array([0.5, 2.75, 1 / 3], dtype)])
    if values.dtype.kind == "c":
        values = values + values.dtype.type(0.25j)
    return values


def converted(x, dtype):
    return tensix.empty(*x.shape, dtype=dtype).copy_(x)


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_every_pair(source, target):
    a = samples(source)
    if a.dtype.kind == "c" and not target.startswith("complex"):
        with pytest.raises(TypeError, match="imaginary"):
            converted(tensix.from_numpy(a), target)
        return
    for part in (a, a[::2], a[::-1], np.broadcast_to(a[1], 5), a[:0]):
        result = converted(tensix.from_numpy(part), target)
        np.testing.assert_array_equal(np.asarray(result), part.astype(target))
    spread = tensix.empty(2 * len(a), dtype=target)
    spread[::2].copy_(tensix.from_numpy(a))
    np.testing.assert_array_equal(np.asarray(spread[::2]), a.astype(target))


@pytest.mark.parametrize("wide", ["float32", "float64"])
def test_every_half(wide):
    """To all float16 numbers and from them, with those between two of them."""
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    result = np.asarray(converted(tensix.from_numpy(halves), wide))
    with np.errstate(all="ignore"), warnings.catch_warnings():  # ARM calls numbers that signal invalid
        np.testing.assert_array_equal(result, halves.astype(wide))
        finite = np.sort(halves[np.isfinite(halves)].astype(wide))
        middles = (finite[1:] + finite[:-1]) / 2
        numbers = np.concatenate([
            finite, middles, np.nextafter(middles, np.inf, dtype=wide), np.nextafter(middles, -np.inf, dtype=wide),
            np.array([65519.99, 65520, 1e30, -1e30, np.inf, -np.inf, np.nan, 1e-30, -1e-8, 0.0, -0.0], wide),
        ])  # fmt: skip
        expected = numbers.astype(np.float16)
    result = np.asarray(converted(tensix.from_numpy(numbers), "float16"))
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


def test_bfloat16_over_other_types():
    x = tensix.tensor([0, 1, -2, 100], dtype="bfloat16")
    for name in DTYPES:
        if name not in ("bool", "uint8", "uint16", "uint32", "uint64"):
            assert np.asarray(converted(x, name)).tolist() == [0, 1, -2, 100]
            if not name.startswith("complex"):
                assert converted(converted(x, name), "bfloat16").tolist() == [0, 1, -2, 100]
    assert converted(x, "bool").tolist() == [False, True, True, True]


def test_bfloat16_is_computed_in_blocks_and_rounded():
    a = np.random.default_rng(0).standard_normal(5000).astype("f4")
    x = converted(tensix.from_numpy(a), "bfloat16")
    wide = np.asarray(converted(x, "float32"))
    pairs = [(x + x, wide + wide), (x * x[0], wide * wide[0]), (-x, -wide), (x[::2] / 3, wide[::2] / 3)]
    for result, expected in pairs:
        assert result.dtype is tensix.bfloat16
        assert result.tolist() == converted(tensix.from_numpy(expected), "bfloat16").tolist()
    assert (x + tensix.from_numpy(a)).dtype is tensix.float32


def test_undefined_has_no_elements_to_convert():
    with pytest.raises((TypeError, RuntimeError), match="undefined"):
        tensix.ones(2).copy_(tensix.Tensor())


INTEGERS = [name for name in DTYPES if getattr(tensix, name).kind in "iu"]
BEYOND = [0.0, 0.75, 1.0, 127.5, 128.0, 255.5, 256.0, 40000.0, 65504.0, 2.0**31 - 0.5, 2.0**31, 2.0**32 - 0.25, 2.0**32,
          2.0**32 + 5, 3 * 2.0**31, 2.0**53, 2.0**63 - 1024, 2.0**63, 3 * 2.0**62, 2.0**64 - 2048, 2.0**64, 1e30,
          np.inf, np.nan]  # fmt: skip


def integer_of(value, dtype):
    """Return what docs/types.rst says that a floating-point number becomes."""
    limits = np.iinfo(dtype)
    bits = max(limits.bits, 32)
    least, bound = -(2 ** (bits - 1)), 2**bits if limits.min == 0 and limits.bits >= 32 else 2 ** (bits - 1)
    whole = int(value) if np.isfinite(value) else bound
    if not least <= whole < bound:
        whole = least
    return (whole - limits.min) % 2**limits.bits + limits.min


@pytest.mark.parametrize("source", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("target", INTEGERS)
def test_an_integer_has_one_answer_wherever_it_stands(source, target):
    """The elements that are converted many at once and the rest, also of numbers that the integers do not hold."""
    values = converted(tensix.tensor([*BEYOND, *(-value for value in BEYOND)], dtype="float64"), source)
    for value in values:
        expected = integer_of(value.item(), target)
        for length in range(1, 68):
            x = tensix.full((length,), value.item(), dtype=source)
            assert set(converted(x, target).tolist()) == {expected}, (value, length)
    for length in (5, 67, 3000):
        mixed = tensix.tensor([value.item() for value in values] * (length * 2), dtype=source)
        for part in (mixed[: length * 2], mixed[: length * 2 : 2], mixed[1 : length * 3 : 3]):
            result = converted(part, target)
            assert result.tolist() == [integer_of(value, target) for value in part.tolist()]
            spread = tensix.zeros(2 * len(part), dtype=target)
            spread[::2].copy_(part)
            assert spread[::2].tolist() == result.tolist()
