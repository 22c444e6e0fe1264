"""array-api-compat knows tensors as arrays of the standard; array-api-extra's functions work on them."""

import array_api_compat
import array_api_extra
import numpy as np
import pytest

import tensix

MATRIX = np.random.default_rng(2).random((4, 3))
COARSE = np.round(MATRIX * 3)


def test_compat_asks_a_tensor_for_its_namespace():
    x = tensix.asarray(MATRIX)
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x, x, 1.0, None) is tensix
    assert array_api_compat.array_namespace(x, api_version="2025.12") is tensix
    assert not array_api_compat.is_numpy_array(x)
    with pytest.raises(TypeError, match="Multiple namespaces"):
        array_api_compat.array_namespace(x, MATRIX)


def test_compat_asks_a_tensor_for_what_it_is():
    x = tensix.asarray(MATRIX)
    assert array_api_compat.device(x) == tensix.Device("cpu")
    assert array_api_compat.to_device(x, "cpu") is x
    assert array_api_compat.size(x) == 12
    assert array_api_compat.is_writeable_array(x)
    assert not array_api_compat.is_lazy_array(x)


def extra(name, *arrays, **options):
    """Return a case for a function that is called with arrays and options."""
    return pytest.param(lambda *xs: getattr(array_api_extra, name)(*xs, **options), arrays, id=name)


def case(name, function, *arrays):
    return pytest.param(function, arrays, id=name)


FUNCTIONS = [
    extra("angle", MATRIX + 1j),
    extra("atleast_nd", MATRIX, ndim=4),
    extra("cov", MATRIX),
    extra("create_diagonal", MATRIX[0]),
    extra("deg2rad", MATRIX),
    extra("isclose", MATRIX, MATRIX + 1e-9),
    extra("isin", COARSE, COARSE[0]),
    extra("kron", MATRIX, MATRIX),
    extra("nan_to_num", np.where(MATRIX > 0.5, np.nan, MATRIX)),
    extra("nanmax", np.where(MATRIX > 0.5, np.nan, MATRIX)),
    extra("nansum", np.where(MATRIX > 0.5, np.nan, MATRIX)),
    extra("nunique", COARSE),
    extra("one_hot", np.array([2, 0, 1]), num_classes=3),
    extra("pad", MATRIX, pad_width=2),
    extra("searchsorted", np.sort(MATRIX[0]), MATRIX[1]),
    extra("setdiff1d", COARSE[0], COARSE[1]),
    extra("sinc", MATRIX),
    extra("union1d", COARSE[0], COARSE[1]),
    case("partition", lambda x: array_api_extra.partition(x, 1, axis=0)[1], MATRIX),
    case("unravel_index", lambda x: array_api_extra.unravel_index(x, (4, 3)), np.array([3, 5])),
    case("at.add", lambda x: array_api_extra.at(x)[0].add(1.0, copy=True), MATRIX),
    case("at.min", lambda x: array_api_extra.at(x)[...].min(0.5, copy=True), MATRIX),
    case("at.multiply", lambda x: array_api_extra.at(x, (slice(None), 1)).multiply(3.0, copy=True), MATRIX),
    case("at.set", lambda x: array_api_extra.at(x)[1:3].set(9.0, copy=True), MATRIX),
    case("at.set where", lambda x: array_api_extra.at(x)[x > 0.5].set(0.0, copy=True), MATRIX),
]


@pytest.mark.parametrize("function, arrays", FUNCTIONS)
def test_extra_gives_tensors_with_the_values_of_numpy(function, arrays, same_as_numpy):
    same_as_numpy(function, *arrays)


def test_apply_where(same_as_numpy):
    same_as_numpy(lambda x: array_api_extra.apply_where(x > 0.5, x, lambda a: a * 2, lambda a: -a), MATRIX)


def test_lazy_apply_takes_tensors_to_numpy_and_back(same_as_numpy):
    same_as_numpy(lambda x: array_api_extra.lazy_apply(np.cumsum, x, as_numpy=True), MATRIX[0])


def test_at_writes_in_place_if_told_to():
    x = tensix.asarray(MATRIX.copy())
    assert array_api_extra.at(x)[0].set(5.0, copy=False) is x
    assert np.asarray(x)[0].tolist() == [5.0, 5.0, 5.0]
    with pytest.raises(RuntimeError, match="read-only"):
        array_api_extra.at(tensix.asarray(b"abc"))[0].set(1, copy=False)
