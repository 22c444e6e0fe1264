"""Mapped .npy files: what is read, what is refused, and that nothing is copied."""

import gc
import os
import struct
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.lib import format as npy_format

import tensix
from tensix import CPUAllocator
from tensix.files.npy import load_npy


@pytest.fixture
def path(tmp_path):
    """Return the path of a file that is not there yet."""
    return tmp_path / "x.npy"


def saved(path, array, **options):
    np.save(path, array, **options)
    return load_npy(path)


def with_header(path, header, data=b"", version=(1, 0)):
    """Write a file of any header."""
    header = header if isinstance(header, bytes) else header.encode("utf8")
    header += b" " * (-(len(header) + 11 + 2 * (version[0] > 1)) % 64) + b"\n"
    length = struct.pack("<H" if version[0] == 1 else "<I", len(header))
    path.write_bytes(b"\x93NUMPY" + bytes(version) + length + header + data)
    return path


def described(shape="(3,)", descr="'<f8'", order="False"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


@pytest.mark.parametrize("array", [
    np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(24, dtype="f4").reshape(2, 3, 4)), np.array(2.5),
    np.zeros((0, 3)), np.zeros((3, 0, 2), order="F"), np.array([1 + 2j]), np.array([True, False]), np.arange(9)[::-2],
    np.arange(5, dtype="f2"), np.arange(5, dtype="u8"), np.ones((1,) * 32),
])
def test_what_numpy_saves_is_read(path, array):
    x = saved(path, array)
    assert (x.shape, x.tolist(), x.dtype.numpy) == (array.shape, array.tolist(), array.dtype)
    assert x.readonly
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        assert x.T.is_contiguous() and not x.is_contiguous()
    else:
        assert x.is_contiguous()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(path, version):
    with path.open("wb") as file:
        npy_format.write_array(file, np.arange(4.0), version=version)
    assert load_npy(path).tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("form", [str, os.fspath, lambda path: path])
def test_forms_of_a_path(path, form):
    np.save(path, np.arange(3))
    assert load_npy(form(path)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("type_name", [">f8", ">i2", ">c16", ">c8", ">u4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_other_byte_order_is_copied(path, type_name, order):
    array = np.array([[1, 2, 3], [4, 5, 6]], type_name, order=order)
    x = saved(path, array)
    assert (x.tolist(), x.dtype.numpy, x.readonly) == (array.tolist(), array.dtype.newbyteorder("="), True)
    assert x.allocator is not None and x.stride() == ((3, 1) if order == "C" else (1, 2))
    assert load_npy(path, "c").fill_(1).tolist() == [[1] * 3] * 2
    with pytest.raises(ValueError, match="other order"):
        load_npy(path, "r+")


# ---- mapped


def resident(field="RssAnon"):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(field))


def test_big_file_takes_no_memory(path):
    with path.open("wb") as file:
        npy_format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (1 << 27,)})
        file.truncate(file.tell() + (1 << 30))
    before, in_use = (resident("VmRSS"), resident()), CPUAllocator.bytes_in_use()
    x = load_npy(path)
    part = x.reshape(1 << 10, 1 << 17)[5, ::1000]
    assert part[:3].tolist() == [0.0] * 3 and x.nbytes == 1 << 30
    assert resident("VmRSS") - before[0] < 1 << 26 and resident() - before[1] < 1 << 26
    assert CPUAllocator.bytes_in_use() == in_use and x.allocator is None


def test_address_lies_in_a_mapping_of_the_file(path):
    x = saved(path, np.arange(1000.0))
    with open("/proc/self/maps") as maps:
        lines = [line.split() for line in maps if str(path) in line]
    bounds = [[int(bound, 16) for bound in line[0].split("-")] for line in lines]
    assert any(low <= x.data_ptr() < high for low, high in bounds) and all("w" not in line[1] for line in lines)
    assert x.data_ptr() % 64 == 0
    del x
    with open("/proc/self/maps") as maps:
        assert str(path) not in maps.read()


def test_file_is_closed_at_once(path):
    before = len(os.listdir("/proc/self/fd"))
    tensors = [saved(path, np.arange(3.0)) for _ in range(5)]
    del tensors
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_tensor_outlives_the_file(path):
    row = saved(path, np.arange(6.0).reshape(2, 3))[1]
    path.unlink()
    gc.collect()
    assert row.tolist() == [3.0, 4.0, 5.0]


def test_writing_is_refused_and_copies_can_be_written(path):
    x = saved(path, np.arange(3.0))
    for write in (lambda: x.fill_(1), lambda: x[1:].zero_(), x.mutable_data_ptr, lambda: x.copy_(tensix.ones(3))):
        with pytest.raises(RuntimeError, match="read-only"):
            write()
    for copy in (x.clone(), x.lazy_clone()):
        assert not copy.readonly and copy.fill_(5).tolist() == [5.0] * 3
    assert np.load(path).tolist() == x.tolist() == [0.0, 1.0, 2.0]


