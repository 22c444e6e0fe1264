"""Every elementwise function against NumPy: all types that it takes, any strides, shapes that broadcast."""

import inspect
import re

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix
from tensix.dispatch.tensor_function import operator
from tensix.kernels import elementwise as DECLARATIONS
from tensix.tensors.promotion import promote_types

INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
REALS = ["float16", "float32", "float64"]
COMPLEXES = ["complex64", "complex128"]
ALL = ["bool", *INTEGERS, *REALS, *COMPLEXES]
NUMERIC = ALL[1:]

# name -> (NumPy's function, types, whether integers and bools become float32)
UNARY = {
    "abs": (np.absolute, ALL, False), "ceil": (np.ceil, ["bool", *INTEGERS, *REALS], False),
    "conj": (np.conjugate, NUMERIC, False), "floor": (np.floor, ["bool", *INTEGERS, *REALS], False),
    "isfinite": (np.isfinite, ALL, False), "isinf": (np.isinf, ALL, False), "isnan": (np.isnan, ALL, False),
    "bitwise_invert": (np.invert, ["bool", *INTEGERS], False), "logical_not": (np.logical_not, ALL, False),
    "negative": (np.negative, NUMERIC, False), "positive": (np.positive, NUMERIC, False),
    "round": (np.round, NUMERIC, False), "sign": (np.sign, NUMERIC, False), "square": (np.square, NUMERIC, False),
    "trunc": (np.trunc, ["bool", *INTEGERS, *REALS], False), "signbit": (np.signbit, ["bool", *INTEGERS, *REALS], True),
    "acos": (np.arccos, ALL, True), "acosh": (np.arccosh, ALL, True), "asin": (np.arcsin, ALL, True),
    "asinh": (np.arcsinh, ALL, True), "atan": (np.arctan, ALL, True), "atanh": (np.arctanh, ALL, True),
    "cos": (np.cos, ALL, True), "cosh": (np.cosh, ALL, True), "exp": (np.exp, ALL, True),
    "expm1": (np.expm1, ALL, True), "log": (np.log, ALL, True), "log10": (np.log10, ALL, True),
    "log1p": (np.log1p, ALL, True), "log2": (np.log2, ALL, True), "reciprocal": (np.reciprocal, ALL, True),
    "sin": (np.sin, ALL, True), "sinh": (np.sinh, ALL, True), "sqrt": (np.sqrt, ALL, True), "tan": (np.tan, ALL, True),
    "tanh": (np.tanh, ALL, True),
}  # fmt: skip
BINARY = {
    "add": (np.add, ALL, False), "subtract": (np.subtract, NUMERIC, False), "multiply": (np.multiply, ALL, False),
    "divide": (np.divide, ALL, True), "floor_divide": (np.floor_divide, [*INTEGERS, *REALS], False),
    "remainder": (np.remainder, [*INTEGERS, *REALS], False), "pow": (np.power, NUMERIC, False),
    "bitwise_and": (np.bitwise_and, ["bool", *INTEGERS], False),
    "bitwise_or": (np.bitwise_or, ["bool", *INTEGERS], False),
    "bitwise_xor": (np.bitwise_xor, ["bool", *INTEGERS], False),
    "bitwise_left_shift": (np.left_shift, INTEGERS, False), "bitwise_right_shift": (np.right_shift, INTEGERS, False),
    "atan2": (np.arctan2, ["bool", *INTEGERS, *REALS], True), "hypot": (np.hypot, ["bool", *INTEGERS, *REALS], True),
    "copysign": (np.copysign, ["bool", *INTEGERS, *REALS], True),
    "logaddexp": (np.logaddexp, ["bool", *INTEGERS, *REALS], True),
    "nextafter": (np.nextafter, ["bool", *INTEGERS, *REALS], True),
    "logical_and": (np.logical_and, ALL, False), "logical_or": (np.logical_or, ALL, False),
    "logical_xor": (np.logical_xor, ALL, False), "maximum": (np.maximum, ALL, False),
    "minimum": (np.minimum, ALL, False), "equal": (np.equal, ALL, False), "not_equal": (np.not_equal, ALL, False),
    "less": (np.less, ALL, False), "less_equal": (np.less_equal, ALL, False), "greater": (np.greater, ALL, False),
    "greater_equal": (np.greater_equal, ALL, False),
}  # fmt: skip
# Beside the standard. name -> NumPy's function, of two operands and options
BESIDE = {"isclose": np.isclose, "logical_nor": lambda a, b: ~np.logical_or(a, b)}
each_unary = pytest.mark.parametrize("name", UNARY)
each_binary = pytest.mark.parametrize("name", BINARY)

