"""DLPack tensors that go out: their fields, who keeps the memory, and what cannot be exported."""

import ctypes
import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

import tensix
from tensix.core import CPUAllocator


def dims(pointer, count):
    return tuple(pointer[i] for i in range(count))


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("x", [
    tensix.ones(2, 3), tensix.ones(2, 3).T, tensix.ones(4)[::2], tensix.ones(4)[::-1], tensix.ones(()),
    tensix.ones(1, 1, 1, 1, 1, 1, 2), tensix.ones(3)[1:],
], ids=str)  # fmt: skip
def test_fields(dlpack, x, version):
    capsule = x.__dlpack__(max_version=version)
    struct = dlpack.described(capsule)
    tensor = struct.tensor
    assert (tensor.data, tensor.byte_offset, tensor.device_type, tensor.device_id) == (x.data_ptr(), 0, 1, 0)
    assert (tensor.code, tensor.bits, tensor.lanes, tensor.ndim) == (2, 32, 1, x.ndim)
    assert dims(tensor.shape, x.ndim) == x.shape and dims(tensor.strides, x.ndim) == x.stride()
    if version:
        assert (struct.major, struct.minor, struct.flags) == (1, 3, 0)


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), (0, 0)])
def test_without_elements_data_is_null_and_strides_are_not(dlpack, shape):
    capsule = tensix.empty(shape).__dlpack__(max_version=(1, 0))
    tensor = dlpack.described(capsule).tensor
    assert tensor.data is None and bool(tensor.strides) and dims(tensor.shape, len(shape)) == shape


@pytest.mark.parametrize("name, code, bits", [
    ("bool", 6, 8), ("int8", 0, 8), ("int64", 0, 64), ("uint16", 1, 16), ("float16", 2, 16), ("float64", 2, 64),
    ("bfloat16", 4, 16), ("complex64", 5, 64), ("complex128", 5, 128),
])  # fmt: skip
def test_types(dlpack, name, code, bits):
    capsule = tensix.zeros(2, dtype=name).__dlpack__()
    tensor = dlpack.described(capsule).tensor
    assert (tensor.code, tensor.bits, tensor.lanes) == (code, bits, 1)
    assert tensix.asarray(Once(capsule)).dtype.name == name


class Once:
    """Hand out one capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def test_capsule_keeps_the_memory_and_lets_it_go():
    before = CPUAllocator.bytes_in_use()
    capsule = tensix.ones(1000).__dlpack__()
    gc.collect()
    assert CPUAllocator.bytes_in_use() == before + 4000
    del capsule  # never taken in: it deletes the tensor itself
    assert CPUAllocator.bytes_in_use() == before
    array = np.from_dlpack(tensix.full((1000,), 3.0))
    assert array.tolist() == [3.0] * 1000
    del array
    assert CPUAllocator.bytes_in_use() == before


def test_deleter_without_the_gil(dlpack):
    """A foreign function call lets go of the GIL; 8 threads at once."""
    before = CPUAllocator.bytes_in_use()
    structs = []
    for _ in range(800):
        capsule = tensix.ones(100).__dlpack__(max_version=(1, 0))
        struct = dlpack.described(capsule)
        structs.append(ctypes.addressof(struct))
        set_name(capsule, USED)

    def delete(some):
        for address in some:
            function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # no GIL, as CDLL's functions
            function(ctypes.cast(dlpack.Versioned.from_address(address).deleter, ctypes.c_void_p).value)(address)

    threads = [threading.Thread(target=delete, args=(structs[i::8],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert CPUAllocator.bytes_in_use() == before


USED = b"used_dltensor_versioned"
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]


def test_read_only(dlpack):
    x = tensix.asarray(b"ab")
    capsule = x.__dlpack__(max_version=(1, 0))
    assert dlpack.described(capsule).flags == 1
    for options in ({}, {"max_version": (0, 8)}):
        with pytest.raises(BufferError, match=r"max_version=\(1, 0\)"):
            x.__dlpack__(**options)
    array = np.from_dlpack(x)
    assert not array.flags.writeable and array.ctypes.data == x.data_ptr()
    assert np.from_dlpack(Once(x.__dlpack__(copy=True))).tolist() == [97, 98]


def test_copy_is_said_to_be_one(dlpack):
    x = tensix.ones(2)
    capsule = x.__dlpack__(max_version=(1, 0), copy=True)
    struct = dlpack.described(capsule)
    assert struct.flags == 2 and struct.tensor.data != x.data_ptr()


@pytest.mark.parametrize("make", [
    tensix.Tensor, lambda: tensix.empty(2, device="meta"), lambda: tensix.ones(2).to_sparse(),
], ids=["undefined", "meta", "sparse"])  # fmt: skip
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_what_cannot_be_exported(make, version):
    with pytest.raises(BufferError):
        make().__dlpack__(max_version=version)


def test_storage_that_may_not_be_written():
    x = tensix.ones(2)
    x.storage().impl.set_throw_on_mutable_data_ptr()
    with pytest.raises(BufferError, match="not writable"):
        x.__dlpack__()


@pytest.mark.parametrize("options, error", [
    ({"stream": 1}, ValueError), ({"stream": -1}, ValueError), ({"dl_device": (2, 0)}, BufferError),
    ({"dl_device": (1, 1)}, BufferError), ({"max_version": 1}, TypeError),
])  # fmt: skip
def test_wrong_options(options, error):
    with pytest.raises(error):
        tensix.ones(2).__dlpack__(**options)


AT_EXIT = {
    "a capsule": "sys.kept = x.__dlpack__()",
    "a versioned capsule": "sys.kept = x.__dlpack__(max_version=(1, 0))",
    "an array": "sys.kept = numpy.from_dlpack(x)",
    "an import": "sys.producer = Producer(); sys.kept = tensix.from_dlpack(sys.producer)",
    "an import that thread holds": """
