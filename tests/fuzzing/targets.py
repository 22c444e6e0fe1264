"""What is fuzzed: functions of bytes that end in a valid result, looked at closely, or in a documented exception.

A target returns True for a valid result and False for what was refused; anything else that it raises is a defect.
"""

import ctypes
import io
import json
import math
import os
import pickle
import tempfile
from pathlib import Path

import numpy as np

import tensix
from tensix.core import OutOfMemoryError
from tensix.dispatch.schema import parse_schema
from tensix.memory import load_snapshot

FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
MOST_BYTES = 1 << 20  # of a tensor whose elements are read: a header may ask for terabytes, and get zeros
TYPES = ["bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"]


class Numbers:
    """Take numbers out of bytes; 0 when none are left."""

    EDGES = (-(2**63), -(2**31), 2**31 - 1, 2**31, 2**32, 2**61, 2**62, 2**63 - 1)

    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self, below=256):
        value = self.data[self.at] if self.at < len(self.data) else 0
        self.at += 1
        return value % below

    def number(self):
        """Return a number of 64 bits: mostly a small one, at times one at an edge."""
        value = self.byte()
        return self.EDGES[value % 8] if 120 <= value < 136 else value - 256 if value > 127 else value


def is_small(x):
    """Return whether a tensor can be read: its elements, and the lists of them, which no element may be in."""
    return math.prod(size or 1 for size in x.shape) * x.itemsize <= MOST_BYTES


def use(x):
    """Touch every element, in ways that would run out of bounds if shape, type or values were not what they seem."""
    assert x.numel() == math.prod(x.shape)
    if x.layout is not tensix.strided or x.device.type != "cpu" or not is_small(x):
        return
    assert x.clone().shape == x.shape
    x.tolist()
    count = int(tensix.count_nonzero(x))
    if x.ndim:
        assert len(tensix.nonzero(x)[0]) == count
    if x.dtype == tensix.bool:
        assert len(tensix.ones(*x.shape)[x]) == count


def schema(data):
    """What is read can be written, and read again as the same."""
    try:
        found = parse_schema(data.decode("utf-8", "replace"))
    except ValueError:
        return False
    again = parse_schema(str(found))
    assert again == found and again.is_same_call(found) and hash(again) == hash(found)
    names = [argument.name for argument in found.arguments]
    assert len(set(names)) == len(names)
    return True


def file_target(suffix):
    """Return the target of a file format: what can be loaded can be used, saved, and loaded again as the same."""

    def target(data):
        path = Path(FOLDER.name) / f"x{suffix}"
        path.write_bytes(data)
        descriptors = len(os.listdir("/proc/self/fd"))
        is_valid = read_file(path, ("r", "c", None)[sum(data) % 3])
        assert len(os.listdir("/proc/self/fd")) == descriptors
        return is_valid

    return target


def read_file(path, mode):
    try:
        loaded = tensix.load(path, mode)
        tensors = [loaded[name] for name in loaded] if isinstance(loaded, dict) else [loaded]
    except (tensix.FileFormatError, OutOfMemoryError):
        return False
    except TypeError as error:
        assert "not an element type of tensix" in str(error)
        return False
    for x in tensors:
        use(x)
        if is_small(x):
            saved = path.with_name("again.npy")
            tensix.save(saved, x)
            again = tensix.load(saved, None)
            assert (again.dtype, again.shape) == (x.dtype, x.shape) and repr(again.tolist()) == repr(x.tolist())
    return True


def snapshot(data):
    """What can be loaded has a text, a page and advice, and is the same after it was saved."""
    path, page = Path(FOLDER.name) / "x.json", Path(FOLDER.name) / "x.html"
    path.write_bytes(data)
    try:
        loaded = load_snapshot(path)
    except ValueError:
        return False
    text = repr(loaded)
    assert text.startswith("Snapshot(")
    loaded.advice()
    try:
        loaded.save(page)
        loaded.save(path)
    except ValueError as error:  # what it does not know may be no JSON: NaN
        assert "JSON" in str(error)
        return False
    except UnicodeEncodeError:  # surrogates, which JSON may have and UTF-8 has not
        return False
    assert load_snapshot(path) == loaded
    return True


class Unpickler(pickle.Unpickler):
    """Find what pickles of tensors name, and nothing else: pickle itself would run what they name."""

    def find_class(self, module, name):
        if f"{module}.{name}" in REDUCERS:
            return super().find_class(module, name)
        raise pickle.UnpicklingError("another name")