def test_lazy_clone_costs_nothing_before_its_first_write(path):
    x = saved(path, np.zeros(1 << 20))
    before = CPUAllocator.bytes_in_use()
    clone = x.lazy_clone()
    assert CPUAllocator.bytes_in_use() == before and clone.data_ptr() == x.data_ptr() and clone.is_cow()
    clone[0] = 1
    assert (clone[0].item(), x[0].item()) == (1.0, 0.0) and clone.data_ptr() != x.data_ptr()


# ---- refused


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_npy(tmp_path / "nothing.npy")
    with pytest.raises(OSError):
        load_npy(tmp_path)


@pytest.mark.parametrize("kept", [0, 3, 6, 8, 10, 60, 127])
def test_file_cut_inside_its_header(path, kept):
    np.save(path, np.arange(3.0))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"x.npy"):
        load_npy(path)


@pytest.mark.parametrize("kept", [128, 129, 151])
def test_file_cut_inside_its_data(path, kept):
    np.save(path, np.arange(3.0))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=rf"x.npy is cut short: 152 bytes are needed, the file has {kept}"):
        load_npy(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04" + bytes(200), b"\x93NUMPX" + bytes(200), bytes(200),
                                     b"\x93NUMPY\x09\x00" + bytes(200), b"\x93NUMPY\x00\x00" + bytes(200)])
def test_file_of_another_kind(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"x.npy"):
        load_npy(path)


HOSTILE = {
    "no dict": "1, 2",
    "empty": "",
    "code": "__import__('os').getcwd()",
    "missing key": "{'descr': '<f8', 'shape': (3,)}",
    "shape is no tuple": described("3"),
    "text in the shape": described("('a',)"),
    "floats in the shape": described("(3.0,)"),
    "negative size": described("(-1,)"),
    "two negative sizes": described("(-1, -1)"),
    "negative and nothing": described("(-1, 0)"),
    "negative product": described("(-3, 1)"),
    "huge size": described("(2305843009213693952,)"),
    "huge product": described("(4294967296, 4294967296)"),
    "more than 64 bits": described(f"({2**70},)"),
    "more than 64 bits and nothing": described(f"({2**70}, 0)"),
    "huge and nothing": described(f"({2**62}, 0, {2**62})"),
    "65 dimensions": described("(" + "1," * 65 + ")"),
    "unknown type": described(descr="'nonsense'"),
    "type is a number": described(descr="5"),
    "type of no bytes": described(descr="'|S0'"),
    "order is no bool": described(order="'yes'"),
    "open bracket": "{'descr': (",
    "open string": "{'descr': '<f8",
    "deep": "(" * 5000,
    "deep signs": "-" * 5000 + "1",
    "too deep for the parser": "-" * 9000 + "1",
    "unhashable key": "{[]: 1}",
    "long": described() + " " * 60000,
    "null byte": "{'descr': '<f8'\x00}",
    "not text": b"\xff\xfe{}",
}


@pytest.mark.parametrize("header", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.filterwarnings("ignore")  # NumPy's, about headers of Python 2
def test_hostile_header(path, header, version):
    with pytest.raises((ValueError, TypeError)) as failure:
        load_npy(with_header(path, header, bytes(4096), version))
    assert "\n" not in str(failure.value)


def test_a_file_is_not_blamed_where_there_is_no_memory(path, monkeypatch):
    tensix.save(path, tensix.ones(3))
    monkeypatch.setattr("numpy.lib.format.read_array_header_1_0", Mock(side_effect=MemoryError))
    with pytest.raises(MemoryError):
        load_npy(path)


def test_header_that_claims_to_be_long(path):
    path.write_bytes(b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b"{}")
    with pytest.raises(ValueError, match=r"x.npy"):
        load_npy(path)


@pytest.mark.parametrize("array, error", [
    (np.array([1, None]), (TypeError, ValueError)), (np.zeros(0, object), (TypeError, ValueError)),
    (np.array(["a"]), TypeError),
    (np.zeros(3, "M8[s]"), TypeError), (np.zeros(3, [("a", "f4")]), TypeError),
    (np.zeros(2, [("a", "f4"), ("b", "i4", (2,))]), TypeError),
])
def test_types_that_tensix_has_not(path, array, error):
    with pytest.raises(error):
        saved(path, array, allow_pickle=True)


def test_what_failed_keeps_nothing_open(path):
    np.save(path, np.zeros(3, "M8[s]"))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(TypeError):
            load_npy(path)
    with open("/proc/self/maps") as maps:
        assert str(path) not in maps.read()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("version", [2, 3])
def test_a_header_of_gigabytes_is_not_read(path, version):
    """The file has them, as a hole: reading them would take as much memory."""
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY" + bytes([version, 0]) + (2**31).to_bytes(4, "little"))
        file.truncate(2**31 + 100)
    with pytest.raises(ValueError, match=r"its header has 2,147,483,648 bytes, and 10,000 are the most"):
        tensix.load(path)
