"""Tensors shaped after others, and tensors of given strides."""

import inspect

import numpy as np
import pytest

import tensix

LIKE = {
    "empty_like": tensix.empty_like, "zeros_like": tensix.zeros_like, "ones_like": tensix.ones_like,
    "full_like": lambda x, **options: tensix.full_like(x, 7, **options),
}  # fmt: skip
each_like = pytest.mark.parametrize("make", LIKE.values(), ids=LIKE)


@each_like
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128", "bfloat16"])
def test_shape_and_type_are_kept(make, shape, dtype):
    x = make(tensix.empty(shape, dtype=dtype))
    assert (x.shape, str(x.dtype), str(x.device)) == (shape, dtype, "cpu") and x.is_contiguous()


@each_like
def test_type_and_device_may_be_given(make):
    x = tensix.empty(2, 3)
    assert make(x, dtype=np.int16).dtype is tensix.int16
    assert str(make(x, device="meta").device) == "meta"
    assert str(make(tensix.empty(2, device="meta")).device) == "meta"
    assert make(tensix.empty(2, device="meta"), device="cpu").storage().nbytes() == 8


@each_like
def test_what_is_no_tensor(make):
    for wrong in ([1, 2], np.zeros(2), 3, None):
        with pytest.raises(TypeError):
            make(wrong)
    with pytest.raises(NotImplementedError):
        make(tensix.ones(2).to_sparse())


def test_values():
    x = tensix.empty(2)
    assert tensix.zeros_like(x).tolist() == [0.0, 0.0] and tensix.ones_like(x).tolist() == [1.0, 1.0]
    assert tensix.full_like(x, 2.5).tolist() == [2.5, 2.5]
    assert tensix.full_like(x, True, dtype=bool).tolist() == [True, True]
    assert tensix.full_like(x, np.float64(2.5)).dtype is tensix.float32
    assert tensix.full_like(x, tensix.tensor(3)).tolist() == [3.0, 3.0]


def test_fill_value_may_be_a_tensor():
    assert tensix.full((2, 2), tensix.tensor([1, 2])).tolist() == [[1, 2], [1, 2]]
    assert tensix.full(2, tensix.tensor(1.5), dtype="float64").dtype is tensix.float64
    with pytest.raises(ValueError):
        tensix.full(3, tensix.tensor([1, 2]))


@pytest.mark.parametrize("value, error", [("a", TypeError), (None, TypeError), ([1], TypeError)])
def test_fill_value_that_is_no_number(value, error):
    with pytest.raises(error):
        tensix.full_like(tensix.ones(2), value)


@pytest.mark.parametrize("size, stride, numel", [
    ((2, 3), (3, 1), 6), ((2, 3), (1, 2), 6), ((2, 3), (-3, 1), 6), ((2, 2), (5, -2), 8), ((3,), (0,), 1),
    ((), (), 1), ((0, 2), (1, 1), 0), ((2, 2), (1, 1), 3),
])
def test_strides_as_given_over_no_more_than_needed(size, stride, numel):
    x = tensix.empty_strided(size, stride, dtype="int16")
    assert (x.shape, x.stride(), str(x.dtype)) == (size, stride, "int16")
    assert x.storage().nbytes() == 2 * numel


@pytest.mark.parametrize("size, stride, error", [
    ((2,), (1, 1), ValueError), ((-1,), (1,), ValueError), ((2.5,), (1,), TypeError),
    ((2**40, 2**40), (2**40, 1), (OverflowError, ValueError)), ((2,), (2**63,), OverflowError),
])
def test_strides_that_cannot_be(size, stride, error):
    with pytest.raises(error):
        tensix.empty_strided(size, stride)


def test_empty_strided_on_meta():
    assert tensix.empty_strided((2, 2), (1, 2), device="meta").stride() == (1, 2)


@pytest.mark.parametrize("value, dtype", [(True, "bool"), (3, "int64"), (2.5, "float32"), (1j, "complex64"),
                                          (np.float64(1), "float64")])
def test_scalar_tensor(value, dtype):
    x = tensix.scalar_tensor(value, dtype=None if not isinstance(value, np.generic) else "float64")
    assert (x.shape, str(x.dtype), x.item()) == ((), dtype, value)
    assert tensix.scalar_tensor(3, dtype="int8").dtype is tensix.int8


@pytest.mark.parametrize("name", ["empty", "zeros", "ones", "full"])
def test_shape_may_be_named(name):
    """As the array API standard names it; many ints are our addition."""
    make = getattr(tensix, name)
    options = {"fill_value": 1} if name == "full" else {}
    assert make(shape=(2, 3), **options).shape == (2, 3) and make(shape=4, **options).shape == (4,)
    assert next(iter(inspect.signature(make).parameters)) == "shape"
