"""Basic indexing: what is refused, what is written, what serves as an int; values are in test_views_property.py."""

import operator

import numpy as np
import pytest

import tensix
from tensix.dispatch import dispatcher
from tensix.library import Library


@pytest.fixture
def x():
    """Return elements 0 to 23 in the shape (2, 3, 4)."""
    return tensix.tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))


@pytest.mark.parametrize("index, text", [
    (2, "index 2 is out of bounds for dimension 0 with size 2"), (-3, "index -3 is out of bounds for dimension 0"),
    ((0, 0, 4), "index 4 is out of bounds for dimension 2 with size 4"), (2**70, "out of bounds"),
    (-(2**70), "out of bounds"), ((0, 0, 0, 0), "too many indices for a tensor of 3 dimensions: found 4"),
    ((..., ...), "single ellipsis"), (1.0, "found float"), ("a", "found str"), ((0, 1.5), "found float"),
])
def test_refused_index(x, index, text):
    with pytest.raises(IndexError, match=text):
        x[index]


@pytest.mark.parametrize("index, error", [
    (slice(None, None, 0), ValueError), (slice(1.5, None), TypeError), ((None,) * 62, ValueError),
])
def test_refused_slice(x, index, error):
    with pytest.raises(error):
        x[index]
    assert x.storage().use_count() == 2  # nothing kept by what failed


def test_no_dimensions_to_index():
    with pytest.raises(IndexError, match="too many indices"):
        tensix.zeros(())[0]
    assert tensix.zeros(())[...].shape == () and tensix.zeros(())[None].shape == (1,)


def test_huge_slice_bounds(x):
    assert x[-(2**70) : 2**70].shape == (2, 3, 4)
    assert x[:: 2**62].shape == (1, 3, 4) and x[:: -(2**62)][0].tolist() == x[1].tolist()


# ---- writing through an index


@pytest.mark.parametrize("index, value", [
    (0, 5), ((..., slice(None, None, -1)), [1, 2, 3, 4]), ((1, 2, 3), 7.5), (..., np.ones((3, 1))), (slice(0, 0), 9),
])
def test_assignment_to_an_index(x, index, value):
    expected = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    expected[index] = value
    x[index] = value
    assert x.tolist() == expected.tolist()


def test_assignment_of_a_tensor(x):
    x[0] = x[1]
    x[1, :, ::2] = tensix.zeros(3, 1)
    assert x[0].tolist() == np.arange(12.0, 24).reshape(3, 4).tolist()
    assert x[1, 0].tolist() == [0.0, 13.0, 0.0, 15.0]


@pytest.mark.parametrize("value", [[1, 2], "a", tensix.ones(2), tensix.ones(2, 3, 4), np.ones((5, 3, 4))])
def test_refused_assignment_writes_nothing(x, value):
    with pytest.raises((ValueError, TypeError)):
        x[0] = value
    assert x.tolist() == np.arange(24).reshape(2, 3, 4).tolist()


@pytest.mark.parametrize("value, error", [(np.ones(4) * 1j, TypeError), (1j, TypeError), (np.complex64(1), TypeError),
                                          (None, TypeError), ([[1, 2], [3]], ValueError), (object(), TypeError),
                                          ("3", TypeError), (b"3", TypeError),
                                          (np.array(["a"]), TypeError), (tensix.ones(1, dtype="complex64"), TypeError)])
def test_values_that_cannot_be_written(x, value, error):
    with pytest.raises(error):
        x[0, 0] = value
    assert x.tolist() == np.arange(24).reshape(2, 3, 4).tolist()


@pytest.mark.parametrize("value", [np.arange(3.0)[::-1], np.arange(3, dtype=">i2"), np.arange(3) > 1, range(3),
                                   np.ones((1, 1, 3)), (0, 1.5, 2), [np.float32(1), True, 2],
                                   np.frombuffer(bytes(25), np.float64, 3, 1), tensix.ones(1, 1, 1)])
def test_values_of_many_kinds(value):
    expected, found = np.zeros((2, 3), np.float32), tensix.zeros(2, 3)
    expected[1], found[1] = np.asarray(value), value
    assert found.tolist() == expected.tolist()


def test_dimensions_of_size_1_in_front_are_left_out(x):
    x[1, 2] = tensix.full((1, 1, 4), 5)
    x[0, 0, 0] = [[[[-1]]]]
    assert x[1, 2].tolist() == [5.0] * 4 and x[0, 0, 0].item() == -1
    with pytest.raises(ValueError, match="broadcast"):
        x[1, 2] = tensix.ones(2, 1, 4)


def test_overlapping_source():
    expected, x = np.arange(10.0), tensix.tensor(np.arange(10.0))
    expected[1:] = expected[:-1].copy()
    x[1:] = x[:-1]
    assert x.tolist() == expected.tolist()
    x[::-1] = x
    assert x.tolist() == expected[::-1].tolist()


