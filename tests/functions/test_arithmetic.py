"""Arithmetic against NumPy: every type, broadcasting, strides, numbers, and pairs of types."""

import operator

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix
from tensix.tensors.promotion import promote_types

OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}
INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
NUMBERS = [*INTEGERS, *FLOATS, "complex64", "complex128"]
each_operator = pytest.mark.parametrize("apply", OPERATORS.values(), ids=OPERATORS)

settings.register_profile("arithmetic", max_examples=100, deadline=None, derandomize=True)
settings.load_profile("arithmetic")


def as_numpy(tensor):
    return np.array(tensor.tolist(), tensor.dtype.numpy).reshape(tensor.shape)


def assert_same(tensor, array):
    assert (tensor.shape, tensor.dtype.numpy) == (array.shape, array.dtype)
    np.testing.assert_array_equal(as_numpy(tensor), array)


def numbers(dtype, shape=(3, 4), seed=0):
    values = np.random.default_rng(seed).integers(1, 11, shape).astype(dtype)
    return values + values.dtype.type(1j) if values.dtype.kind == "c" else values


@each_operator
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 4), (40_000,)])
def test_every_type(apply, dtype, shape):
    """Quotients of integers have a test of their own."""
    a, b = numbers(dtype, shape), numbers(dtype, shape, 1)
    if apply is operator.truediv and dtype in INTEGERS:
        apply = operator.add
    assert_same(apply(tensix.tensor(a), tensix.tensor(b)), np.asarray(apply(a, b)))


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_quotients_of_integers_are_real(dtype):
    a, b = numbers(dtype), numbers(dtype, (4,), 1)
    for quotient in (tensix.tensor(a) / tensix.tensor(b), tensix.tensor(a) / int(b[0]), 1 / tensix.tensor(a)):
        assert quotient.dtype.kind == "f"
    np.testing.assert_allclose(as_numpy(tensix.tensor(a) / tensix.tensor(b)), a / b, rtol=1e-6)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_negation(dtype):
    a = numbers(dtype)
    assert_same(-tensix.tensor(a), -a)
    assert_same(-tensix.from_numpy(a)[::-1, 1:], -(a[::-1, 1:]))


def test_integers_wrap_and_floats_go_on():
    assert (tensix.tensor([255], dtype="uint8") + tensix.tensor([1], dtype="uint8")).tolist() == [0]
    assert (tensix.tensor([1.0, -1.0]) / tensix.zeros(2)).tolist() == [float("inf"), float("-inf")]
    assert np.isnan((tensix.zeros(1) / tensix.zeros(1)).item())


def test_bools():
    a, b = tensix.tensor([True, True, False]), tensix.tensor([True, False, False])
    assert (a + b).tolist() == [True, True, False] and (a * b).tolist() == [True, False, False]
    for refused in (lambda: a - b, lambda: -a):
        with pytest.raises(TypeError, match="not defined for bool"):
            refused()


# ---- broadcasting and strides


@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=7, max_side=4, min_side=0))
def test_broadcasting(shapes):
    a, b = (np.arange(1.0, np.prod(shape, dtype=int) + 1).reshape(shape) for shape in shapes.input_shapes)
    for apply in OPERATORS.values():
        result = apply(tensix.from_numpy(a), tensix.from_numpy(b))
        assert_same(result, np.asarray(apply(a, b)))
        assert result.is_contiguous()


@pytest.mark.parametrize("a, b", [((2,), (3,)), ((2, 3), (3, 2)), ((0,), (2,)), ((4, 1, 3), (2, 3, 2))])
def test_shapes_that_do_not_broadcast(a, b):
    with pytest.raises(ValueError, match=r"cannot be broadcast together: sizes \d and \d differ"):
        tensix.ones(a) + tensix.ones(b)


