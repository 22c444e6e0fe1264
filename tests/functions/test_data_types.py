"""The chapter of element types: limits against NumPy's and ml_dtypes', casts and results against promotion."""

import inspect
import itertools

import ml_dtypes
import numpy as np
import pytest

import tensix
from tensix import can_cast, finfo, iinfo, isdtype, promote_types, result_type

DTYPES = [getattr(tensix, name) for name in tensix.__all__ if isinstance(getattr(tensix, name), tensix.DType)]
FLOATS = [dtype for dtype in DTYPES if dtype.kind == "f"]
INTEGERS = [dtype for dtype in DTYPES if dtype.kind in "iu"]


# ---- limits


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_limits_of_floats(dtype):
    found, expected = finfo(dtype), ml_dtypes.finfo(dtype.numpy)
    for name in ("bits", "eps", "max", "min", "smallest_normal"):
        value = getattr(found, name)
        assert value == float(getattr(expected, name)) and type(value) is (int if name == "bits" else float)
    assert found.dtype is dtype and finfo(tensix.ones(2, dtype=dtype)) == found


@pytest.mark.parametrize("dtype, part", [("complex64", "float32"), ("complex128", "float64")])
def test_limits_of_complex_types_are_those_of_their_parts(dtype, part):
    assert finfo(dtype) == finfo(tensix.ones((), dtype=dtype)) == finfo(part)
    assert str(finfo(dtype).dtype) == part


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_limits_of_integers(dtype):
    found, expected = iinfo(dtype), np.iinfo(dtype.numpy)
    assert (found.bits, found.max, found.min, found.dtype) == (expected.bits, expected.max, expected.min, dtype)
    assert {type(found.bits), type(found.max), type(found.min)} == {int} and iinfo(tensix.ones(2, dtype=dtype)) == found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_type_has_limits_of_its_own_kind(dtype):
    if dtype.kind not in "fc":
        with pytest.raises(TypeError, match=f"found {dtype.name}. Use iinfo"):
            finfo(dtype)
    if dtype.kind not in "iu":
        with pytest.raises(TypeError, match=f"found {dtype.name}. Use finfo"):
            iinfo(dtype)


# ---- casts


@pytest.mark.parametrize("kind", ["iu", "f", "c"])
def test_casts_within_a_kind_lose_nothing(kind):
    """The standard's promotion of one kind is NumPy's safe cast; int64 to float64 is not within one."""
    for a, b in itertools.product([dtype for dtype in DTYPES if dtype.kind in kind], repeat=2):
        safe = np.can_cast(a.numpy, b.numpy)
        assert can_cast(a, b) == can_cast(tensix.empty(0, dtype=a), b) == safe, (a, b)


def test_casts_to_a_lower_kind():
    ranks = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
    for a, b in itertools.product(DTYPES, repeat=2):
        if ranks[a.kind] > ranks[b.kind]:
            assert not can_cast(a, b)
        if ranks[a.kind] < ranks[b.kind]:
            assert can_cast(a, b) == (a is not tensix.float64 or b is not tensix.complex64)


@pytest.mark.parametrize("arguments", [(1, tensix.int8), (tensix.int8, 1), ("int9", "int8"), (None, "int8"),
                                       (tensix.int8, tensix.ones(2))])
def test_cast_of_what_is_no_type(arguments):
    with pytest.raises(TypeError, match="element type"):
        can_cast(*arguments)


# ---- kinds

NAMES = ["bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"]


@pytest.mark.parametrize("kind", NAMES)
def test_kinds_are_numpys(kind):
    for dtype in DTYPES:
        expected = np.isdtype(np.dtype("f4" if dtype is tensix.bfloat16 else dtype.numpy), kind)
        assert isdtype(dtype, kind) == isdtype(dtype, (kind,)) == expected


@pytest.mark.parametrize("kind, expected", [
    (tensix.int8, True), (tensix.int16, False), ("int8", ValueError), ((), False), (("bool", "integral"), True),
    (("bool", tensix.int8), True), (("bool", tensix.uint8), False), (("integral", "float"), ValueError),
    ("float", ValueError), (None, TypeError), (np.dtype("i1"), True), (["bool"], TypeError), (("bool", 3), TypeError),
])
def test_kinds_of_int8(kind, expected):
    if isinstance(expected, bool):
        assert isdtype(tensix.int8, kind) is expected
    else:
        with pytest.raises(expected):
            isdtype(tensix.int8, kind)


# ---- results


