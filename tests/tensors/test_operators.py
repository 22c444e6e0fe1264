"""The operator signs: of two tensors, and with numbers on either side; the official suite leaves the latter out."""

import operator

import numpy as np
import pytest

import tensix
from tensix.memory import statistics

ARITHMETIC = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow,
}  # fmt: skip
BITS = {
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift, "rshift": operator.rshift,
}  # fmt: skip
COMPARISONS = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
ALL = ARITHMETIC | BITS | COMPARISONS
FUNCTIONS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift", "eq": "equal", "ne": "not_equal", "lt": "less",
    "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEXES = ["complex64", "complex128"]
NUMBERS = {"bool": True, "integer": 2, "real": 2.5, "complex": 1.5 + 0.5j}
each = pytest.mark.parametrize("name", ALL)


def kind_of(dtype):
    return "bool" if dtype == "bool" else "complex" if dtype in COMPLEXES else "real" if "float" in dtype else "integer"


def is_defined(name, dtype):
    kind = kind_of(dtype)
    if name in BITS:
        return kind == "integer" or (kind == "bool" and "shift" not in name)
    if name in ("floordiv", "mod") and kind == "complex":
        return False
    return kind != "bool" or name in ("add", "mul", "truediv") or name in COMPARISONS


def close(tensor, array):
    np.testing.assert_allclose(np.asarray(tensor), array, rtol=2e-3 if array.dtype == np.float16 else 1e-6)
    return tensor.dtype.numpy == array.dtype and tensor.shape == array.shape


@each
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS, *COMPLEXES])
def test_signs_are_the_functions(name, dtype):
    x, y = tensix.tensor([[1, 5], [3, 0]]), tensix.tensor([2, 1])
    x, y = tensix.tensor(x, dtype=dtype), tensix.tensor(y, dtype=dtype)
    if not is_defined(name, dtype):
        for left, right in ((x, y), (x, True), (True, y)):
            with pytest.raises(TypeError, match="not defined for"):
                ALL[name](left, right)
        return
    wanted = getattr(tensix, FUNCTIONS[name])(x, y)
    assert ALL[name](x, y).tolist() == wanted.tolist() and ALL[name](x, y).dtype is wanted.dtype


@each
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS, *COMPLEXES])
def test_numbers_keep_the_type(name, dtype):
    """A number of the tensor's kind or a lower one, on the left and on the right, is one of the tensor's type."""
    kinds = list(NUMBERS)
    a = np.array([[1, 5], [3, 2]]).astype(dtype)
    x = tensix.from_numpy(a)
    for kind in kinds[: kinds.index(kind_of(dtype)) + 1]:
        if not is_defined(name, dtype):
            continue
        number = np.array(NUMBERS[kind]).astype(dtype)
        plain = a.astype(np.float32) if name == "truediv" and kind_of(dtype) in ("bool", "integer") else a
        number = number.astype(plain.dtype)
        assert close(ALL[name](x, NUMBERS[kind]), ALL[name](plain, number))
        assert close(ALL[name](NUMBERS[kind], x), ALL[name](number, plain))
        for scalar in (number[()], np.bool(True)):
            assert ALL[name](x, scalar).dtype is ALL[name](scalar, x).dtype is ALL[name](x, NUMBERS[kind]).dtype


@pytest.mark.parametrize("name", ["add", "mul", "eq", "lt"])
@pytest.mark.parametrize("dtype, number, meant", [
    ("bool", 3, "int64"), ("bool", 1.5, "float32"), ("int8", 1.5, "float32"), ("uint64", -1.5, "float32"),
    ("int64", 1j, "complex64"), ("float32", 1j, "complex64"), ("float64", 1j, "complex128"),
    ("bfloat16", 1.5, "bfloat16"), ("bfloat16", 3, "bfloat16"), ("float16", 1j, "complex64"),
])
def test_numbers_of_a_higher_kind(name, dtype, number, meant):
    x = tensix.tensor(tensix.tensor([0, 1]), dtype=dtype)
    wide = tensix.tensor(x, dtype=meant)
    apply = ALL[name]
    for result, wanted in ((apply(x, number), apply(wide, number)), (apply(number, x), apply(number, wide))):
        assert result.dtype is wanted.dtype and result.tolist() == wanted.tolist()
        assert name in COMPARISONS or result.dtype.name == meant


@each
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_at_and_beyond_the_limits(name, dtype):
    x, limits = tensix.ones(1, dtype=dtype), tensix.iinfo(dtype)
    assert (x * 0 + limits.max).item() == limits.max and (limits.min + x * 0).item() == limits.min
    for beyond in (limits.max + 1, limits.min - 1, 10**30, -(10**30)):
        for left, right in ((x, beyond), (beyond, x)):
            with pytest.raises(OverflowError):
                ALL[name](left, right)


def test_limits_of_other_types():
    assert (tensix.zeros(1) + 2**60).item() == 2.0**60
    assert (tensix.zeros(1) + 1e300).item() == float("inf")
    assert (tensix.zeros(1, dtype="complex64") + 2**60).item() == 2.0**60
    for dtype in ("float32", "float64", "complex64", "complex128"):
        with pytest.raises(OverflowError):
            tensix.zeros(1, dtype=dtype) + 10**400