REDUCERS = {
    "functools.partial", "tensix.Device", "tensix.Tensor", "tensix.Tensor.from_storage", "tensix._storage_of_bytes",
    "tensix._storage_over", "tensix.bfloat16", "tensix.empty_strided", "tensix.sparse_coo_tensor",
    *(f"tensix.{name}" for name in tensix.__array_namespace_info__().dtypes()),
}  # fmt: skip
# Of pickle's own reader, whatever it meets, and of calls with arguments that do not fit.
REFUSED_BY_PICKLE = (
    pickle.UnpicklingError, ValueError, TypeError, IndexError, KeyError, EOFError, AttributeError, RuntimeError,
    BufferError, OverflowError, MemoryError, ImportError,
)  # fmt: skip


def reducers(data):
    """What can be unpickled can be used, and pickled again."""
    try:
        loaded = Unpickler(io.BytesIO(data)).load()
    except REFUSED_BY_PICKLE:
        return False
    if type(loaded) is not tensix.Tensor or not loaded.defined():
        return False
    use(loaded)
    if loaded.layout is tensix.strided and is_small(loaded):
        again = pickle.loads(pickle.dumps(loaded, 5))
        assert (again.dtype, again.shape, again.readonly) == (loaded.dtype, loaded.shape, loaded.readonly)
    return True


# ---- DLPack. The structs are those of the standard, see https://dmlc.github.io/dlpack/latest/c_api.html.


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("ctx", ctypes.c_void_p), ("deleter", Deleter),
        ("flags", ctypes.c_uint64), ("tensor", DLTensor),
    ]  # fmt: skip


NewCapsule = ctypes.pythonapi.PyCapsule_New
NewCapsule.restype, NewCapsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
DELETED = []
DELETER = Deleter(DELETED.append)
MEMORY = (ctypes.c_uint8 * 8192)(*(n % 2 for n in range(8192)))
MIDDLE = (ctypes.addressof(MEMORY) + 4096) & ~63


def capsules(data):
    """What is taken in is what the struct says; its deleter is called once, or never if it was refused."""
    take = Numbers(data)
    managed = Managed(1 if take.byte() < 250 else take.byte(), take.byte(), None, DELETER, take.byte(4))
    tensor = managed.tensor
    tensor.device_type, tensor.device_id = (1 if take.byte() < 250 else take.number()) & 0x7FFFFFFF, 0
    tensor.code, tensor.bits, tensor.lanes = take.byte(8), 8 * (1 << take.byte(5)), 1 if take.byte() < 250 else 3
    tensor.byte_offset = take.byte() * 4
    tensor.data = MIDDLE if take.byte() < 250 else 0
    ndim = take.byte(5) if take.byte() < 250 else take.byte(70) - 2
    count = max(ndim, 0)
    sizes, strides = [take.number() for _ in range(count)], [take.number() for _ in range(count)]
    tensor.ndim = ndim
    arrays = (ctypes.c_int64 * max(count, 1))(*sizes), (ctypes.c_int64 * max(count, 1))(*strides)
    tensor.shape = arrays[0]
    has_strides = take.byte() < 200
    if has_strides:
        tensor.strides = arrays[1]
    capsule = NewCapsule(ctypes.addressof(managed), b"dltensor_versioned", None)
    producer = type("Producer", (), {"__dlpack__": lambda self, **_: capsule, "__dlpack_device__": lambda self: (1, 0)})
    DELETED.clear()
    try:
        x = tensix.from_dlpack(producer())
    except BufferError:
        assert not DELETED
        return False
    assert list(x.shape) == sizes and x.readonly == bool(managed.flags & 1) and x.itemsize * 8 == tensor.bits
    assert x.numel() == 0 or x.data_ptr() == MIDDLE + tensor.byte_offset
    if not has_strides:
        strides = list(tensix.empty(*sizes, dtype=x.dtype, device="meta").stride())
    if x.numel() > 1:
        meant = [(size, step) for size, step in zip(sizes, strides, strict=True) if size > 1]
        assert [(size, step) for size, step in zip(x.shape, x.stride(), strict=True) if size > 1] == meant
        reach = [(size - 1) * step * x.itemsize for size, step in meant]
        if all(-3000 < sum(r for r in reach if sign * r > 0) < 3000 for sign in (1, -1)):
            use(x)  # no consumer can know how much memory there is
    assert not DELETED
    del x
    assert len(DELETED) == 1
    return True


