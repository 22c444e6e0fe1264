"""Tensors over plain addresses: geometry, who frees the memory, and what is refused."""

import ctypes

import pytest

import tensix
from tensix import from_blob

MEMORY = (ctypes.c_float * 12)(*range(12))
ADDRESS = ctypes.addressof(MEMORY)


@pytest.mark.parametrize("first, shape, stride, values", [
    (0, (2, 3), None, [[0, 1, 2], [3, 4, 5]]), (0, [2, 3], [1, 2], [[0, 2, 4], [1, 3, 5]]),
    (2, (3,), (-1,), [2, 1, 0]), (0, (2, 2), (0, 1), [[0, 1], [0, 1]]), (0, (), None, 0),
    (0, 2, None, [0, 1]), (None, (0, 3), None, []), (0, (2, 0), (7, 7), [[], []]),
])  # fmt: skip
def test_geometry(first, shape, stride, values):
    address = 0 if first is None else ADDRESS + 4 * first
    x = from_blob(address, shape, stride=stride, dtype="float32")
    assert x.tolist() == values and x.allocator is None and not x.readonly
    if x.numel():
        assert x.data_ptr() == address


def test_written_through():
    memory = (ctypes.c_int64 * 2)()
    from_blob(ctypes.addressof(memory), 2, dtype=tensix.int64).fill_(7)
    assert list(memory) == [7, 7]


def test_python_deleter():
    freed = []
    x = from_blob(ADDRESS + 8, (3,), stride=(-1,), dtype="float32", deleter=freed.append)
    view = x[1:]
    del x
    assert freed == []
    del view
    assert freed == [ADDRESS + 8]


def test_c_deleter():
    freed = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(freed.append)
    from_blob(ADDRESS, 2, dtype="float32", deleter=function)
    from_blob(ADDRESS, 2, dtype="float32", deleter=ctypes.cast(function, ctypes.c_void_p).value)
    assert freed == [ADDRESS, ADDRESS]


def test_deleter_that_fails(unraisable):
    from_blob(ADDRESS, 2, dtype="float32", deleter=lambda address: 1 / 0)
    assert [type(error) for error in unraisable] == [ZeroDivisionError]


def test_borrowed_memory_is_cloned_at_once():
    assert not from_blob(ADDRESS, 2, dtype="float32").lazy_clone().is_cow()


def test_memory_with_a_c_deleter_is_the_tensors():
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda address: None)
    x = from_blob(ADDRESS, 2, dtype="float32", deleter=function)
    assert x.lazy_clone().is_cow() and x.lazy_clone().data_ptr() == ADDRESS


def test_device():
    assert str(from_blob(ADDRESS, 2, dtype="float32", device="privateuseone:1").device) == "privateuseone:1"


@pytest.mark.parametrize("options, error, text", [
    ({"address": 0}, ValueError, "address is 0"), ({"address": ADDRESS + 1}, ValueError, "not aligned"),
    ({"address": -1}, ValueError, "0 or more"), ({"address": 2**64}, OverflowError, "int"),
    ({"address": "a"}, TypeError, "address"), ({"shape": (-1,)}, ValueError, "0 or more"),
    ({"shape": (2**62, 4)}, ValueError, "overflow"), ({"shape": (2**62,)}, ValueError, "63 bits"),
    ({"shape": (2**64,)}, OverflowError, "int"), ({"shape": (1.5,)}, TypeError, "."), ({"shape": None}, TypeError, "."),
    ({"shape": (1,) * 65}, ValueError, "64 dimensions"), ({"stride": (1, 1)}, ValueError, "stride per dimension"),
    ({"stride": (2**62,)}, ValueError, "63 bits"), ({"dtype": "float8"}, TypeError, "float8"),
    ({"deleter": 1.5}, TypeError, "deleter"), ({"device": "nowhere"}, (ValueError, RuntimeError), "nowhere"),
])  # fmt: skip
def test_what_is_refused(options, error, text):
    """The deleter is not called: the memory stays the caller's."""
    freed = []
    arguments = {"address": ADDRESS, "shape": (2,), "dtype": "float32", "deleter": freed.append} | options
    with pytest.raises(error, match=text):
        from_blob(arguments.pop("address"), arguments.pop("shape"), **arguments)
    assert freed == []