def test_lazy_clones_are_written_apart(x):
    clone = x.lazy_clone()
    clone[0] = -1
    x[1, :, 1] = clone[0, 0, 0]
    assert clone[0].tolist() == [[-1] * 4] * 3 and clone[1].tolist() == np.arange(12, 24).reshape(3, 4).tolist()
    assert x[0].tolist() == np.arange(12).reshape(3, 4).tolist() and x[1, :, 1].tolist() == [-1] * 3


def test_elements_are_not_deleted(x):
    for index in (0, slice(1), [0], ...):
        with pytest.raises(TypeError, match="cannot be deleted"):
            del x[index]
    assert x.shape == (2, 3, 4)


@pytest.mark.parametrize("key", [[0], True, np.array(0), tensix.tensor(0), 1.5, "a", np.True_])
def test_the_basic_operator_takes_basic_keys_only(x, key):
    with pytest.raises(IndexError, match=f"found {type(key).__name__}"):
        dispatcher.get_op_table("index.basic")(x, key)


class Second:
    def __index__(self):
        return 1


@pytest.mark.parametrize("key", [Second(), np.uint8(1), np.int64(-1), (Second(), ...), slice(Second(), None)])
def test_what_stands_for_an_int_selects_a_view(x, key):
    assert x[key].is_alias_of(x) and x[key].reshape(-1).tolist() == list(range(12, 24))


# ---- a tensor as an int


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"])
def test_integer_tensor_without_dimensions_is_an_index(dtype):
    number = tensix.full((), 3, dtype=dtype)
    assert operator.index(number) == 3 and type(operator.index(number)) is int
    assert (list(range(5))[number], "abcd"[number:], hex(number)) == (3, "d", "0x3")


@pytest.mark.parametrize("number", [tensix.tensor([3]), tensix.tensor(3.0), tensix.tensor(True), tensix.Tensor(),
                                    tensix.empty((), dtype="bfloat16")])
def test_other_tensors_are_no_index(number):
    with pytest.raises(TypeError, match="can be used as an integer"):
        operator.index(number)


def test_complex():
    assert complex(tensix.tensor([1 + 2j])) == 1 + 2j and complex(tensix.tensor(2)) == 2
    with pytest.raises(ValueError, match="this one has 2"):
        complex(tensix.ones(2))


# ---- one element, which is written without a view where no one can tell


@pytest.mark.parametrize("index", [(1, 2, 3), (-1, -1, -1), (0, 0, 0)])
@pytest.mark.parametrize("name", ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "float64", "complex64"])
def test_assignment_to_one_element(index, name):
    x = tensix.zeros(2, 3, 4, dtype=getattr(tensix, name))
    view = x[:, ::-1]
    for number in (True, 3, 2.5) if "float" in name or name == "complex64" else (True,):
        version = x.version
        view[index] = number
        assert view[index].item() == number and x.version == version + 1
        assert tensix.count_nonzero(x).item() == 1


def test_assignment_to_one_element_calls_kernels_of_others(x):
    filled = []
    with Library("tensix") as library:
        library.impl("fill_.Scalar", lambda *args: filled.append(args) or args[0], "CPU", allow_override=True)
        x[0, 1, 2] = 5
    assert [(view.shape, value) for view, value in filled] == [((), 5)] and x[0, 1, 2].item() == 6
    with Library("tensix") as library:
        library.impl("index.basic", lambda x, index: x.reshape(-1).select(0, 0), "CPU", allow_override=True)
        x[0, 1, 2] = 5
    assert x[0, 0, 0].item() == 5 and x[0, 1, 2].item() == 6


def test_assignment_to_one_element_that_is_not_there(x):
    for index in [(2, 0, 0), (0, -4, 0), (0, 0, 1 << 70), (0, 0, 0, 0)]:
        with pytest.raises(IndexError):
            x[index] = 1.0
    with pytest.raises(OverflowError, match="300 is out of bounds for uint8"):
        tensix.zeros(1, 1, dtype=tensix.uint8)[0, 0] = 300


def test_assignment_to_one_element_of_memory_that_is_not_written():
    shared = tensix.ones(2, 2)
    clone = shared.lazy_clone()
    clone[0, 0] = 7
    assert shared[0, 0].item() == 1 and clone[0, 0].item() == 7
    x = tensix.asarray(np.frombuffer(bytes(16), np.float32).reshape(2, 2))
    with pytest.raises(RuntimeError, match="read-only"):
        x[0, 0] = 1.0
    assert x.tolist() == [[0, 0], [0, 0]]
    tensix.ones(2, 2, device="meta")[0, 0] = 1.0  # has nowhere to write
