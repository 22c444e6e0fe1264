"""asarray and from_dlpack: what is shared, what is copied, what is refused."""

import array as arrays
import pickle

import numpy as np
import pytest

import tensix


class Foreign:
    """Object of another library that has one protocol."""

    def __init__(self, **protocol):
        self.protocol = protocol

    def __getattr__(self, name):
        if name in self.__dict__.get("protocol", {}):
            return self.protocol[name]
        raise AttributeError(name)


# ---- numbers and sequences


@pytest.mark.parametrize("obj, dtype", [
    (True, "bool"), (3, "int64"), (2.5, "float32"), (1j, "complex64"), ([1, 2], "int64"), ([[1.5], [2]], "float32"),
    ([True, 2], "int64"), ([1, 2.5], "float32"), ([1, 2j], "complex64"), ([], "float32"), ((), "float32"),
    ([[], []], "float32"), (range(3), "int64"), (np.float64(2), "float64"), ([np.int8(1), 2], "int8"),
    ([np.float64(1), 2], "float64"), ([np.arange(2.0), [1, 2]], "float64"),
    ([tensix.ones(2, dtype="int8"), tensix.ones(2, dtype="int16")], "int16"), ([tensix.ones(2), [1, 2]], "float32"),
    ([[tensix.ones((), dtype="float64"), 2]], "float64"), ([tensix.ones(2, dtype="int8"), [1.5, 2]], "float32"),
    ((tensix.ones(2, dtype="int64"), np.ones(2, "f4")), "float32"),
])
def test_sequences(obj, dtype):
    x = tensix.asarray(obj)
    plain = [np.asarray(item) for item in obj] if isinstance(obj, (list, tuple)) else obj
    assert str(x.dtype) == dtype and x.tolist() == np.asarray(plain).tolist()
    with pytest.raises(ValueError, match="copy is False"):
        tensix.asarray(obj, copy=False)


@pytest.mark.parametrize("dtype", ["int8", "float64", "complex128", "bool", "bfloat16"])
def test_types(dtype):
    for obj in (1, [0, 1], np.array([0.0, 1.0]), tensix.tensor([0, 1]), bytearray([0, 1])):
        assert str(tensix.asarray(obj, dtype=dtype).dtype) == dtype


@pytest.mark.parametrize("obj, error", [
    ("abc", TypeError), (None, TypeError), ({}, TypeError), (object(), TypeError), ([None], TypeError),
    ([1, "a"], TypeError), ([[1], [2, 3]], ValueError), ([2**70], (TypeError, OverflowError)),
    (np.array(["a"]), TypeError), (np.array([object()]), TypeError), (np.zeros(2, "M8[s]"), TypeError),
])  # fmt: skip
def test_what_holds_no_numbers(obj, error):
    with pytest.raises(error):
        tensix.asarray(obj)


def test_number_beyond_its_type():
    with pytest.raises(OverflowError):
        tensix.asarray(300, dtype="uint8")


# ---- tensors


def test_tensor_is_itself_unless_it_must_change():
    x = tensix.ones(2)
    assert tensix.asarray(x) is x and tensix.asarray(x, copy=False) is x and tensix.asarray(x, dtype="float32") is x
    assert tensix.asarray(x, device="cpu", copy=False) is x
    copied = tensix.asarray(x, copy=True)
    assert not copied.is_alias_of(x) and copied.tolist() == x.tolist()
    assert tensix.asarray(x, dtype="int8").dtype is tensix.int8
    assert str(tensix.asarray(x, device="meta").device) == "meta"
    for options in ({"dtype": "int8"}, {"device": "meta"}):
        with pytest.raises(ValueError, match="copy is False"):
            tensix.asarray(x, copy=False, **options)


# ---- memory of others


SHARING = {
    "array": lambda a: a,
    "memoryview": memoryview,
    "dlpack": lambda a: Foreign(__dlpack__=a.__dlpack__, __dlpack_device__=a.__dlpack_device__),
    "__array__": lambda a: Foreign(__array__=lambda dtype=None, copy=None: a),
}


@pytest.mark.parametrize("share", SHARING.values(), ids=SHARING)
def test_memory_is_shared(share):
    array = np.arange(6.0).reshape(2, 3)[:, ::2]
    if share is SHARING["dlpack"]:
        obj = type("Foreign", (), {"__dlpack__": staticmethod(array.__dlpack__),
                                   "__dlpack_device__": staticmethod(array.__dlpack_device__)})()
    else:
        obj = share(array)
    for copy in (None, False):
        x = tensix.asarray(obj, copy=copy)
        assert x.data_ptr() == array.ctypes.data and x.tolist() == array.tolist() and x.dtype is tensix.float64
    array[0, 0] = 7
    assert x[0, 0].item() == 7
    copied = tensix.asarray(obj, copy=True)
    assert copied.data_ptr() != array.ctypes.data and copied.tolist() == array.tolist() and not copied.readonly


@pytest.mark.parametrize("obj, values", [(b"ab", [97, 98]), (bytearray(b"ab"), [97, 98]),
                                         (arrays.array("d", [1, 2]), [1.0, 2.0]), (memoryview(b"ab"), [97, 98])])
def test_buffers(obj, values):
    x = tensix.asarray(obj)
    assert x.tolist() == values and x.readonly == memoryview(obj).readonly


