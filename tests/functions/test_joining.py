"""Joined tensors against NumPy's: values, types, the order of the result in memory, and what cannot be joined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix

TYPES = ("bool", "uint8", "int16", "int64", "float16", "float32", "complex128")


@st.composite
def parts(draw):
    """Draw arrays that differ in one dimension, in one order of memory and of types that meet."""
    shape = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    axis = draw(st.integers(0, len(shape) - 1))
    order = draw(st.permutations(range(len(shape))))
    kinds = draw(st.sampled_from([("bool",), ("uint8", "int16", "int64"), ("float16", "float32", "complex128")]))
    made = []
    for length in draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)):
        sizes = [*shape[:axis], length, *shape[axis + 1 :]]
        stored = np.arange(np.prod(sizes)).reshape([sizes[i] for i in order]).astype(draw(st.sampled_from(kinds)))
        made.append(stored.transpose(np.argsort(order))[:: draw(st.sampled_from([1, -1]))])
    return made, axis


@settings(max_examples=150)
@given(parts(), st.booleans())
def test_concat(drawn, from_behind):
    arrays, axis = drawn
    found = tensix.concat([tensix.asarray(array) for array in arrays], axis=axis - arrays[0].ndim * from_behind)
    wanted = np.concatenate(arrays, axis)
    assert found.dtype.numpy == wanted.dtype
    np.testing.assert_array_equal(np.asarray(found), wanted)
    flat = tensix.concat([tensix.asarray(array) for array in arrays], axis=None)
    np.testing.assert_array_equal(np.asarray(flat), np.concatenate(arrays, None))


@settings(max_examples=100)
@given(parts(), st.data())
def test_stack(drawn, data):
    array = drawn[0][0]
    axis = data.draw(st.integers(-array.ndim - 1, array.ndim))
    other = np.flip(array)
    found = tensix.stack([tensix.asarray(array), tensix.asarray(other)], axis=axis)
    np.testing.assert_array_equal(np.asarray(found), np.stack([array, other], axis))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_result_lies_in_the_order_of_the_first(order):
    array = np.zeros((2, 3, 4)).transpose(order)
    x = tensix.asarray(array)
    for axis in range(3):
        wanted = np.concatenate([array, array], axis).strides
        assert tuple(8 * step for step in tensix.concat([x, x], axis=axis).stride()) == wanted
    assert tensix.concat([x[::-1], x]).is_contiguous()  # backwards is no order


def test_bfloat16():
    x = tensix.ones(2, dtype=tensix.bfloat16)
    assert tensix.concat([x, x]).dtype is tensix.stack([x, x]).dtype is tensix.bfloat16
    assert tensix.concat([x, tensix.zeros(1)]).tolist() == [1.0, 1.0, 0.0]


def test_parts_are_not_touched_and_the_result_is_new():
    x = tensix.ones(2)
    clone = x.lazy_clone()
    joined = tensix.concat([x])
    assert not joined.is_alias_of(x) and x.is_cow() and clone.is_cow()
    joined.fill_(7)
    assert x.tolist() == clone.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("call, error, text", [
    (lambda: tensix.concat([tensix.tensor(1.0)]), ValueError, "without dimensions"),
    (lambda: tensix.concat([tensix.ones(2), tensix.ones(2, 2)]), ValueError, r"found \(2,\) and \(2, 2\)"),
    (lambda: tensix.concat([tensix.ones(2, 3), tensix.ones(3, 3)], axis=1), ValueError, "but along dimension 1"),
    (lambda: tensix.stack([tensix.ones(2), tensix.ones(3)]), ValueError, r"found \(2,\) and \(3,\)"),
    (lambda: tensix.concat([tensix.ones(2)], axis=1), IndexError, "out of range"),
    (lambda: tensix.stack([tensix.ones(2)], axis=-3), IndexError, "out of range"),
    (lambda: tensix.stack([tensix.ones(*[1] * 64)]), ValueError, "65"),
    (lambda: tensix.concat([tensix.ones(1).expand(2**62)] * 3), ValueError, "63 bits"),
    (lambda: tensix.concat([tensix.ones(1).expand(2**62)] * 3, axis=None), ValueError, "63 bits"),
    (lambda: tensix.concat([tensix.ones(1).expand(2**44)] * 2), tensix.OutOfMemoryError, "cannot allocate"),
    (lambda: tensix.concat([tensix.ones(2), tensix.Tensor()]), RuntimeError, "undefined"),
    (lambda: tensix.concat([tensix.ones(2), [1.0]]), TypeError, "tensors only"),
    (lambda: tensix.ops.tensix.cat([tensix.ones(2), None]), TypeError, "cat"),
    (lambda: tensix.ops.tensix.stack([]), RuntimeError, "no tensor arguments"),
])
def test_what_cannot_be_joined(call, error, text):
    with pytest.raises(error, match=text):
        call()