def array_interface(data):
    """What NumPy takes for an array becomes a tensor of its shape, strides and elements."""
    take = Numbers(data)
    interface = {"version": 3 if take.byte() < 250 else take.number()}
    interface["typestr"] = "<>|="[take.byte(4)] + [*TYPES, "b1", "V4", "M8", "S3", "O", "f16", "U2"][take.byte(21)]
    ndim = take.byte(5) if take.byte() < 250 else take.byte(70)
    interface["shape"] = tuple(take.number() for _ in range(ndim))
    if take.byte() < 128:
        interface["strides"] = tuple(take.number() for _ in range(ndim))
    address, is_readonly = MIDDLE + take.byte(64), bool(take.byte(2))
    interface["data"] = (address, is_readonly)
    foreign = type("Foreign", (), {"__array_interface__": interface})()
    steps = interface.get("strides", (0,) * ndim)
    width = int("0" + "".join(filter(str.isdigit, interface["typestr"]))) * 4 or 1
    reach = [(abs(size) - 1) * abs(step) for size, step in zip(interface["shape"], steps, strict=True)]
    if interface["typestr"][1:] == "O" or sum(reach) + width * abs(math.prod(interface["shape"])) > 3000:
        interface["shape"] = tuple(-abs(size) - 1 for size in interface["shape"])  # memory that is not there
    try:
        array = np.asarray(foreign)
    except (ValueError, TypeError, OverflowError, MemoryError):
        array = None
    try:
        x = tensix.asarray(foreign)
    except (ValueError, TypeError, OverflowError, MemoryError):
        return False
    assert array is not None and x.shape == array.shape, interface
    assert not is_small(x) or repr(x.tolist()) == repr(array.tolist()), interface
    if array.size:
        assert x.readonly == is_readonly or x.data_ptr() != address
    use(x)
    return True


def key_of(take, sizes):
    """Return one part of an index: a number, slice, mask, or integers, that may fit the size or not."""
    kind, size = take.byte(9), sizes[0] if sizes else 1
    small = lambda: take.byte(9) - 4  # noqa: E731
    if kind == 0:
        return take.number() if take.byte(8) == 0 else small()
    if kind in {1, 2}:
        parts = [None if take.byte(3) == 0 else take.number() if take.byte(16) == 0 else small() for _ in range(3)]
        return slice(*parts)
    if kind == 3:
        return None
    if kind == 4:
        return Ellipsis
    if kind == 5:
        return np.array([take.byte(2) for _ in range(size if take.byte(8) else size + 1)], bool)
    if kind == 6:
        return np.array([small() for _ in range(take.byte(4))], "i8") % max(size + take.byte(2), 1)
    if kind == 7:
        return [small() for _ in range(1 + take.byte(3))]
    return bool(take.byte(2))


def indexing(data):
    """Elements that are read or written are NumPy's; what NumPy refuses is refused."""
    take = Numbers(data)
    shape = tuple(take.byte(4) for _ in range(take.byte(4)))
    array = np.arange(math.prod(shape), dtype="f4").reshape(shape)
    twin = tensix.asarray(array.copy())
    keys, left = [], list(shape)
    for _ in range(take.byte(5)):
        keys.append(key_of(take, left))
        left = left[1:]
    key = keys[0] if len(keys) == 1 and take.byte(2) else tuple(keys)
    ours = tuple(map(of_tensix, key)) if isinstance(key, tuple) else of_tensix(key)
    try:
        expected = np.asarray(array[key])
    except (IndexError, ValueError, TypeError):
        expected = None
    try:
        found = twin[ours]
    except (IndexError, ValueError, TypeError) as error:
        assert expected is None, (key, shape, error)
        return False
    assert expected is not None, (key, shape, found)
    assert found.shape == expected.shape and found.tolist() == expected.tolist(), (key, shape)
    array[key], twin[ours] = -1, -1
    assert twin.tolist() == array.tolist(), (key, shape)
    return True


def of_tensix(part):
    return tensix.asarray(part) if isinstance(part, np.ndarray) else part


TARGETS = {
    "schema": schema, "npy": file_target(".npy"), "npz": file_target(".npz"),
    "safetensors": file_target(".safetensors"), "snapshot": snapshot, "reducers": reducers, "capsules": capsules,
    "array_interface": array_interface, "indexing": indexing,
}  # fmt: skip


