"""Nested sequences of numbers become what NumPy makes of them, with our default types, in memory of the allocator."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensix
from tensix.memory import statistics

NUMBERS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(width=32)
DEFAULTS = {"float64": "float32", "complex128": "complex64"}


@st.composite
def nested(draw):
    """Draw numbers in lists and tuples of one shape."""
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    sequence = draw(st.sampled_from([list, tuple]))

    def level(sizes):
        return sequence(level(sizes[1:]) for _ in range(sizes[0])) if sizes else draw(NUMBERS)

    return level(shape)


@given(nested())
def test_type_shape_and_elements_are_those_of_numpy(data):
    expected = np.array(data)
    dtype = DEFAULTS.get(str(expected.dtype), str(expected.dtype))
    for found in (tensix.tensor(data), tensix.asarray(data)):
        assert (found.dtype.name, found.shape) == (dtype, expected.shape)
        np.testing.assert_array_equal(np.asarray(found), expected.astype(dtype))


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
     "complex64", "complex128"],
)  # fmt: skip
@pytest.mark.parametrize("data", [[0, 1, 100], [True, False], [1.5, 0.0], 7, (1, 2.5, True), [[1], [0]], [1j, 2]])
def test_wanted_types_are_those_of_numpy(dtype, data):
    try:
        expected = np.array(data, dtype)
    except TypeError:
        with pytest.raises(TypeError):
            tensix.tensor(data, dtype=dtype)
        return
    for found in (tensix.tensor(data, dtype=dtype), tensix.asarray(data, dtype=dtype)):
        assert (found.dtype.name, found.shape) == (dtype, expected.shape)
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_bfloat16():
    for make in (tensix.tensor, tensix.asarray):
        assert make([1, 2.5], dtype="bfloat16").tolist() == [1.0, 2.5]


@pytest.mark.parametrize("data", [[[1, 2], [3]], [1, [2]], [[1], 2], [[1], []], ["1"], [1, "1"], [None], [{}], "12"])
def test_what_is_no_array_is_refused(data):
    for make in (tensix.tensor, tensix.asarray):
        with pytest.raises((TypeError, ValueError)):
            make(data)


@pytest.mark.parametrize("number, dtype", [(300, "uint8"), (-1, "uint16"), (2**63, "int64"), (2**64, "uint64")])
def test_numbers_beyond_their_type_are_refused(number, dtype):
    for make in (tensix.tensor, tensix.asarray):
        with pytest.raises(OverflowError):
            make([1, number], dtype=dtype)


def test_large_integers_are_unsigned():
    assert tensix.tensor([2**63]).dtype is tensix.uint64


def test_a_list_in_itself_is_refused():
    endless = [1]
    endless[0] = endless
    for make in (tensix.tensor, tensix.asarray):
        with pytest.raises((TypeError, ValueError)):
            make(endless)


def test_a_hundred_thousand_lists_in_each_other_are_refused():
    deep = [1]
    for _ in range(100_000):
        deep = [deep]
    for make in (tensix.tensor, tensix.asarray):
        with pytest.raises((TypeError, ValueError)):
            make(deep)


def test_deep_nests_and_subclasses_of_numbers():
    class Half(float):
        pass

    deep = 3
    for _ in range(12):
        deep = [deep]
    assert tensix.tensor(deep).shape == (1,) * 12
    assert tensix.tensor([Half(0.5), 1]).tolist() == [0.5, 1.0]
    assert tensix.tensor([np.float64(0.5), np.int8(3)]).tolist() == [0.5, 3.0]


def test_memory_is_of_the_allocator_in_use():
    with statistics() as seen:
        made = tensix.tensor([[1.0, 2.0]] * 50)
    assert seen.total_count == 1 and seen.current_bytes == made.nbytes == 400


@pytest.mark.parametrize("change", [list.clear, lambda rows: rows.append([5, 6]), lambda rows: rows[1].append(7)])
def test_an_allocator_may_change_the_list(change):
    rows = [[1, 2], [3, 4]]

    class Meddler(tensix.Allocator):
        upstream = tensix.CPUAllocator()
        is_armed = True

        def allocate(self, nbytes):
            if self.is_armed:
                self.is_armed = False
                change(rows)
            return self.upstream.allocate(nbytes)

    with tensix.use_allocator(Meddler()):
        try:
            made = tensix.tensor(rows)
        except ValueError:
            assert len({len(row) for row in rows}) > 1
        else:
            assert made.tolist() == rows