@st.composite
def operand(draw, shape):
    """Return an array of a shape, with any order and direction of its dimensions, and gaps between them."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, -1, 2, -2])) for _ in shape]
    room = np.arange(np.prod([2 * size for size in shape], dtype=int), dtype=np.float32) + 1
    room = room.reshape([2 * shape[dim] for dim in order]).transpose(np.argsort(order))
    kept = tuple(slice(None, 2 * size, 1) for size in shape)
    view = room[kept][tuple(slice(None, None, step) for step in steps)]
    return view[tuple(slice(0, size) for size in shape)]


@given(st.data())
def test_any_strides(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=6, min_side=1, max_side=4))
    a, b = data.draw(operand(shape)), data.draw(operand(shape))
    for apply in OPERATORS.values():
        assert_same(apply(tensix.from_numpy(a), tensix.from_numpy(b)), apply(a, b))
    assert_same(-tensix.from_numpy(a), -a)


@pytest.mark.parametrize("side", [3, 200])
def test_large_and_strided(side):
    """From some size on the walk runs without the GIL."""
    a = np.arange(side * side, dtype=np.float32).reshape(side, side)
    x = tensix.from_numpy(a)
    assert_same(x.T + x[::-1], a.T + a[::-1])
    assert_same(x[:, :1] * x[0], a[:, :1] * a[0])


def test_operands_may_overlap_and_stay_as_they_are():
    a = np.arange(10.0)
    x = tensix.from_numpy(a)
    assert_same(x[1:] + x[:-1], a[1:] + a[:-1])
    assert_same(x - x[::-1], a - a[::-1])
    assert a.tolist() == list(range(10))


# ---- Python's numbers


@each_operator
@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128"])
@pytest.mark.parametrize("number", [2, 2.5, True])
def test_numbers_take_the_type_of_the_tensor(apply, dtype, number):
    a = numbers(dtype)
    x = tensix.tensor(a)
    np.testing.assert_allclose(as_numpy(apply(x, number)), apply(a, number), rtol=1e-3 if dtype == "float16" else 1e-6)
    np.testing.assert_allclose(as_numpy(apply(number, x)), apply(number, a), rtol=1e-3 if dtype == "float16" else 1e-6)
    assert apply(x, number).dtype is apply(number, x).dtype is x.dtype


@pytest.mark.parametrize("dtype, number, meant", [
    ("int8", 2, "int8"), ("int8", True, "int8"), ("bool", 1, "int64"), ("bool", True, "bool"),
    ("int64", 2.5, "float32"),
    ("bool", 2.5, "float32"), ("uint8", 1j, "complex64"), ("float32", 1j, "complex64"), ("float64", 1j, "complex128"),
])
def test_a_number_of_a_higher_kind_raises_the_type(dtype, number, meant):
    x = tensix.ones(2, dtype=dtype)
    assert str((x + number).dtype) == str((number + x).dtype) == str((x * number).dtype) == meant


@pytest.mark.parametrize("number", [300, -1])
def test_number_that_the_type_cannot_hold(number):
    with pytest.raises(OverflowError):
        tensix.ones(2, dtype="uint8") + number


@pytest.mark.parametrize("other", ["a", None, [1, 2], object()])
def test_what_is_no_number(other):
    for apply in OPERATORS.values():
        for pair in ((tensix.ones(2), other), (other, tensix.ones(2))):
            with pytest.raises(TypeError):
                apply(*pair)


# ---- pairs of types


@pytest.mark.parametrize("a", [*NUMBERS, "bool"])
@pytest.mark.parametrize("b", [*NUMBERS, "bool"])
def test_pairs_of_types(a, b):
    x, y = tensix.ones(2, 1, dtype=a), tensix.ones(3, dtype=b)
    try:
        expected = promote_types(a, b)
    except TypeError:
        with pytest.raises(TypeError, match="do not promote"):
            x + y
        return
    result = x + y
    assert result.dtype is expected and result.shape == (2, 3)
    assert result.tolist() == (np.ones((2, 1), expected.numpy) + np.ones(3, expected.numpy)).tolist()
    assert (x.dtype.name, y.dtype.name) == (a, b)


def test_refused_pair_is_named():
    with pytest.raises(TypeError, match=r"uint64 and int8 do not promote to a common type. Convert one"):
        tensix.ones(2, dtype="uint64") * tensix.ones(2, dtype="int8")


def test_results_own_their_bytes():
    x = tensix.ones(2, 3)
    for result in (x + x, x + 1, -x, x * tensix.ones(()), (x.T / 2).T):
        assert not result.is_alias_of(x) and result.is_contiguous()


def test_worked_example():
    tensix.manual_seed(0)
    a, b = tensix.rand(3, 4), tensix.rand(3, 4)
    assert_same(a[0] + b, as_numpy(a)[0] + as_numpy(b))