def seeds():
    """Return inputs that are valid, by their targets: what our own writers make, and bytes that encode structs."""
    folder = Path(FOLDER.name)
    rows = tensix.arange(6, dtype="float32").reshape(2, 3)
    several = {"a": rows, "b": tensix.arange(4) % 2 == 0, "c": tensix.zeros(0, 3)}
    made = {name: [] for name in TARGETS}
    lines = sorted(tensix.dispatch.dispatcher.operators())[::12]
    made["schema"] = [str(tensix.dispatch.dispatcher.get_op_table(name).schema).encode() for name in lines]
    made["schema"] += [b"x::f.o(int[2] n=[0, 1], *, str s='a', Tensor(a!)? out=None, Scalar? c=1j) -> Tensor(a!)"]
    for x in (rows, rows.T, several["b"], several["c"], tensix.zeros(()), tensix.asarray([1j, 2])):
        tensix.save(folder / "s.npy", x)
        made["npy"].append((folder / "s.npy").read_bytes())
    for options in ({}, {"compress": True}):
        tensix.save(folder / "s.npz", several, **options)
        made["npz"].append((folder / "s.npz").read_bytes())
    for options in ({}, {"metadata": {"a": "b"}}):
        tensix.save(folder / "s.safetensors", several, **options)
        made["safetensors"].append((folder / "s.safetensors").read_bytes())
    with tensix.memory.record() as recording:
        x = tensix.ones(1000)
        y = x.lazy_clone()
        y += 1
        recorded = recording.snapshot()
    for frame in recorded["frames"]:
        frame["file"] = Path(frame["file"]).name
        frame.pop("source", None)
    recorded["program"] = "program"
    resident = {"time_ns": [0, 5], "nbytes": [1000, 2000]}
    other = recorded | {"pid": 3, "name": "worker", "offset_ns": 7, "ended": False, "resident": resident}
    for one in (recorded, recorded | {"resident": resident, "processes": [other]}):
        made["snapshot"].append(json.dumps(one).encode())
    readonly = tensix.asarray(b"abc")
    for x in (rows, rows[:, ::2], rows.lazy_clone(), readonly, tensix.zeros(2, 2, device="meta"), rows.to_sparse()):
        made["reducers"] += [pickle.dumps(x, protocol) for protocol in (4, 5)]
    made["capsules"] = [bytes([0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 2, 2, 3, 3, 1, strides]) for strides in (0, 255)]
    made["capsules"] += [bytes([0, 3, 1, 0, 1, 0, 0, 4, 0, 0, 1, 7, 255, 0]), bytes([0, 3, 2, 0, 5, 3])]
    made["array_interface"] = [bytes([0, 0, kind, 0, 2, 2, 3, 255, 0, kind % 2]) for kind in range(1, 14, 3)]
    made["array_interface"] += [bytes([0, 0, 10, 0, 2, 2, 3, 0, 4, 8, 0, 0]), bytes([0, 1, 5, 0, 1, 3, 0, 254, 4, 1])]
    made["indexing"] = [bytes([2, 2, 3, n % 3 + 1, *(n * k % 256 for k in range(1, 24))]) for n in range(1, 40, 3)]
    return made


# What mutations put in: marks and words of the formats, and numbers at edges.
WORDS = {
    "schema": [b"Tensor", b"(a!)", b"?", b"[]", b"[2]", b"=", b"->", b"*", b", ", b"::", b"int", b"'", b'"', b"None",
               b"\\x", b"[0, 1]", b"1e5", b"(", b")", b"bool", b"str"],
    "npy": [b"'descr'", b"'<f4'", b"'|b1'", b"'>c16'", b"True", b"(", b"-1", b"9" * 19, b"'shape'", b"{", b"}", b","],
    "npz": [b"PK\3\4", b"PK\1\2", b"PK\5\6", b"PK\6\6", b".npy", b"\x08\0", b"/../", b"'shape'"],
    "safetensors": [b'"dtype"', b'"F32"', b'"BF16"', b'"shape"', b"[", b"]", b"[0,0]", b"-1", b"__metadata__", b"1e9",
                    b"9" * 19, b'"data_offsets"', b"{", b"}", b"null", b"true"],
    "snapshot": [b"null", b"true", b"-1", b"1e999", b"NaN", b"[]", b"{}", b"0", b'""', b'"\\ud800"', b"9" * 20, b"1.5",
                 b'"processes"', b'"advice"', b'"resident"', b'"operators"', b"[[0]]", b'"kind"'],
    "reducers": [b"R", b"t", b"K\xff", b"J\xff\xff\xff\x7f", b"N", b")", b"\x85", b"\x86", b"b", b"]", b"0", b"2",
                 b"M\xff\xff", b"\x8a\x08" + b"\xff" * 7 + b"\x7f", b"C\4abcd", b"\x88"],
}  # fmt: skip
