"""Advanced indexing: what is refused, what overlaps, what owns its bytes; values are compared in the property tests."""

import threading

import numpy as np
import pytest

import tensix
from tensix import from_numpy
from tensix.dispatch import dispatcher

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
MASK = [[True, False, True, False], [False] * 4, [True] * 4]


@pytest.fixture
def array():
    return np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def x(array):
    """Return a tensor of elements 0 to 11 that owns its bytes."""
    return tensix.tensor(array)


@pytest.mark.parametrize("key", [
    [0, 2], [], [[]], (slice(None), [1, 1]), ([0, 1], [2, 3]), ([[0], [1]], [0, 1]), True, False, np.True_, (True, 0),
    [True, False, True], MASK, np.array(MASK), np.array(1), (np.array(1), slice(None)), (np.array(1), np.array(2)),
    ([0, 1], slice(None, None, -2)), (..., [0]), (None, [0], None), ([0, 2], None, 1), (0, None, [1, 2]), (0, [1]),
    (np.int8(0), [1, 2]), range(2), (range(2), ...), [np.int64(1), 0], ((0, 1), (2, 3)), ([True] * 3, [0]),
    (slice(np.int8(1), None), [0]), np.array([1, 2], ">i4"), np.ma.array([0, 1]), (False, [0]), [-1, -3],
])  # fmt: skip
def test_numpys_meaning(x, array, key):
    found, expected = x[key], np.asarray(array[key])
    assert (found.shape, found.tolist(), found.dtype) == (expected.shape, expected.tolist(), x.dtype)
    assert not found.is_alias_of(x) and not found.readonly
    x[key], array[key] = -5, -5
    assert x.tolist() == array.tolist()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_tensors_are_positions(x, array, dtype):
    """Also those of uint8, which PyTorch takes for a mask."""
    positions = tensix.tensor([2, 0, 2], dtype=dtype)
    assert x[positions].tolist() == array[[2, 0, 2]].tolist()
    assert x[1, positions[::-1]].tolist() == [6.0, 4.0, 6.0]
    assert x[positions[1]].tolist() == array[0].tolist() and x[positions[1]].shape == (4,)
    assert x[[positions[0], positions[1]]].tolist() == array[[2, 0]].tolist()


def test_bool_tensors_are_masks(x, array):
    mask = tensix.tensor(MASK)
    assert x[mask].tolist() == array[np.array(MASK)].tolist()
    assert x[..., mask[0]].tolist() == array[:, MASK[0]].tolist() and x[mask[0, 0]].shape == (1, 3, 4)
    x[mask] = tensix.zeros(6)
    assert x[mask].tolist() == [0.0] * 6 and x[1].tolist() == array[1].tolist()


@pytest.mark.parametrize("key, text", [
    ([3], "index 3 is out of bounds for dimension 0 with size 3"), ((0, [-5]), "index -5 is out of bounds .* size 4"),
    (tensix.tensor([2**64 - 1], dtype="uint64"), "out of bounds for dimension 0 with size 3"), (([0], 4), "index 4"),
    ([True, False], "boolean index did not match indexed tensor along dimension 0; size of dimension is 3"),
    (np.ones((3, 5), bool), "along dimension 1"), (([0], [0], [0]), "too many indices"), ((..., [0], ...), "ellipsis"),
    (np.ones((1, 1, 1), bool), "too many indices"), (([0, 1], [0, 1, 2]), "could not be broadcast"), (1.0, "float"),
    (tensix.ones(2), "found tensor of float32"), (tensix.empty(2, dtype="bfloat16"), "found tensor of bfloat16"),
    (np.ones(2), "found ndarray of float64"), ([0.5], "found list of float64"), ("0", "found str"), (b"0", "bytes"),
    (([0], "a"), "found str"), ([[1], [2, 3]], "different lengths"), ([None], "found list"), ({1: 2}, "found dict"),
    ([2**70], "found list"),
    (([0], 2**70), "out of bounds for dimension 1"), (([0], -(2**70)), "out of bounds"),
    (np.array(["a"]), "found ndarray of <U1"), (object(), "object"),
    (1j, "found complex"), ((0, 1.0), "found float"), ([slice(1)], "found list"),
])  # fmt: skip
def test_refused_keys(x, array, key, text):
    for use in (lambda: x[key], lambda: x.__setitem__(key, 1)):
        with pytest.raises(IndexError, match=text):
            use()
    assert x.tolist() == array.tolist()


def test_a_list_in_itself_is_refused(x):
    key = []
    key.append(key)
    for use in (lambda: x[key], lambda: x[key, 0], lambda: dispatcher.get_op_table("index.Tensor")(x, key)):
        with pytest.raises(IndexError):
            use()