@pytest.mark.parametrize("a", DTYPES, ids=str)
def test_result_of_two_types_is_what_they_promote_to(a):
    for b in DTYPES:
        try:
            expected = promote_types(a, b)
        except TypeError:
            with pytest.raises(TypeError, match="do not promote"):
                result_type(a, b)
        else:
            assert result_type(a, b) is result_type(tensix.ones((), dtype=a), b) is expected
            assert result_type(a, tensix.ones(2, dtype=b)) is expected


@pytest.mark.parametrize("arguments, expected", [
    ((tensix.int8, 1), "int8"), ((tensix.uint64, -1), "uint64"), ((tensix.bool, True), "bool"),
    ((tensix.bool, 1), "int64"), ((tensix.int8, 1.5), "float32"), ((tensix.float16, 1.5), "float16"),
    ((tensix.bfloat16, 10**9), "bfloat16"), ((tensix.float64, 1j), "complex128"), ((tensix.float32, 1j), "complex64"),
    ((tensix.uint8, 1j), "complex64"), ((tensix.complex64, 1.5), "complex64"), ((tensix.int8, 1, 1.5), "float32"),
    ((True,), "bool"), ((1, True), "int64"), ((1.5, 1), "float32"), ((1j, 1), "complex64"),
    ((np.float64(1),), "float64"), ((tensix.uint8, np.int8(1)), "int16"),
    ((tensix.int8, np.float16(1), 2.5), "float16"),
    ((tensix.float32, np.float64(2)), "float64"), ((np.float32, np.dtype("f8")), "float64"), ((float,), "float64"),
    ((tensix.float16, tensix.bfloat16, tensix.int64), "float32"), ((tensix.ones(()), tensix.float64), "float64"),
])
def test_results(arguments, expected):
    for order in itertools.permutations(arguments):
        assert result_type(*order) is getattr(tensix, expected)


def test_order_does_not_matter():
    """NumPy's rule for three: uint64 and int8 meet only in the float beside them."""
    for order in itertools.permutations([tensix.uint64, tensix.int8, tensix.float32, 1]):
        assert result_type(*order) is tensix.float32


@pytest.mark.parametrize("value", [2, True, 2.5, 1j, np.float64(2)])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex64"])
def test_operators_agree(dtype, value):
    x = tensix.ones(2, dtype=dtype)
    assert (x + value).dtype is (value * x).dtype is result_type(x, value)


@pytest.mark.parametrize("arguments, error", [((), ValueError), (("quaternion",), TypeError), ((None,), TypeError),
                                              (([1],), TypeError), ((tensix.Tensor(),), RuntimeError),
                                              ((np.datetime64(1, "s"),), TypeError)])
def test_results_of_nothing_with_a_type(arguments, error):
    with pytest.raises(error):
        result_type(*arguments)


def test_signatures_are_the_standards():
    assert str(inspect.signature(can_cast)) == "(from_, to, /)"
    assert str(inspect.signature(finfo)) == str(inspect.signature(iinfo)) == "(type, /)"
    assert str(inspect.signature(isdtype)) == "(dtype, kind)"
    assert str(inspect.signature(result_type)) == "(*arrays_and_dtypes)"


# ---- astype


@pytest.mark.parametrize("source", DTYPES, ids=str)
@pytest.mark.parametrize("target", DTYPES, ids=str)
def test_astype(source, target):
    x = tensix.tensor([0, 1, 1], dtype=source)
    if source.kind == "c" and target.kind != source.kind:
        with pytest.raises(TypeError, match="imaginary"):
            tensix.astype(x, target)
        return
    found = tensix.astype(x, target)
    assert found.dtype is target and found.tolist() == [0, 1, 1] and not found.is_alias_of(x)


def test_astype_copies_when_it_must():
    x = tensix.ones(2, 3).T
    assert tensix.astype(x, "float32", copy=False) is x and tensix.astype(x, "float32", copy=False, device="cpu") is x
    assert not tensix.astype(x, "float32").is_alias_of(x) and tensix.astype(x, "float32").tolist() == x.tolist()
    assert str(tensix.astype(x, "int8", device="meta").device) == str(tensix.astype(x, x.dtype, device="meta").device)
    assert tensix.astype(tensix.empty(2, device="meta"), "int8").device == tensix.Device("meta")


@pytest.mark.parametrize("args, error", [(([1], "int8"), TypeError), ((tensix.ones(1), "nothing"), TypeError),
                                         ((tensix.ones(1), None), TypeError)])
def test_astype_of_nonsense(args, error):
    with pytest.raises(error):
        tensix.astype(*args)
