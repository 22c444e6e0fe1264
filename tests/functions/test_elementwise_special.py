"""Elementwise functions where the array API standard or PyTorch say more than NumPy's loops: values, types, views."""

import cmath
import itertools
import math

import numpy as np
import pytest

import tensix

inf, nan = float("inf"), float("nan")
EDGES = [inf, -inf, nan, 0.0, -0.0, 2.5, -2.5]
REALS = ["float16", "float32", "float64", "bfloat16"]
COMPLEXES = ["complex64", "complex128"]


def same(a, b):
    """Return whether two numbers are the same: signs of zeros count, those of what is not a number do not."""
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def scattered(numbers, dtype, step):
    """Return numbers between ordinary ones, so that runs of both kinds follow each other, in a strided tensor."""
    spread = [value for number in numbers for value in [1.5, number, 3.0]]
    room = tensix.ones(len(spread) * step, dtype=dtype)
    view = room[::step]
    view[:] = spread
    return view


# ---- floor_divide


def floor_quotient(x, y):
    """Return what the standard's table has for infinite operands, else NumPy's result."""
    if math.isnan(x) or math.isnan(y) or (math.isinf(x) and math.isinf(y)):
        return nan
    if math.isinf(y):
        return math.copysign(0.0, x) * math.copysign(1.0, y)
    if math.isinf(x):
        return x * math.copysign(1.0, y)
    with np.errstate(all="ignore"):
        return float(np.floor_divide(x, y))


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("step", [1, 3])
def test_floor_divide(dtype, step):
    pairs = list(itertools.product(EDGES, EDGES))
    x, y = (scattered([pair[side] for pair in pairs], dtype, step) for side in (0, 1))
    for result in (tensix.floor_divide(x, y), x // y):
        assert all(same(q, floor_quotient(*pair)) for q, pair in zip(result[1::3].tolist(), pairs, strict=True))
        assert set(result[::3].tolist()) == set(result[2::3].tolist()) == {1.0}
    x //= y
    assert all(same(q, floor_quotient(*pair)) for q, pair in zip(x[1::3].tolist(), pairs, strict=True))
    reflected = (inf // scattered(EDGES, dtype, 1))[1::3].tolist()
    assert all(same(q, floor_quotient(inf, y)) for q, y in zip(reflected, EDGES, strict=True))


def test_integers_divided_by_zero_are_zero():
    x = tensix.tensor([5, -5])
    assert (x // 0).tolist() == (x % 0).tolist() == [0, 0]


# ---- complex numbers


@pytest.mark.parametrize("dtype", COMPLEXES)
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("number, expected", [
    (complex(0.0, 0.0), complex(0.0, 0.0)), (complex(-0.0, 0.0), complex(0.0, 0.0)),
    (complex(0.0, -0.0), complex(0.0, -0.0)), (complex(1.0, inf), complex(nan, nan)),
    (complex(1.0, nan), complex(nan, nan)), (complex(inf, 0.0), complex(inf, 0.0)),
    (complex(-inf, 1.0), complex(-1.0, 0.0)), (complex(-inf, -1.0), complex(-1.0, -0.0)),
    (complex(inf, 2.0), complex(-inf, inf)), (complex(-inf, inf), complex(-1.0, 0.0)),
    (complex(inf, inf), complex(inf, nan)), (complex(-inf, nan), complex(-1.0, 0.0)),
    (complex(inf, nan), complex(inf, nan)), (complex(nan, 0.0), complex(nan, 0.0)),
    (complex(nan, 1.0), complex(nan, nan)), (complex(nan, nan), complex(nan, nan)),
])
def test_expm1(number, expected, dtype, step):
    x = scattered([number, 2j], dtype, step)
    result = tensix.expm1(x).tolist()
    assert same(result[1], expected)
    assert result[0] == pytest.approx(cmath.exp(1.5) - 1, rel=1e-6)
    assert result[4] == pytest.approx(cmath.exp(2j) - 1, rel=1e-6)


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_tanh_and_sign(dtype):
    numbers = [complex(inf, 2.0), complex(inf, -2.0), complex(-inf, 2.0), complex(inf, inf), complex(-inf, nan)]
    result = tensix.tanh(scattered(numbers, dtype, 2))[1::3].tolist()
    wanted = [complex(1, 0.0), complex(1, -0.0), complex(-1, 0.0), complex(1, 0.0), complex(-1, 0.0)]
    assert all(map(same, result, wanted))
    zeros = [complex(a, b) for a in (0.0, -0.0) for b in (0.0, -0.0)]
    assert all(same(found, 0j) for found in tensix.sign(scattered(zeros, dtype, 1))[1::3].tolist())
    assert tensix.sign(tensix.tensor([3 + 4j])).tolist() == [pytest.approx(0.6 + 0.8j)]


@pytest.mark.parametrize("dtype, part", [("complex64", "float32"), ("complex128", "float64")])
def test_parts_are_views(dtype, part):
    array = (np.arange(24) + 1j * np.arange(24)[::-1]).astype(dtype).reshape(2, 3, 4)
    x = tensix.from_numpy(array)
    for index in ((), (1,), (slice(None), slice(None, None, -1)), (..., 2), (0, 0, 0)):
        for function, numpy in ((tensix.real, np.real), (tensix.imag, np.imag)):
            found = function(x[index])
            assert found.dtype.name == part and found.is_alias_of(x)
            assert found.tolist() == np.asarray(numpy(array[index])).tolist()
    tensix.imag(x)[0, 0] = -1.0
    assert x[0, 0].tolist() == [-1j, 1 - 1j, 2 - 1j, 3 - 1j]
    assert tensix.real(x.T).tolist() == array.T.real.tolist()
    assert tensix.real(tensix.empty(3, dtype=dtype, device="meta")).dtype.name == part


def test_parts_of_real_numbers():
    x = tensix.tensor([1, 2])
    assert tensix.real(x).is_alias_of(x) and tensix.real(x).tolist() == [1, 2]
    assert tensix.imag(x).tolist() == [0, 0] and tensix.imag(x).dtype is x.dtype and not tensix.imag(x).is_alias_of(x)
    for wrong in (tensix.ones(2, dtype="bool"), tensix.Tensor(), 1j, None):
        for function in (tensix.real, tensix.imag):
            with pytest.raises((TypeError, RuntimeError)):
                function(wrong)


# ---- powers


def test_powers_of_integers():
    x = tensix.tensor([2, -3])
    assert (x**3).tolist() == [8, -27] and (x**2).tolist() == [4, 9] and (2**tensix.tensor([3, 0])).tolist() == [8, 1]
    for negative in (-1, tensix.tensor([1, -1]), tensix.tensor(-2), tensix.tensor([-1], dtype="int8")):
        with pytest.raises(ValueError, match="negative integer powers"):
            x**negative
        with pytest.raises(ValueError, match="negative integer powers"):
            x **= negative
    assert x.tolist() == [2, -3]
    assert (x**-1.0).tolist() == pytest.approx([0.5, -1 / 3])
    assert (tensix.tensor([2.0]) ** tensix.tensor([-2])).tolist() == [0.25]


def test_squares_take_the_type_of_the_sum_of_types():
    for base, exponent, meant in (
        ("float64", tensix.tensor(2, dtype="int8"), "float64"), ("int8", tensix.tensor(2, dtype="int32"), "int32"),
        ("bfloat16", 2, "bfloat16"), ("int64", 2.0, "float32"), ("uint8", 2, "uint8"), ("complex64", 2, "complex64"),
    ):  # fmt: skip
        result = tensix.full((2,), 3, dtype=base) ** exponent
        assert result.dtype.name == meant and result.tolist() == [9, 9]


# ---- bounds


@pytest.mark.parametrize("low, high", [(None, None), (2, None), (None, 3), (2, 3), (3, 2), (2.5, 3.5)])
def test_clip(low, high):
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = tensix.from_numpy(a)
    truth = a if low is high is None else np.clip(a, low, high)
    assert tensix.clip(x, low, high).tolist() == tensix.clip(x, min=low, max=high).tolist() == truth.tolist()
    assert not tensix.clip(x, low, high).is_alias_of(x)


def test_clip_with_tensors_and_types():
    x = tensix.tensor([[1, 5], [9, 3]], dtype="int8")
    low, high = tensix.tensor([2, 4], dtype="int8"), tensix.tensor([[6], [7]], dtype="int8")
    assert tensix.clip(x, low, high).tolist() == [[2, 5], [7, 4]] and tensix.clip(x, 2, 7).dtype is x.dtype
    assert tensix.clip(tensix.tensor([1.0, nan]), nan, 2).tolist() == pytest.approx([nan, nan], nan_ok=True)
    assert tensix.clip(x, 1.5).dtype is tensix.float32  # as maximum has it
    assert tensix.clip(tensix.empty(3, device="meta"), 0, tensix.empty(2, 1, device="meta")).shape == (2, 3)
    with pytest.raises(OverflowError):
        tensix.clip(x, -1000)


def test_operator_clip_takes_the_names_of_its_schema():
    x, clip = tensix.tensor([1, 5, 9]), tensix.ops.tensix.clip
    assert clip(x, max=None).tolist() == [1, 5, 9] and clip(x, max=tensix.tensor(4)).tolist() == [1, 4, 4]
    assert clip(x, min=tensix.tensor(2), max=tensix.tensor(4)).tolist() == [2, 4, 4]
    for wrong in ("1", [1], np.ones(2)):
        with pytest.raises(TypeError, match="min must be a tensor or a number"):
            tensix.clip(x, wrong)
    with pytest.raises(TypeError, match="takes a tensor"):
        tensix.clip(1, 2)


# ---- bfloat16


@pytest.mark.parametrize(
    "name", ["add", "multiply", "atan2", "floor_divide", "maximum", "hypot", "copysign", "less", "equal"]
)
def test_bfloat16_is_float32_rounded(name):
    a, b = [1.0, -2.5, 0.1, 3e38, inf], [0.3, 7.0, -0.1, 3e38, 1.0]
    x, y = tensix.tensor(a, dtype="bfloat16"), tensix.tensor(b, dtype="bfloat16")
    wide = getattr(tensix, name)(tensix.tensor(x, dtype="float32"), tensix.tensor(y, dtype="float32"))
    found = getattr(tensix, name)(x, y)
    wanted = wide if wide.dtype is tensix.bool else tensix.tensor(wide, dtype="bfloat16")
    assert found.dtype is wanted.dtype
    np.testing.assert_array_equal(np.array(found.tolist()), np.array(wanted.tolist()))
    assert tensix.empty(2, dtype="bfloat16", device="meta").copy_(x[:2]).dtype is tensix.bfloat16
    assert getattr(tensix, name)(*[tensix.empty(2, dtype="bfloat16", device="meta")] * 2).dtype is found.dtype


def test_neighbours_of_bfloat16():
    tiny, one_up, one_down, largest = 2.0**-133, 1 + 2.0**-7, 1 - 2.0**-8, 3.3895313892515355e38
    cases = [(0.0, 1.0, tiny), (-0.0, -1.0, -tiny), (tiny, 0.0, 0.0), (1.0, 2.0, one_up), (1.0, 0.0, one_down),
             (-1.0, -2.0, -one_up), (-1.0, 0.0, -one_down), (largest, inf, inf), (inf, 0.0, largest), (2.0, 2.0, 2.0),
             (0.0, -0.0, -0.0), (1.0, nan, nan), (nan, 1.0, nan)]  # fmt: skip
    start, end, wanted = (list(column) for column in zip(*cases, strict=True))
    found = tensix.nextafter(tensix.tensor(start, dtype="bfloat16"), tensix.tensor(end, dtype="bfloat16"))
    assert found.dtype is tensix.bfloat16 and all(map(same, found.tolist(), wanted))


# ---- results that do not lie side by side


@pytest.mark.parametrize("count", [1, 7, 33, 1025])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "signbit"])
def test_truths_go_to_their_places_whatever_lies_between_them(name, dtype, count):
    numbers = np.resize(np.array(EDGES, dtype), count)
    room = tensix.zeros(count * 3, dtype="bool")
    getattr(tensix, name)(tensix.asarray(numbers), out=room[::3])
    expected = np.zeros(count * 3, bool)
    expected[::3] = getattr(np, name)(np.ascontiguousarray(numbers))
    np.testing.assert_array_equal(np.asarray(room), expected)


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "signbit"])
def test_truths_of_columns_that_lie_apart(name):
    numbers = np.resize(np.array(EDGES), (2, 66))
    function = getattr(tensix, name)
    result = function(tensix.asarray(numbers).T[33:])  # few short rows, walked down their columns
    np.testing.assert_array_equal(np.asarray(result), getattr(np, name)(numbers)[:, 33:].T)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32", "int64", "uint64", "float64", "bfloat16"])
