"""Mathematical functions in each mode of `set_math`: their error, special values, and that a place decides nothing."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import tensix
from tensix.loops.corrected_loops import math_in_use

WIDE = np.finfo(np.longdouble).nmant > 52
FUNCTIONS = {  # name -> (NumPy's function, how many operands, the lowest and the highest argument of the error test)
    "acos": (np.arccos, 1, -1, 1), "acosh": (np.arccosh, 1, 1, 1e4), "asin": (np.arcsin, 1, -1, 1),
    "asinh": (np.arcsinh, 1, -1e4, 1e4), "atan": (np.arctan, 1, -50, 50), "atan2": (np.arctan2, 2, -50, 50),
    "atanh": (np.arctanh, 1, -1, 1), "cos": (np.cos, 1, -1e4, 1e4), "cosh": (np.cosh, 1, -80, 80),
    "exp": (np.exp, 1, -80, 80), "expm1": (np.expm1, 1, -80, 80), "hypot": (np.hypot, 2, -1e4, 1e4),
    "log": (np.log, 1, 0, 1e4), "log10": (np.log10, 1, 0, 1e4), "log1p": (np.log1p, 1, -1, 1e4),
    "log2": (np.log2, 1, 0, 1e4), "logaddexp": (np.logaddexp, 2, -80, 80), "pow": (np.power, 2, 0, 8),
    "sin": (np.sin, 1, -1e4, 1e4), "sinh": (np.sinh, 1, -80, 80), "tan": (np.tan, 1, -1e4, 1e4),
    "tanh": (np.tanh, 1, -20, 20),
}  # fmt: skip
SPECIAL = [
    0.0, 0.5, 1.0, 2.0, 3.0, 33.0, 1000.0, np.inf, np.nan, 1e-45, 1e-40, 5e-324, 1e-310, 1e-30, 1e30, 3.4e38, 1e300,
    1.7976931348623157e308, 88.8, 104.0, 709.9, 745.2, 1e5, 1e10, 1e22, np.pi, np.pi / 2, 0.9999999, 1.0000001,
]  # fmt: skip
SPECIAL += [-x for x in SPECIAL]
MODES = ["default", "exact", "fast"]
each_function = pytest.mark.parametrize("name", FUNCTIONS)
each_mode = pytest.mark.parametrize("mode", MODES)
each_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def arguments(name, dtype, count=100_000):
    """Return operands within the bounds, many of them small."""
    _, operands, low, high = FUNCTIONS[name]
    draw = np.random.default_rng(5)
    found = []
    for _ in range(operands):
        even = draw.uniform(low, high, count // 2)
        near = draw.normal(size=count - count // 2) + max(low, 0)
        found.append(np.clip(np.concatenate([even, near]), low, high).astype(dtype))
    return found


def units_apart(found, wide, scale):
    """Return the largest distance, in units of the last place of `scale`; what is not finite must be the same."""
    rounded = wide.astype(found.dtype)
    is_finite = np.isfinite(rounded) & np.isfinite(found)
    np.testing.assert_array_equal(found[~is_finite], rounded[~is_finite])
    apart = np.abs(found.astype(np.longdouble) - wide)[is_finite]
    return float(np.max(apart / np.spacing(np.abs(scale[is_finite])).astype(np.longdouble), initial=0))


@pytest.mark.skipif(not WIDE, reason="NumPy's long double is float64 here, which cannot measure its errors")
@each_function
@each_dtype
@each_mode
def test_errors_are_small(name, dtype, mode):
    function = FUNCTIONS[name][0]
    operands = arguments(name, dtype)
    wide = function(*[x.astype(np.longdouble) for x in operands])
    with tensix.set_math(mode):
        found = np.asarray(getattr(tensix, name)(*map(tensix.from_numpy, operands)))
    scale = wide.astype(dtype)
    if name == "logaddexp":  # the larger operand and the logarithm may cancel each other
        scale = np.maximum(np.abs(scale), np.maximum(*map(np.abs, operands)))
    limit = 4
    if mode == "default" and dtype == "float32" and is_by_vectors(name, dtype):
        limit = 1
    assert units_apart(found, wide, scale) <= limit


def is_by_vectors(name, dtype):
    """Return whether a function is computed otherwise than by NumPy, seen by its results."""
    operands = arguments(name, dtype, 2000)
    found = np.asarray(getattr(tensix, name)(*map(tensix.from_numpy, operands)))
    return not np.array_equal(found, FUNCTIONS[name][0](*operands), equal_nan=True)


@each_function
@each_dtype
@each_mode
def test_special_values(name, dtype, mode):
    function, operands, _, _ = FUNCTIONS[name]
    values = np.array(SPECIAL).astype(dtype)
    given = [values] if operands == 1 else [np.repeat(values, len(values)), np.tile(values, len(values))]
    expected = function(*given)
    with tensix.set_math(mode):
        found = np.asarray(getattr(tensix, name)(*map(tensix.from_numpy, given)))
    is_edge = ~np.isfinite(expected) | (expected == 0)
    np.testing.assert_array_equal(found[is_edge], expected[is_edge])
    np.testing.assert_array_equal(np.signbit(found[expected == 0]), np.signbit(expected[expected == 0]))
    limits = np.finfo(dtype)
    largest = np.abs(expected) if name != "logaddexp" else np.maximum(*map(np.abs, given))
    apart = np.abs(found - expected)[~is_edge]
    assert np.all(apart <= 8 * np.maximum(limits.eps * largest[~is_edge], limits.smallest_subnormal))


@each_function
@each_dtype
@each_mode
def test_neither_place_nor_strides_nor_threads_change_a_result(name, dtype, mode):
    function = getattr(tensix, name)
    operands = [tensix.from_numpy(x) for x in arguments(name, dtype, 200_000)]
    before = tensix.get_num_threads()
    with tensix.set_math(mode):
        try:
            tensix.set_num_threads(1)
            expected = function(*operands)
            tensix.set_num_threads(3)
            assert tensix.array_equal(function(*operands), expected, equal_nan=True)
        finally:
            tensix.set_num_threads(before)
        if math_in_use() == "NumPy's loops":
            return  # they may compute another result in another place
        for start, stop, step in [(0, 1, 1), (3, 20, 1), (1, 500, 7), (7, 8, 1), (0, 33, 1), (11, 1100, 2)]:
            key = slice(start, stop, step)
            if is_by_vectors(name, dtype) or mode == "fast":
                assert tensix.array_equal(function(*[x[key] for x in operands]), expected[key], equal_nan=True)
                flipped = function(*[tensix.flip(x[key]) for x in operands])
                assert tensix.array_equal(flipped, tensix.flip(expected[key]), equal_nan=True)
        made = tensix.empty(200_000, 2, dtype=dtype)[:, 1]
        function(*operands, out=made)
        if is_by_vectors(name, dtype) or mode == "fast":
            assert tensix.array_equal(made, expected, equal_nan=True)


@each_function
@each_mode
@pytest.mark.parametrize("dtype", [tensix.float16, tensix.bfloat16])
def test_halves_are_computed_in_float32(name, mode, dtype):
    function = getattr(tensix, name)
    operands = [tensix.from_numpy(x).to(dtype) for x in arguments(name, "float32", 3000)]
    with tensix.set_math(mode):
        found = function(*operands)
        wide = function(*[x.to("float32") for x in operands])
    assert found.dtype == dtype
    assert tensix.array_equal(found, wide.to(dtype), equal_nan=True)


@each_function
@each_dtype
def test_exact_has_the_bits_of_numpy(name, dtype):
    operands = arguments(name, dtype, 5000)
    with tensix.set_math("exact"):
        found = np.asarray(getattr(tensix, name)(*map(tensix.from_numpy, operands)))
    np.testing.assert_array_equal(found, FUNCTIONS[name][0](*operands))


def test_operands_may_be_written_to():
    with tensix.set_math("fast"):
        x = tensix.linspace(-3, 3, 1003)
        expected = tensix.atan(x)
        assert tensix.array_equal(tensix.atan(x, out=x), expected)
        y = tensix.linspace(0.5, 3, 1003)
        expected = tensix.atan2(y, tensix.flip(y))
        assert tensix.array_equal(tensix.atan2(y, tensix.flip(y), out=y), expected)
        assert tensix.array_equal(tensix.atan2(y, 2.0), tensix.atan2(y, tensix.full(1003, 2.0)))
        assert tensix.array_equal(tensix.atan2(2.0, y), tensix.atan2(tensix.full(1003, 2.0), y))


def test_a_mode_has_an_effect_at_once_and_ends_with_its_scope():
    assert tensix.get_math() == "default"
    with tensix.set_math("exact"):
        assert tensix.get_math() == "exact" and math_in_use() == "NumPy's loops"
        seen = []
        other = threading.Thread(target=lambda: seen.append(tensix.get_math()))
        other.start()
        other.join()
        assert seen == ["exact"]
        with pytest.raises(ZeroDivisionError), tensix.set_math("fast"):
            raise ZeroDivisionError
        assert tensix.get_math() == "exact"
    assert tensix.get_math() == "default"
    tensix.set_math("fast")
    assert tensix.get_math() == "fast"
    tensix.set_math("default")


@pytest.mark.parametrize("mode", ["", "Exact", None, 1, b"fast"])
def test_there_are_three_modes(mode):
    with pytest.raises(ValueError, match=r"set_math\(\) takes 'default', 'exact' or 'fast', found"):
        tensix.set_math(mode)
    assert tensix.get_math() == "default"


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_the_environment_names_the_mode_at_the_start():
    assert run("-c", "import tensix; print(tensix.get_math())", TENSIX_MATH="fast").stdout == "fast\n"
    assert run("-c", "import tensix; print(tensix.get_math())", TENSIX_MATH="").stdout == "default\n"
    failed = run("-c", "import tensix", TENSIX_MATH="quick")
    assert "TENSIX_MATH must be 'default', 'exact' or 'fast', found 'quick'" in failed.stderr
    assert "mathematics" in run("-m", "tensix", "info").stdout


@pytest.mark.skipif("NPY_DISABLE_CPU_FEATURES" in os.environ, reason="this is the run with other features")
def test_processors_with_fewer_instructions():
    """NumPy uses none beyond its baseline: then vector functions serve wherever there are some."""
    features = np._core._multiarray_umath.__cpu_dispatch__
    if not features:
        pytest.skip("this NumPy has loops for one set of instructions only")
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, NPY_DISABLE_CPU_FEATURES=" ".join(features))
    assert done.returncode == 0, done.stdout[-3000:]