@pytest.mark.parametrize("key, value, error", [
    ([0, 1], np.ones(3), ValueError), (MASK, [1, 2], ValueError), (MASK, np.ones((6, 6)), ValueError),
    ([0], None, TypeError), ([0], "a", TypeError), ([0], 1j, TypeError), ([0], np.ones(4) * 1j, TypeError),
    (np.array(MASK), np.complex64(1), TypeError), ([0], tensix.ones(1, dtype="complex64"), TypeError),
    ([0], [[1, 2], [3]], ValueError), ([0], np.array(["a"]), TypeError), ([0], tensix.Tensor(), RuntimeError),
    ([0, 9], 5, IndexError), (([0, 1, 2, -4], 0), [1, 2, 3, 4], IndexError), (([[0, 1, 3]], slice(2)), 5, IndexError),
])  # fmt: skip
def test_refused_assignment_writes_nothing(x, array, key, value, error):
    with pytest.raises(error):
        x[key] = value
    assert x.tolist() == array.tolist() and x.storage().use_count() == 2


@pytest.mark.parametrize("key", [[0], ([0, 1], [0, 1]), True, np.ones((3, 4), bool), np.array(0)])
def test_memory_that_is_not_written(array, key):
    array.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        from_numpy(array)[key] = 1
    row = tensix.zeros(4)
    with pytest.raises(RuntimeError, match="more than one element"):
        row.expand(3, 4)[key] = 1
    assert row.tolist() == [0.0] * 4 and array.ravel().tolist() == list(range(12))


# ---- overlap


def assigned(key, values):
    """Return what an array of 0 to 9 is after an assignment of copies."""
    expected = np.arange(10)
    expected[key.copy()] = values.copy()
    return expected.tolist()


def test_source_and_keys_that_are_the_target():
    base = np.arange(10)
    order = np.array([3, 1, 4, 0, 5, 9, 2, 6, 8, 7])
    odd, even = base % 2 == 1, base % 2 == 0
    for make in (tensix.tensor, lambda array: from_numpy(array.copy())):
        x = make(base)
        x[make(order)] = x
        assert x.tolist() == assigned(order, base)
        x = make(base)
        x[odd] = x[make(even)]
        assert x.tolist() == assigned(odd, base[even])
        x = make(base)
        x[order[:9]] = x[1:]
        assert x.tolist() == assigned(order[:9], base[1:])
        i = make(order)
        i[i] = i[::-1]
        expected = order.copy()
        expected[order] = order[::-1].copy()
        assert i.tolist() == expected.tolist()
        i = make(order)
        i[i] = 0
        assert i.tolist() == [0] * 10
        mask = make(odd)
        mask[mask] = False
        assert mask.tolist() == [False] * 10


def test_key_over_the_targets_bytes_in_another_storage():
    array = np.array([3, 1, 4, 0, 2])
    x = from_numpy(array)
    x[array] = array[::-1]
    expected = np.zeros(5, int)
    expected[[3, 1, 4, 0, 2]] = [2, 0, 4, 1, 3]
    assert x.tolist() == expected.tolist()


# ---- copy-on-write


@pytest.mark.parametrize("key", [[0], np.array(MASK), ([0, 2], [1, 1])])
def test_only_the_target_gets_bytes_of_its_own(x, array, key):
    clone = x.lazy_clone()
    read = clone[key]
    assert clone.data_ptr() == x.data_ptr() and clone.is_cow()
    clone[key] = x[key] + 100
    assert x.tolist() == array.tolist() and clone[key].tolist() == (read + 100).tolist()
    assert clone.data_ptr() != x.data_ptr()


def test_lazy_clone_as_its_sources_key_and_value():
    x = tensix.tensor([2, 0, 1])
    x[x.lazy_clone()] = x.lazy_clone()
    assert x.tolist() == [0, 1, 2]


# ---- types


def bits(*numbers):
    """Return a tensor of bfloat16 of these bits."""
    array = np.array(numbers, np.uint16)
    x = tensix.Tensor.from_storage(from_numpy(array).storage(), 0, (len(numbers),), (1,), tensix.bfloat16)
    assert x.data_ptr() == array.ctypes.data
    return x, array


def test_bfloat16_moves_as_it_is():
    x, array = bits(0x3F80, 0x7FC1, 0xFFFF, 0x0001)
    y, found = bits(0, 0)
    y.copy_(x[[2, 1]])
    assert x[[2, 1]].dtype is tensix.bfloat16 and found.tolist() == [0xFFFF, 0x7FC1]
    x[[True, False, False, True]] = y
    assert array.tolist() == [0xFFFF, 0x7FC1, 0xFFFF, 0x7FC1]


