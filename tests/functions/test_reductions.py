"""Reductions against NumPy: types, axes, geometry, empty tensors, NaN, and what is refused."""

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix

settings.register_profile("reductions", max_examples=120, deadline=None, derandomize=True)
settings.load_profile("reductions")

INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
REALS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
DTYPES = ["bool", *INTEGERS, *REALS, *COMPLEX]
FOLDS = ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "count_nonzero"]
METHODS = FOLDS[:-1]
RTOL = {"float16": 2e-3, "float32": 1e-5, "complex64": 1e-5}


def numbers(dtype, shape=(3, 4, 5), seed=0):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, shape)
    if dtype in REALS + COMPLEX:
        values = values + rng.standard_normal(shape)
    return values.astype(dtype) + np.array(1j, dtype) if dtype in COMPLEX else np.asarray(values.astype(dtype))


def expected(name, array, **options):
    """Return NumPy's result; means of integers have the default type here."""
    with np.errstate(all="ignore"):
        result = np.asarray(getattr(np, name)(array, **options))
    return result.astype("f4") if name in ("mean", "var", "std") and array.dtype.kind in "biu" else result


def assert_close(tensor, array):
    assert (tensor.shape, tensor.dtype.numpy) == (array.shape, array.dtype)
    np.testing.assert_allclose(np.asarray(tensor), array, rtol=RTOL.get(array.dtype.name, 1e-12))


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (), (2, 1, 0)])
def test_every_type(name, dtype, axis):
    a = numbers(dtype)
    for keepdims in (False, True):
        result = getattr(tensix, name)(tensix.from_numpy(a), axis=axis, keepdims=keepdims)
        assert_close(result, expected(name, a, axis=axis, keepdims=keepdims))
        assert result.is_contiguous()


@given(st.data())
def test_any_geometry(data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4))
    order = data.draw(st.permutations(range(len(shape))))
    steps = [data.draw(st.sampled_from([1, -1, 2])) for _ in shape]
    a = numbers("float64", shape).transpose(order)[(*(slice(None, None, step) for step in steps), ...)]
    some_axes = st.lists(st.sampled_from(range(a.ndim)), unique=True).map(tuple) if a.ndim else st.just(())
    axis = data.draw(st.none() | some_axes)
    name = data.draw(st.sampled_from(FOLDS))
    if a.size == 0 and name in ("max", "min"):
        return
    options = {"axis": axis, "keepdims": data.draw(st.booleans())}
    result = getattr(tensix, name)(tensix.from_numpy(np.asarray(a)), **options)
    if a.size:
        assert_close(result, expected(name, a, **options))
    else:
        assert result.shape == np.sum(a, **options).shape


@pytest.mark.parametrize("name", METHODS)
def test_methods_do_what_functions_do(name):
    x = tensix.from_numpy(numbers("float64"))
    function, method = getattr(tensix, name), getattr(x, name)
    assert method().tolist() == function(x).tolist()
    assert method(1).tolist() == method(axis=1).tolist() == function(x, axis=1).tolist()
    assert method(axis=(0, 1), keepdims=True).shape == (1, 1, 5)


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("source, target", [("int8", "int8"), ("uint8", "float32"), ("float32", "float64"),
                                            ("float64", "float32"), ("int64", "complex64"), ("bool", "uint8"),
                                            ("complex64", "complex128")])
def test_asked_for_type(name, source, target):
    a = numbers(source, (3, 40))
    result = getattr(tensix, name)(tensix.from_numpy(a), axis=1, dtype=target)
    assert_close(result, getattr(np, name)(a, axis=1, dtype=target))


@pytest.mark.parametrize("dtype, name, value", [("int32", "sum", 0), ("float32", "sum", 0.0), ("int8", "prod", 1),
                                                ("float64", "any", False), ("bool", "all", True)])
def test_of_nothing(dtype, name, value):
    for shape, axis in (((0,), None), ((0, 3), 0), ((3, 0, 2), (1, 2))):
        result = getattr(tensix.empty(*shape, dtype=dtype), name)(axis)
        assert result.tolist() == np.full(result.shape, value).tolist()


def test_mean_of_nothing_is_nan_without_a_warning():
    assert np.isnan(tensix.empty(0).mean().item()) and np.isnan(tensix.empty(0, 3).mean(0).tolist()).all()
    assert np.isnan(tensix.empty(0).var().item())
    assert np.isnan(tensix.ones(1).std(correction=1).item())


@pytest.mark.parametrize("name", ["max", "min"])
def test_nothing_has_no_extremes(name):
    for shape, axis in (((0,), None), ((0, 3), 0), ((3, 0, 2), (0, 1))):
        with pytest.raises(ValueError, match="zero-size tensor to reduction operation"):
            getattr(tensix, name)(tensix.empty(*shape), axis=axis)
    assert getattr(tensix.empty(0, 3), name)(1).shape == (0,)