sys.producer = Producer()
x = tensix.from_dlpack(sys.producer)
threading.Thread(target=lambda x: time.sleep(60), args=(x,), daemon=True).start()
""",
    "a buffer": "sys.kept = memoryview(x)",
    "a tensor over a buffer": "sys.kept = tensix.asarray(bytearray(100))",
    "an array's base": "sys.kept = x.__array__()",
}


@pytest.mark.parametrize("statement", AT_EXIT.values(), ids=AT_EXIT)
def test_interpreter_ends_quietly(statement):
    code = f"""
import sys, threading, time
sys.path.insert(0, {str(__file__.rpartition('/')[0])!r})
import numpy, tensix
from dlpack_structs import Producer
x = tensix.ones(100)
{statement}
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("version, name", [((), b"dltensor"), ([], b"dltensor"), ((0, 9), b"dltensor"),
                                           ([1, 0], b"dltensor_versioned"), ((2,), b"dltensor_versioned")])
def test_versions_of_any_length(dlpack, version, name):
    assert dlpack.PyCapsule_GetName(tensix.ones(3).__dlpack__(max_version=version)) == name


def test_options_that_say_nothing(dlpack):
    """Names that are made as the program runs are other objects than those that stand in it."""
    nothing = {"".join(name): None for name in (["str", "eam"], ["dl_", "device"], ["co", "py"], ["max_", "version"])}
    x = tensix.ones(3)
    for capsule in (x.__dlpack__(**nothing), x.__dlpack__(stream=None, copy=False), x.__dlpack__(dl_device=(1, 0))):
        assert dlpack.PyCapsule_GetName(capsule) == b"dltensor"
    version = {"".join(["max_", "version"]): (1, 3)}
    for capsule in (x.__dlpack__(**version), x.__dlpack__(copy=None, max_version=(1, 3), dl_device=None)):
        assert dlpack.PyCapsule_GetName(capsule) == b"dltensor_versioned"


@pytest.mark.parametrize("arguments", [((None,), {}), ((), {"version": None}), (((1, 0),), {"copy": None})])
def test_arguments_of_other_kinds(arguments):
    with pytest.raises(TypeError, match="__dlpack__"):
        tensix.ones(3).__dlpack__(*arguments[0], **arguments[1])


def test_method_of_what_is_no_tensor():
    with pytest.raises(TypeError, match="__dlpack__"):
        tensix.Tensor.__dlpack__([1.0])