@each
@pytest.mark.parametrize("other", [None, "a", [1, 2], (1,), object, range(2)], ids=repr)
def test_what_is_neither_tensor_nor_number(name, other):
    x = tensix.ones(2)
    if name in ("eq", "ne"):
        for found in (ALL[name](x, other), ALL[name](other, x)):
            if other is None:
                assert found.dtype is tensix.bool
                assert found.tolist() == [name == "ne"] * 2
            else:
                assert found is (name == "ne")
        return
    for left, right in ((x, other), (other, x)):
        if not (name == "mod" and isinstance(left, str)):  # which formats
            with pytest.raises(TypeError):
                ALL[name](left, right)


@pytest.mark.parametrize("make", [
    lambda: tensix.ones(2, 3), lambda: tensix.ones(0), lambda: tensix.full((2,), float("nan")),
    lambda: tensix.ones((), dtype="bool"), lambda: tensix.ones(3, 2).T, lambda: tensix.empty(2, device="meta"),
])  # fmt: skip
def test_no_element_is_none(make):
    x = make()
    same, differs = x == None, x != None  # noqa: E711 it is the comparison that is tested
    assert same.shape == differs.shape == x.shape
    assert same.dtype is differs.dtype is tensix.bool
    if x.device.type == "cpu":
        assert not same.any()
        assert differs.all()
    assert None not in x


def test_another_class_may_answer():
    class Other:
        def __radd__(self, left):
            return "radd"

        def __lt__(self, right):
            return "lt"

        __array_priority__ = 1

    assert tensix.ones(2) + Other() == "radd" and (tensix.ones(2) > Other()) == "lt"


def test_unary():
    x = tensix.tensor([1, -2])
    assert ((-x).tolist(), (+x).tolist(), abs(x).tolist(), (~x).tolist()) == ([-1, 2], [1, -2], [1, 2], [-2, 1])
    assert not (+x).is_alias_of(x) and (~tensix.tensor([True])).tolist() == [False]
    assert abs(tensix.tensor([3 + 4j])).tolist() == [5.0] and abs(tensix.tensor([3 + 4j])).dtype is tensix.float32
    for wrong in (lambda: ~tensix.ones(2), lambda: -tensix.tensor([True]), lambda: +tensix.tensor([True])):
        with pytest.raises(TypeError, match="is not defined for"):
            wrong()


def test_matrix_product_is_for_tensors():
    x = tensix.ones(2, 2)
    assert (x @ x).tolist() == [[2, 2], [2, 2]]
    for left, right in ((x, 2), (2, x), (x, np.ones(())), (None, x)):
        with pytest.raises(TypeError):
            left @ right


def test_power_with_a_modulus():
    with pytest.raises(TypeError):
        pow(tensix.ones(2), 2, 3)


def test_hash_is_that_of_the_object():
    x = tensix.ones(2)
    y = tensix.ones(2)
    kept = {x: "x", y: "y"}
    assert kept[x] == "x" and kept[y] == "y" and hash(x) != hash(y) and hash(x) == hash(x)
    x += 1
    assert kept[x] == "x"


def test_truth():
    x = tensix.tensor([1.0])
    assert x == 1 and not x > 1
    for several in (tensix.ones(2) == tensix.ones(2), tensix.ones(0) == 1):
        with pytest.raises(ValueError):
            bool(several)


@each
def test_results_without_dimensions_are_tensors(name):
    x = tensix.tensor(3)
    for result in (ALL[name](x, x), ALL[name](x, 1), ALL[name](1, x)):
        assert isinstance(result, tensix.Tensor) and result.shape == ()


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (2, 3), (0,), (2, 0), (40_000,)])
def test_one_element_beside_many(shape):
    """A single element runs as a run of steps 0."""
    a = np.arange(1, np.prod(shape, dtype=int) + 1, dtype=np.float32).reshape(shape)
    x = tensix.from_numpy(a)
    for one in (np.full((), 2.0, np.float32), np.full((1,), 2.0, np.float32), np.full((1, 1), 2.0, np.float32)):
        y = tensix.from_numpy(one)
        assert close(x - y, np.asarray(a - one)) and close(y - x, np.asarray(one - a))
        assert close(y / x, np.asarray(one / a))


def test_number_needs_no_memory():
    """It is converted on the stack: the result is the only block, and in place there is none."""
    for dtype in ("float32", "float64", "int64"):
        x = tensix.ones((3, 4), dtype=dtype)
        with statistics() as one:
            made = x + 2
        with statistics() as none:
            x += 2
        assert (one.total_count, none.total_count) == (1, 0)
        assert made.tolist() == x.tolist() == [[3] * 4] * 3


def test_bools_are_not_raised_to_negative_powers():
    with pytest.raises(ValueError, match="negative integer powers"):
        tensix.ones(3, dtype="bool") ** -1


@pytest.mark.parametrize("name", ["__iadd__", "__ipow__", "__irshift__", "__imatmul__"])
def test_arrays_without_dimensions_whose_element_is_an_array(name):
    """Their element is not asked for its own element again, without end."""
    own = np.empty((), object)
    own[()] = own
    for array in (np.ma.masked, own):
        assert getattr(tensix.ones(3), name)(array) is NotImplemented