@pytest.mark.parametrize("step", [1, 2, 3, 4, 8, -4, -8])
def test_negative_finds_and_puts_whatever_lies_between(dtype, step):
    numbers = tensix.arange(40 * abs(step), dtype=dtype)[::step]
    expected = [(-value) % 2 ** (8 * numbers.itemsize) if "u" in dtype else -value for value in numbers.tolist()]
    room = tensix.zeros(160, dtype=dtype)
    tensix.negative(numbers, out=room[::4])
    assert room[::4].tolist() == expected
    assert room[1::4].tolist() == room[3::4].tolist() == [0] * 40
    tensix.negative(numbers, out=numbers)
    assert numbers.tolist() == expected


# ---- answers that do not lie side by side


@pytest.mark.parametrize("name", ["isfinite", "isinf", "isnan", "signbit"])
@pytest.mark.parametrize("dtype", REALS)
def test_answers_go_to_every_place(name, dtype):
    flat = tensix.tensor([EDGES[i * i % 7] for i in range(3 * 1100)], dtype=dtype)
    wanted = getattr(tensix, name)(flat).tolist()
    assert set(wanted) == {True, False}
    room = tensix.zeros(2 * len(wanted), dtype=tensix.bool)
    assert getattr(tensix, name)(flat, out=room[::2]).tolist() == wanted
    assert not tensix.any(room[1::2])
    backward = tensix.flip(flat).clone().reshape(-1, 3)  # many short rows are walked down their columns
    assert tensix.flip(getattr(tensix, name)(tensix.flip(backward, axis=1)), axis=0).flatten().tolist() == wanted