def test_read_only_memory_stays_so():
    array = np.zeros(2)
    array.flags.writeable = False
    x = tensix.asarray(array)
    assert x.readonly and not tensix.asarray(array, copy=True).readonly
    with pytest.raises(RuntimeError):
        x.fill_(1)


def test_shared_memory_is_never_copied_lazily():
    """Others who have the memory may write it."""
    array = np.zeros(2)
    lazy = tensix.asarray(array).lazy_clone()
    array[0] = 1
    assert lazy.tolist() == [0.0, 0.0]


def test_memory_stays_alive():
    x = tensix.asarray(np.full(1000, 3.0))
    assert x.tolist() == [3.0] * 1000


@pytest.mark.parametrize("array", [
    np.arange(3, dtype=">i4"), np.frombuffer(bytes(9), np.uint8)[1:].view("f4"),
    np.zeros(3, np.dtype([("a", "i1"), ("b", "f4")]))["b"],
], ids=["byte order", "alignment", "stride"])
def test_arrays_that_cannot_be_looked_at_are_copied(array):
    x = tensix.asarray(array)
    assert x.tolist() == array.tolist()
    with pytest.raises(ValueError, match="copy is False"):
        tensix.asarray(array, copy=False)


def test_subclass_with_failing_protocol():
    def fail(dtype=None, copy=None):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tensix.asarray(Foreign(__array__=fail))


# ---- DLPack


def test_from_dlpack():
    array = np.arange(3.0)
    x = tensix.from_dlpack(array)
    x[0] = 5
    assert array[0] == 5 and x.dtype is tensix.float64
    assert tensix.from_dlpack(array, copy=True).data_ptr() != array.ctypes.data
    assert str(tensix.from_dlpack(array, device="meta").device) == "meta"
    with pytest.raises(ValueError):
        tensix.from_dlpack(array, device="meta", copy=False)


def test_from_dlpack_of_what_does_not_speak_it():
    for obj in (3, [1], b"a"):
        with pytest.raises(TypeError, match="__dlpack__"):
            tensix.from_dlpack(obj)


def test_objects_are_told_that_nothing_may_be_copied():
    class Copies:
        def __array__(self, dtype=None, copy=None):
            if copy is False:
                raise ValueError("it takes a copy to make me an array")
            return np.array([1, 2])

    with pytest.raises(ValueError, match="it takes a copy"):
        tensix.asarray(Copies(), copy=False)
    assert tensix.asarray(Copies()).tolist() == tensix.asarray(Copies(), copy=True).tolist() == [1, 2]


def foreign_memory():
    """Return objects over memory of others, which they can write."""
    array = np.arange(5.0)
    numbers = arrays.array("d", array)
    return {"array": array, "DLPack": OnlyDlpack(array), "buffer": memoryview(array), "array.array": numbers}


class OnlyDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("kind", foreign_memory())
def test_a_clone_of_immutable_memory_copies_at_the_first_write(kind):
    obj = foreign_memory()[kind]
    assert not tensix.asarray(obj).lazy_clone().is_cow()
    x = tensix.asarray(obj, immutable=True)
    assert x.readonly and x.tolist() == [0, 1, 2, 3, 4]
    with tensix.memory.statistics() as counted:
        one, other = x.lazy_clone(), x.lazy_clone()
    assert counted.total_bytes == 0 and one.is_cow() and not one.readonly
    assert one.storage().data_ptr() == x.storage().data_ptr()
    one += 1
    assert (one.tolist(), other.tolist(), x.tolist()) == ([1, 2, 3, 4, 5], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4])
    with pytest.raises(RuntimeError, match="read-only"):
        x += 1
    del x, one
    other[0] = 7
    assert other.tolist() == [7, 1, 2, 3, 4]


def test_what_immutable_does_not_change():
    own = tensix.ones(3)
    assert tensix.asarray(own, immutable=True) is own and not own.readonly
    assert not tensix.asarray([1, 2], immutable=True).readonly
    assert tensix.asarray(np.ones(3), dtype="float32", immutable=True).lazy_clone().is_cow()
    assert not tensix.asarray(np.ones(3), copy=True, immutable=True).readonly
    foreign = tensix.asarray(np.ones(3))
    with pytest.raises(ValueError, match="may be written"):
        tensix.asarray(foreign, immutable=True)
    assert not foreign.readonly
    foreign.storage().readonly = True
    assert tensix.asarray(foreign, immutable=True) is foreign and foreign.lazy_clone().is_cow()
    tensix.asarray(tensix.empty(3, device="meta"), immutable=True)


def test_a_tensor_over_a_received_buffer_can_be_promised():
    data = pickle.dumps(tensix.arange(5), protocol=5, buffer_callback=(buffers := []).append)
    kept = bytearray(buffers[0].raw())
    x = pickle.loads(data, buffers=[memoryview(kept).toreadonly()])
    assert x.readonly and not x.lazy_clone().is_cow()
    y = tensix.asarray(x, immutable=True).lazy_clone()
    assert y.is_cow()
    y[0] = 9
    assert (y.tolist(), x.tolist(), kept[0]) == ([9, 1, 2, 3, 4], [0, 1, 2, 3, 4], 0)