@pytest.mark.parametrize("to", ["int8", "uint64", "float16", "float64", "complex64", "bool"])
@pytest.mark.parametrize("origin", ["int32", "float32", "bool", "uint8"])
def test_values_are_converted(to, origin):
    values = np.array([1, 0, 3]).astype(origin)
    x = tensix.zeros(5, dtype=to)
    x[[4, 0, 1]] = from_numpy(values)
    assert x[[4, 0, 1]].tolist() == values.astype(to).tolist()


# ---- operators


def test_the_operators_by_name(x, array):
    get, put = (dispatcher.get_op_table(name) for name in ("index.Tensor", "index_put_"))
    assert get(x, ([0], 1)).tolist() == [1.0] and not get(x, 0).is_alias_of(x)
    assert put(x, (..., 0), tensix.zeros(3)) is x and x[:, 0].tolist() == [0.0] * 3
    with pytest.raises(TypeError, match="'values' must be Tensor"):
        put(x, 0, 5)


@pytest.mark.parametrize("place", [lambda key: [key, 0], lambda key: (key, [0]), lambda key: (slice(key, 3), [0])])
def test_a_key_that_shrinks_the_tensor(place):
    x = tensix.ones(3000, 4)

    class Key:
        def __index__(self):
            x.storage().resize_(0)
            return 1

    for use in (lambda: x[place(Key())], lambda: x.__setitem__(place(Key()), 1)):
        with pytest.raises((RuntimeError, IndexError)):
            use()


def test_results_outlive_what_they_were_taken_from(array):
    found = tensix.tensor(array)[[2, 0], 1:3]
    assert found.lazy_clone().tolist() == found.clone().tolist() == [[9.0, 10.0], [1.0, 2.0]]


def test_two_threads_read_and_write_parts_of_their_own():
    x = tensix.zeros(2, 50_000, dtype="int64")
    order = tensix.tensor(np.random.default_rng(1).permutation(50_000))
    errors = []

    def work(row):
        try:
            for turn in range(20):
                x[row, order] = order + turn
                assert x[row][order].tolist() == (order + turn).tolist()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(row,)) for row in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and x[0].tolist() == x[1].tolist() == list(range(19, 50_019))


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
def test_what_is_selected_lies_as_the_source_does(itemsize):
    dtype = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}[itemsize]
    a = np.arange(600).astype(dtype).reshape(20, 30)
    deep = a.reshape(4, 5, 30).T
    x, places = from_numpy(a), [3, -1, 0, 3]
    t = tensix.tensor(places)
    for view, array in ((x.T, a.T), (x[:, ::2].T, a[:, ::2].T), (from_numpy(deep), deep)):
        assert np.array_equal(view[t], array[places]) and not view[t].is_contiguous()
        assert np.array_equal(view[..., t], array[..., places])
        assert np.array_equal(tensix.take(view, t, axis=1), array.take(places, 1))
    assert x.T[:, t].stride() == (1, 30) and x.T[t].stride() == (1, 4)
    for view in (x, x[::-1], x[:, ::3], x[:1].expand(20, 30)):
        assert view[t].is_contiguous() and view[:, t].is_contiguous()
        assert np.array_equal(view[:, t], view.numpy()[:, places])


@pytest.mark.parametrize("count", [1024, 1025, 60_000])
@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
def test_many_positions(count, dtype):
    """More than fit on the stack, and so many that threads share them."""
    rng = np.random.default_rng(count)
    array = rng.integers(0, 100, (5, 40, 3)).astype(dtype)
    rows, columns = rng.integers(-5, 5, count), rng.integers(-40, 40, count).astype("i1")
    for base in (array, array[:, ::-1], np.asfortranarray(array)):
        x, keys = from_numpy(base.copy(order="K")), (from_numpy(rows), from_numpy(columns))
        assert np.array_equal(x[keys], base[rows, columns]) and np.array_equal(x[0, keys[1]], base[0, columns])
        expected = base.copy(order="K")
        expected[rows, columns] = 1
        x[keys] = 1
        assert np.array_equal(x, expected)


def test_transposed_values_are_written(array):
    x, t = tensix.tensor(np.zeros((4, 3), np.float32)), tensix.tensor([2, 0, 3])
    x.T[t[:2]] = 1.0
    x[t] = from_numpy(array).T[t]
    expected = np.zeros((4, 3), np.float32)
    expected.T[[2, 0]] = 1.0
    expected[[2, 0, 3]] = array.T[[2, 0, 3]]
    assert np.array_equal(x, expected)