@pytest.mark.parametrize("dtype", [*REALS, *COMPLEX])
def test_nan_is_passed_on(dtype):
    a = numbers(dtype, (3, 4))
    a[1, 2] = np.nan
    for name in ("sum", "prod", "max", "min", "mean", "var"):
        found = np.isnan(np.asarray(getattr(tensix.from_numpy(a), name)(1)))
        assert found.tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_infinities_and_extremes(dtype):
    a = np.array([[-np.inf, -np.inf], [np.inf, -np.inf], [0.0, -1.0]], dtype)
    x = tensix.from_numpy(a)
    assert x.max(1).tolist() == [-np.inf, np.inf, 0.0] and x.min(1).tolist() == [-np.inf, -np.inf, -1.0]
    for name in INTEGERS:
        limits = np.iinfo(name)
        y = tensix.tensor(np.array([limits.min, limits.max], name))
        assert (y.max().item(), y.min().item(), y[:1].max().item()) == (limits.max, limits.min, limits.min)


def test_bfloat16_is_computed_in_float32():
    a = np.random.default_rng(0).standard_normal((30, 400)).astype("f4")
    x = tensix.empty(30, 400, dtype="bfloat16").copy_(tensix.from_numpy(a))
    wide = np.asarray(tensix.empty(30, 400).copy_(x))
    for name in ("sum", "max", "min", "mean", "std"):
        result = getattr(x, name)(1)
        assert result.dtype is tensix.bfloat16
        np.testing.assert_allclose(result.tolist(), getattr(wide, name)(1), rtol=1e-2)
    assert x.max().item() == wide.max() and x.argmax().item() == wide.argmax()
    assert tensix.ones(1000, dtype="float32").sum().item() == tensix.empty(1000, dtype="bfloat16").fill_(1).sum().item()
    assert x.any().item() and tensix.cumulative_sum(x, axis=0).dtype is tensix.bfloat16


@pytest.mark.parametrize("correction", [0, 1, 0.5, 3.5])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_correction(correction, dtype):
    a = numbers(dtype, (6, 5))
    for axis in (None, 0, 1):
        assert_close(tensix.from_numpy(a).var(axis, correction), np.asarray(np.var(a, axis, ddof=correction)))
        assert_close(tensix.from_numpy(a).std(axis, correction), np.asarray(np.std(a, axis, ddof=correction)))


@pytest.mark.parametrize("name", [*FOLDS, "argmax", "argmin", "cumulative_sum", "cumulative_prod"])
def test_wrong_axes(name):
    function, x = getattr(tensix, name), tensix.ones(2, 3)
    before = x.tolist()
    for axis in (2, -3, 10**6):
        with pytest.raises(IndexError):
            function(x, axis=axis)
    for axis in (1.0, "0", True):
        with pytest.raises(TypeError):
            function(x, axis=axis)
    with pytest.raises(IndexError):
        function(tensix.ones(()), axis=0)
    if name in FOLDS:
        with pytest.raises(ValueError, match="named once"):
            function(x, axis=(0, -2))
    assert x.tolist() == before


@pytest.mark.parametrize("name", [*FOLDS, "argmax", "argmin", "cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("wrong", [None, [1, 2], np.ones(2), 3])
def test_only_tensors(name, wrong):
    with pytest.raises(TypeError):
        getattr(tensix, name)(wrong)


@pytest.mark.parametrize("name", [*FOLDS, "argmax", "cumulative_sum"])
def test_undefined(name):
    with pytest.raises(RuntimeError, match="undefined"):
        getattr(tensix, name)(tensix.Tensor())


def test_imaginary_parts_are_not_dropped():
    x = tensix.tensor([1 + 1j])
    for function in (tensix.sum, tensix.prod, tensix.cumulative_sum):
        with pytest.raises(TypeError, match="complex"):
            function(x, dtype=tensix.float32)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", *REALS])
@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_results_of_type_bool(dtype, name):
    """Elements become true or false first; running results have one byte each."""
    a = np.array([[0.25, -0.25, 0], [1, 2, 0], [0, 0, 1]]).astype(dtype)
    for axis in (0, 1):
        result = getattr(tensix, name)(tensix.from_numpy(a), axis=axis, dtype=tensix.bool)
        assert_close(result, getattr(np, name)(a, axis=axis, dtype=bool))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("step", [2, 3])
def test_gaps_do_not_change_a_bit(name, axis, step):
    x = tensix.from_numpy(np.random.default_rng(0).standard_normal((11, 1800), np.float32))[:, ::step]
    reduce = getattr(tensix, name)
    assert reduce(x, axis=axis).tolist() == reduce(x.contiguous(), axis=axis).tolist()


@pytest.mark.parametrize("place", [0, 15, 16, 47, 48, 2500, 2999])
def test_what_settles_a_strided_run_is_found_anywhere(place):
    x = np.zeros((2, 6000), bool)[:, ::2]
    x[1, place] = True
    assert tensix.any(tensix.from_numpy(x), axis=1).tolist() == [False, True]
    assert tensix.all(tensix.from_numpy(~x), axis=1).tolist() == [True, False]