settings.register_profile("elementwise", max_examples=20, deadline=None, derandomize=True)
settings.load_profile("elementwise")


@pytest.fixture(autouse=True)
def exact():
    """Compare bits: what vector functions of the C library compute is in test_vector_math.py."""
    with np.errstate(all="ignore"), tensix.set_math("exact"):
        yield


def values(dtype, shape, seed=0):
    """Return small numbers: of floating types negative ones, zeros and fractions too, all exact in float16."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        return random.integers(0, 2 if dtype.kind == "b" else 7, shape).astype(dtype)
    numbers = random.integers(-12, 13, shape) / 4
    if dtype.kind == "c":
        numbers = numbers + 0.25j * random.integers(-12, 13, shape)
    return np.asarray(numbers).astype(dtype)


def assert_same(tensor, array):
    """Compare with NumPy's result."""
    array = np.asarray(array)
    assert (tensor.shape, tensor.dtype.numpy) == (array.shape, array.dtype)
    np.testing.assert_array_equal(np.asarray(tensor), array)


def expected(function, promotes, *arrays):
    """Return NumPy's result by tensix' rule: integers become float32 where the function is one of real numbers."""
    if promotes:
        arrays = [a.astype(np.float32) if a.dtype.kind in "biu" else a for a in arrays]
    return function(*arrays)


def test_every_function_of_the_chapter_is_here():
    functions = {name: getattr(tensix, name) for name in tensix.__all__ if inspect.isroutine(getattr(tensix, name))}
    chapter = {name for name, function in functions.items() if vars(DECLARATIONS).get(name) is function}
    assert chapter == {*UNARY, *BINARY, *BESIDE, "clamp", "clip", "real", "imag"} == set(DECLARATIONS.__all__)
    assert len(chapter - {*BESIDE, "clamp"}) == 67


@each_unary
@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (40_000,)])
def test_unary_types(name, shape):
    function, dtypes, promotes = UNARY[name]
    for dtype in dtypes:
        a = values(dtype, shape)
        assert_same(getattr(tensix, name)(tensix.from_numpy(a)), expected(function, promotes, a))


@each_unary
def test_unary_strides(name):
    function, dtypes, promotes = UNARY[name]
    a = values(dtypes[-1], (4, 6, 2))
    x = tensix.from_numpy(a)
    for index in ((), (slice(None, None, -1), slice(None, None, 2)), (slice(1, 3), slice(None), 1), (0, 0, 0)):
        result = getattr(tensix, name)(x[index])
        assert_same(result, expected(function, promotes, a[index]))
        assert result.is_contiguous() and not result.is_alias_of(x)
    assert_same(getattr(tensix, name)(x.T), expected(function, promotes, a.T))


@each_unary
def test_unary_refusals(name):
    function = getattr(tensix, name)
    for dtype in set(ALL) - set(UNARY[name][1]):
        with pytest.raises(TypeError, match=rf"\(\) is not defined for {dtype}"):
            function(tensix.ones(2, dtype=dtype))
    for wrong in (1, None, np.ones(2), [1.0]):
        with pytest.raises(TypeError, match=r"\(\) takes a tensor, found"):
            function(wrong)
    with pytest.raises(RuntimeError, match="undefined"):
        function(tensix.Tensor())


@each_binary
@pytest.mark.parametrize("shapes", [((), ()), ((0,), (0,)), ((3, 4), (3, 4)), ((40_000,), (40_000,)), ((3, 1), (4,)),
                                    ((2, 3), ()), ((1,), (2, 0))])
