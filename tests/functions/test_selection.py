"""One mask or one tensor of positions as an index, against NumPy: what is read, what is written, what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensix
from tensix.memory import statistics

DTYPES = ["bool", "int8", "uint16", "float32", "int64", "complex128"]
SHAPES = [(5,), (3, 4), (2, 3, 4), (0,), (3, 0), (0, 4), (4, 1)]


def filled(shape, dtype):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


@st.composite
def cases(draw):
    """Draw an array and an index that fits it: a mask over its first dimensions, or positions in the first."""
    array = filled(draw(st.sampled_from(SHAPES)), draw(st.sampled_from(DTYPES)))
    if draw(st.booleans()):
        shape = array.shape[: draw(st.integers(1, array.ndim))]
        bits = draw(st.lists(st.booleans(), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        return array, np.array(bits, bool).reshape(shape)
    shape = draw(st.sampled_from([(3,), (2, 2), (0,), (1,)])) if array.shape[0] else (0,)
    count = int(np.prod(shape))
    place = st.integers(-array.shape[0], array.shape[0] - 1) if array.shape[0] else st.nothing()
    positions = draw(st.lists(place, min_size=count, max_size=count))
    return array, np.array(positions, np.int64).reshape(shape)


@given(cases())
def test_what_is_read(case):
    array, key = case
    found = tensix.asarray(array.copy())[tensix.asarray(key)]
    assert found.shape == array[key].shape and found.dtype.name == array.dtype.name
    np.testing.assert_array_equal(np.asarray(found), array[key])


@given(cases(), st.booleans())
def test_what_is_written(case, is_scalar):
    array, key = case
    expected, x = array.copy(), tensix.asarray(array.copy())
    values = np.ones((), array.dtype) if is_scalar else filled(array[key].shape, array.dtype)[::-1].copy()
    expected[key] = values
    x[tensix.asarray(key)] = tensix.asarray(values)
    np.testing.assert_array_equal(np.asarray(x), expected)


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
def test_long_masks_of_every_size_of_item(itemsize):
    """Longer than what a byte counts to, and than what is copied with the GIL."""
    dtype = {1: "uint8", 2: "int16", 4: "float32", 8: "float64", 16: "complex128"}[itemsize]
    array = (np.arange(100_000) % 251).astype(dtype)
    mask = np.arange(100_000) % 7 != 0
    x, key = tensix.asarray(array.copy()), tensix.asarray(mask)
    np.testing.assert_array_equal(np.asarray(x[key]), array[mask])
    x[key] = 3
    assert np.asarray(x)[mask].tolist() == [3] * mask.sum() and np.array_equal(np.asarray(x)[~mask], array[~mask])


def test_bytes_other_than_0_and_1_are_set():
    bits = tensix.asarray(np.array([0, 2, 255, 0], np.uint8)).view(tensix.bool)
    assert tensix.arange(4)[bits].tolist() == [1, 2]


@pytest.mark.parametrize("position", [3, -4, 2**63 - 1, -(2**63)])
def test_positions_outside_are_refused_and_nothing_is_written(position):
    x = tensix.arange(3)
    key = tensix.asarray([0, position])
    with pytest.raises(IndexError, match=f"index {position} is out of bounds for dimension 0 with size 3"):
        x[key]
    with pytest.raises(IndexError, match="out of bounds"):
        x[key] = 9
    assert x.tolist() == [0, 1, 2]


@pytest.mark.parametrize("key", [[True, False], [[True]], [True] * 4])
def test_masks_of_another_shape_are_refused(key):
    with pytest.raises(IndexError):
        tensix.arange(3)[tensix.asarray(key)]
    with pytest.raises(IndexError):
        tensix.arange(3)[tensix.asarray(key)] = 1


def test_bfloat16_and_copies_on_write():
    x = tensix.asarray([1, 2, 3], dtype="bfloat16")
    y, key = x.lazy_clone(), tensix.asarray([True, False, True])
    assert y[key].tolist() == [1.0, 3.0] and y.is_cow()
    y[key] = 7
    assert (x.tolist(), y.tolist(), y.dtype) == ([1.0, 2.0, 3.0], [7.0, 2.0, 7.0], tensix.bfloat16)


def test_values_and_keys_in_the_same_memory():
    x = tensix.arange(4)
    x[x] = tensix.flip(x)
    assert x.tolist() == [3, 2, 1, 0]
    x = tensix.arange(6)
    x[tensix.asarray([1, 2, 3])] = x[:3]
    assert x.tolist() == [0, 0, 1, 2, 4, 5]


def test_readonly_is_refused():
    x = tensix.asarray(memoryview(b"abc"))
    with pytest.raises(RuntimeError, match="read-only"):
        x[tensix.asarray([True, False, True])] = 1


def test_one_block_is_allocated():
    x, mask = tensix.arange(1000), tensix.arange(1000) % 2 == 0
    with statistics() as seen:
        made = x[mask]
    assert seen.total_count == 1 and made.shape == (500,)


@pytest.mark.parametrize("victim", ["source", "mask", "positions"])
def test_an_allocator_that_changes_the_operands_is_noticed(victim):
    operands = {"source": tensix.arange(1000), "mask": tensix.ones(1000, dtype="bool")}
    operands["positions"] = tensix.arange(1000)
    other = tensix.empty(1, dtype="bool" if victim == "mask" else "int64")

    class Meddler(tensix.Allocator):
        upstream = tensix.CPUAllocator()

        def allocate(self, nbytes):
            operands[victim].set_(other)
            return self.upstream.allocate(nbytes)

    key = operands["positions" if victim == "positions" else "mask"]
    with tensix.use_allocator(Meddler()), pytest.raises(RuntimeError, match="while an operation uses it"):
        operands["source"][key]


def test_rows_without_elements():
    x = tensix.zeros(3, 0)
    assert x[tensix.asarray([2, 0])].shape == (2, 0) and x[tensix.asarray([True, False, True])].shape == (2, 0)
    x[tensix.asarray([2, 0])] = tensix.zeros(2, 0)
    with pytest.raises(IndexError, match="out of bounds"):
        x[tensix.asarray([3])]


@pytest.mark.parametrize("count", [511, 512, 513, 2000])
@pytest.mark.parametrize("width", [(), (1,), (3,), (0,)])
def test_masks_are_read_in_blocks(count, width):
    draw = np.random.default_rng(count)
    array = draw.integers(0, 100, (count, *width)).astype(np.int32)
    for mask in (draw.random(count) < 0.5, np.zeros(count, bool), np.ones(count, bool)):
        x, chosen = tensix.from_numpy(array.copy()), tensix.from_numpy(mask)
        assert x[chosen].tolist() == array[mask].tolist()
        expected = array.copy()
        expected[mask] = values = draw.integers(0, 100, array[mask].shape).astype(np.int32)
        x[chosen] = tensix.from_numpy(values)
        assert x.tolist() == expected.tolist()
        x[chosen] = 7
        expected[mask] = 7
        assert x.tolist() == expected.tolist()
