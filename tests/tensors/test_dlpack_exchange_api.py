"""The table by which C code exchanges tensors without capsules, ours and other libraries'."""

import ctypes
import gc

import pytest

import tensix
from tensix.core import CPUAllocator


@pytest.fixture
def api(dlpack):
    return dlpack.ExchangeAPI.of(tensix.Tensor)


def exported(api, tensor):
    out = ctypes.c_void_p()
    assert api.export(tensor, ctypes.byref(out)) == 0
    return out.value


def taken(api, address):
    out = ctypes.c_void_p()
    api.take(address, ctypes.byref(out))
    made = ctypes.cast(out, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(made))  # the reference that C code would own
    return made


def test_header(api):
    assert (api.major, api.minor, api.prev_api) == (1, 3, None)


def test_round_trip(api, dlpack):
    gc.collect()
    before = CPUAllocator.bytes_in_use()
    x = tensix.ones(2, 3).T
    address = exported(api, x)
    struct = dlpack.Versioned.from_address(address)
    assert (struct.major, struct.flags, struct.tensor.data) == (1, 0, x.data_ptr())
    y = taken(api, address)
    assert type(y) is tensix.Tensor and y.data_ptr() == x.data_ptr() and y.stride() == (1, 3)
    del x, struct
    assert y.tolist() == [[1, 1]] * 3
    del y
    gc.collect()
    assert CPUAllocator.bytes_in_use() == before


def test_read_only(api, dlpack):
    x = tensix.asarray(b"ab")
    address = exported(api, x)
    assert dlpack.Versioned.from_address(address).flags == 1
    assert taken(api, address).readonly


@pytest.mark.parametrize("version, error", [((2, 0), "version 2.0"), ((1, 0), "4 lanes")])
def test_what_is_not_taken_is_deleted(api, dlpack, version, error):
    producer = dlpack.Producer(version=version, lanes=4)
    with pytest.raises(BufferError, match=error):
        taken(api, ctypes.addressof(producer.struct))
    assert producer.deleted == 1


def test_look(api, dlpack):
    x = tensix.ones(2, 3)
    lazy = x.lazy_clone()
    out = dlpack.DLTensor()
    assert api.look(lazy, ctypes.byref(out)) == 0
    assert out.data == lazy.data_ptr() != x.data_ptr()  # the consumer may write
    assert (out.shape[0], out.shape[1], out.strides[0], out.strides[1]) == (2, 3, 3, 1)


@pytest.mark.parametrize("make, error", [
    (lambda: tensix.asarray(b"ab"), BufferError), (tensix.Tensor, BufferError), (lambda: 3, TypeError),
    (lambda: tensix.empty(2, device="meta"), BufferError),
])  # fmt: skip
def test_what_cannot_be_looked_at(api, dlpack, make, error):
    with pytest.raises(error):
        api.look(make(), ctypes.byref(dlpack.DLTensor()))


@pytest.mark.parametrize("make, error", [(tensix.Tensor, BufferError), (lambda: 3, TypeError)])
def test_what_cannot_be_exported(api, make, error):
    out = ctypes.c_void_p(1)
    with pytest.raises(error):
        api.export(make(), ctypes.byref(out))
    assert out.value is None


def test_stream(api):
    out = ctypes.c_void_p(1)
    assert api.stream(1, 0, ctypes.byref(out)) == 0 and out.value is None


def made(api, dlpack, **fields):
    prototype = dlpack.Producer(**fields).struct.tensor
    errors = []
    out = ctypes.c_void_p(1)
    report = dlpack.SetError(lambda ctx, kind, text: errors.append((kind.decode(), text.decode())))
    return api.make(ctypes.byref(prototype), ctypes.byref(out), None, report), out.value, errors


def test_make(api, dlpack):
    status, address, errors = made(api, dlpack, shape=(2, 3), code=4, bits=16)
    assert (status, errors) == (0, [])
    assert dlpack.Versioned.from_address(address).flags == 2  # nobody else has it
    x = taken(api, address)
    assert x.shape == (2, 3) and x.dtype is tensix.bfloat16 and x.is_contiguous()


@pytest.mark.parametrize("fields, kind", [
    ({"device_type": 2}, "BufferError"), ({"lanes": 2}, "BufferError"), ({"shape": (2**61, 2**61)}, "BufferError"),
    ({"shape": None, "ndim": 2}, "BufferError"), ({"ndim": -1}, "BufferError"),
    ({"shape": (-1,)}, "BufferError"), ({"ndim": 65}, "BufferError"), ({"shape": (2**50,)}, "MemoryError"),
])  # fmt: skip
def test_what_cannot_be_made(api, dlpack, fields, kind):
    status, address, errors = made(api, dlpack, **fields)
    assert status == -1 and address is None and [name for name, _ in errors] == [kind] and errors[0][1]


# ---- the tables of others


def table_of(dlpack, producer, major=1, prev_api=None):
    """Return a class with a table that exports what a producer would."""
    kinds = dict(dlpack.ExchangeAPI._fields_)

    def export(obj, out):
        out[0] = ctypes.addressof(producer.struct)
        return 0

    table = dlpack.ExchangeAPI(major=major, prev_api=prev_api, export=kinds["export"](export))
    capsule = dlpack.PyCapsule_New(ctypes.addressof(table), b"dlpack_exchange_api", None)
    return type("Fast", (), {"__dlpack_c_exchange_api__": capsule, "__dlpack__": producer.__dlpack__, "table": table})


def test_table_is_used(dlpack):
    producer = dlpack.Producer()
    x = tensix.from_dlpack(table_of(dlpack, producer)())
    assert x.data_ptr() == ctypes.addressof(producer.memory) and not hasattr(producer, "asked")
    del x
    assert producer.deleted == 1


def test_table_of_an_earlier_version_is_found(dlpack):
    producer = dlpack.Producer()
    earlier = table_of(dlpack, producer).table
    later = table_of(dlpack, producer, major=2, prev_api=ctypes.addressof(earlier))
    tensix.from_dlpack(later())
    assert producer.deleted == 1 and not hasattr(producer, "asked")


def test_tables_that_are_not_used(dlpack):
    """Of another version, of no table, for gradients, and for copies that the producer may make better."""
    for make, options in (
        (lambda producer: table_of(dlpack, producer, major=2)(), {}),
        (lambda producer: type("No", (), {"__dlpack_c_exchange_api__": 3, "__dlpack__": producer.__dlpack__})(), {}),
        (lambda producer: type("Grad", (table_of(dlpack, producer),), {"requires_grad": True})(), {}),
        (lambda producer: table_of(dlpack, producer)(), {"copy": True}),
    ):
        producer = dlpack.Producer()
        tensix.from_dlpack(make(producer), **options)
        assert hasattr(producer, "asked") and producer.deleted == 1


def test_complex_goes_the_long_way(dlpack):
    """It may be conjugated by a flag, of which a table says nothing."""
    producer = dlpack.Producer(shape=(1,), code=5, bits=64)
    tensix.from_dlpack(table_of(dlpack, producer)())
    assert hasattr(producer, "asked") and producer.deleted == 2  # each way has exported once