def test_binary_types(name, shapes):
    function, dtypes, promotes = BINARY[name]
    for dtype in dtypes:
        a, b = values(dtype, shapes[0]), values(dtype, shapes[1], 1)
        result = getattr(tensix, name)(tensix.from_numpy(a), tensix.from_numpy(b))
        truth = np.asarray(expected(function, promotes, a, b))
        if name == "pow" and a.dtype.kind in "fc":
            np.testing.assert_allclose(np.asarray(result), truth, rtol=1e-6)
        else:
            assert_same(result, truth)


@each_binary
def test_binary_strides(name):
    function, dtypes, promotes = BINARY[name]
    a, b = values(dtypes[-1], (4, 4, 2)), values(dtypes[-1], (4, 4, 2), 1)
    x, y = tensix.from_numpy(a), tensix.from_numpy(b)
    call = getattr(tensix, name)
    for left, right, truth in (
        (x.T, y.T, (a.T, b.T)), (x[::-1, ::2], y[:, :2], (a[::-1, ::2], b[:, :2])),
        (x[1], y[..., 1:], (a[1], b[..., 1:])), (x, y[0, 0, 0], (a, b[0, 0, 0])),
    ):  # fmt: skip
        np.testing.assert_allclose(
            np.asarray(call(left, right)), expected(function, promotes, *map(np.asarray, truth)), rtol=1e-6
        )


@each_binary
def test_binary_refusals(name):
    function = getattr(tensix, name)
    for dtype in set(ALL) - set(BINARY[name][1]):
        with pytest.raises(TypeError, match=rf"\(\) is not defined for {dtype}"):
            function(tensix.ones(2, dtype=dtype), tensix.ones(2, dtype=dtype))
    x = tensix.ones(2, dtype=BINARY[name][1][0])
    for wrong in (None, np.ones(2), [1.0], "1"):
        for pair in ((x, wrong), (wrong, x)):
            with pytest.raises(TypeError, match="takes tensors"):
                function(*pair)
    with pytest.raises(TypeError):
        function(1, 2)
    with pytest.raises(ValueError, match="broadcast"):
        function(tensix.ones(2, dtype=x.dtype), tensix.ones(3, dtype=x.dtype))


@each_binary
def test_numbers_on_either_side(name):
    function, dtypes, promotes = BINARY[name]
    for dtype in dtypes:
        a = values(dtype, (3,))
        number = {"b": True, "u": 2, "i": 2, "f": 1.5, "c": 1.5 + 1j}[a.dtype.kind]
        scalar = np.array(number, dtype)
        x, call = tensix.from_numpy(a), getattr(tensix, name)
        for result, truth in (
            (call(x, number), expected(function, promotes, a, scalar)),
            (call(number, x), expected(function, promotes, scalar, a)),
        ):
            assert result.dtype.numpy == truth.dtype
            np.testing.assert_allclose(np.asarray(result), truth, rtol=2e-3 if dtype == "float16" else 1e-6)


@each_binary
def test_pairs_of_types(name):
    """The operands are converted to the type that they meet in, then it is as for that type."""
    function = getattr(tensix, name)
    for a in ALL:
        for b in ALL:
            x, y = tensix.ones(2, 1, dtype=a), tensix.ones(3, dtype=b)
            try:
                common = promote_types(a, b)
                wanted = function(tensix.ones(2, 1, dtype=common), tensix.ones(3, dtype=common))
            except TypeError as error:
                with pytest.raises(TypeError, match=f"^{re.escape(str(error))}$"):
                    function(x, y)
            else:
                found = function(x, y)
                assert found.dtype is wanted.dtype and found.tolist() == wanted.tolist()


@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=5, max_side=3, min_side=0), st.sampled_from([*BINARY]))
def test_broadcasting(shapes, name):
    function, dtypes, promotes = BINARY[name]
    a, b = (values(dtypes[-1], shape, seed) for seed, shape in enumerate(shapes.input_shapes))
    found = getattr(tensix, name)(tensix.from_numpy(a), tensix.from_numpy(b))
    np.testing.assert_allclose(np.asarray(found), expected(function, promotes, a, b), rtol=1e-6)


def test_signatures():
    for name in UNARY:
        assert str(inspect.signature(getattr(tensix, name))) == "(x, /, *, out=None)"
    for name in BINARY:
        assert str(inspect.signature(getattr(tensix, name))) == "(x1, x2, /, *, out=None)"
    assert str(inspect.signature(tensix.clip)) == "(x, /, min=None, max=None)"


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("dtype", ALL)
def test_functions_beside_the_standard(name, dtype):
    a, b = values(dtype, (40, 3)), values(dtype, (3,), seed=1)
    function = getattr(tensix, name)
    assert_same(function(tensix.from_numpy(a), tensix.from_numpy(b)), BESIDE[name](a, b))
    assert_same(function(tensix.from_numpy(a), 1), BESIDE[name](a, 1))
    out = tensix.empty(40, 3, dtype="bool")
    assert function(tensix.from_numpy(a), tensix.from_numpy(b), out=out) is out
    assert_same(out, BESIDE[name](a, b))
    with pytest.raises(ValueError, match="output with shape"):
        function(tensix.from_numpy(a), 1, out=tensix.empty(3, dtype="bool"))


@pytest.mark.parametrize("options", [{"rtol": 0.25}, {"atol": 0.5, "rtol": 0.0}, {"equal_nan": True}])
def test_what_is_close(options):
    a, b = np.array([1, 1.2, np.nan, np.inf]), np.array([1.25, 1, np.nan, np.inf])
    assert_same(tensix.isclose(tensix.from_numpy(a), tensix.from_numpy(b), **options), np.isclose(a, b, **options))
    assert tensix.isclose(tensix.tensor(1.0, dtype="bfloat16"), 1.001, rtol=0.01).item() is True
    assert tensix.isclose(tensix.tensor(-128, dtype="int8"), -127).item() is False
    assert tensix.isclose(tensix.tensor([1j, np.inf]), tensix.tensor([1.000001j, np.inf])).tolist() == [True, True]
    with pytest.raises(TypeError, match=r"isclose\(\) has no argument 'rtoll'"):
        tensix.isclose(tensix.from_numpy(a), 1, rtoll=0.1)


@pytest.mark.parametrize("name", ["positive", "conj"])
@pytest.mark.parametrize("dtype", ["int16", "float64", "complex64"])
@pytest.mark.parametrize("nbytes", [65528, 65536])
def test_what_is_returned_as_it_is_shares_its_bytes(name, dtype, nbytes):
    """Where that is worth it, until one of the two is written to; a part of a storage is copied."""
    x = tensix.arange(nbytes // getattr(tensix, dtype).itemsize, dtype=dtype)
    before, function = x.tolist(), getattr(tensix, name)
    y = function(x)
    assert x.storage().is_cow() is (nbytes == 65536 and (name, dtype) != ("conj", "complex64"))
    y[0] = 7
    assert x.tolist() == before and y.tolist() == [7, *before[1:]]
    x[1] = 8
    assert y.tolist() == [7, *before[1:]]
    z = tensix.arange(nbytes, dtype=dtype)
    assert function(z[1:]).storage().nbytes() < z.storage().nbytes() and not z.storage().is_cow()


def test_what_is_returned_as_it_is_does_not_share_what_others_can_write():
    x = tensix.zeros(2**16)
    array = np.asarray(x)
    y = +x
    array[0] = 1
    assert y[0].item() == 0 and x[0].item() == 1
    with pytest.raises(TypeError, match="not defined for bool"):
        +tensix.zeros(2**16, dtype="bool")
    overlapping = tensix.arange(2**16).as_strided((2**15, 2), (1, 1))
    assert (+overlapping)[:2].tolist() == [[0, 1], [1, 2]]


def test_a_function_of_an_operator_is_complete_or_not_there():
    """Its C function reads the table without asking whether there is one."""
    kind = type(tensix.add)
    for make in (kind, lambda: kind.__new__(kind)):
        with pytest.raises(TypeError):
            make()
    four = operator(tensix.add.table, method=False)(lambda a, b, c, d: None)
    with pytest.raises(TypeError, match=r"has other parameters than tensix::add\.Tensor"):
        four(*[tensix.ones(1)] * 4)
