"""The .safetensors format: what other writers write, the order and alignment of what we write, and hostile headers."""

import json

import numpy as np
import pytest

import tensix
from tensix import FileFormatError, load, save
from tensix.files import safetensors

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.safetensors"


def written(path, header, data=b"", length=None):
    """Write a file of any header, independently of our own writer."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    length = len(text) if length is None else length
    path.write_bytes((length % 2**64).to_bytes(8, "little") + text + data)
    return path


def described(code="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": code, "shape": list(shape), "data_offsets": list(offsets)}


def parsed(path):
    """Read a file's header, independently of our own reader; return it and where the data begins."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:start]), start


NUMPY_TYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "u2", "I16": "i2", "U32": "u4", "I32": "i4", "U64": "u8", "I64": "i8",
    "F16": "f2", "F32": "f4", "F64": "f8", "C64": "c8",
}  # fmt: skip


@pytest.mark.parametrize("code", NUMPY_TYPES)
def test_types(path, code):
    array = np.arange(6).astype(NUMPY_TYPES[code]).reshape(2, 3)
    written(path, {"x": described(code, (2, 3), (0, array.nbytes))}, array.tobytes())
    x = load(path)["x"]
    assert (x.tolist(), x.dtype.numpy, x.readonly) == (array.tolist(), array.dtype, True)
    save(path, {"x": x})
    header, start = parsed(path)
    assert header == {"x": described(code, (2, 3), (0, array.nbytes))} and path.read_bytes()[start:] == array.tobytes()


def test_bfloat16(path):
    written(path, {"x": described("BF16", (2,), (0, 4))}, b"\x80\x3f\x00\xc0")
    x = load(path)["x"]
    assert x.dtype == tensix.bfloat16 and x.tolist() == [1.0, -2.0]
    save(path, {"x": x})
    assert path.read_bytes().endswith(b"\x80\x3f\x00\xc0") and parsed(path)[0]["x"]["dtype"] == "BF16"


FOREIGN = {"F4": (4, 2), "F6_E2M3": (4, 3), "F6_E3M2": (8, 6), "F8_E4M3": (3, 3), "F8_E5M2": (3, 3), "F8_E8M0": (3, 3)}


@pytest.mark.parametrize("code", FOREIGN)
def test_types_that_tensix_has_not(path, code):
    count, nbytes = FOREIGN[code]
    header = {"x": described(code, (count,), (0, nbytes)), "y": described("U8", (1,), (nbytes, nbytes + 1))}
    written(path, header, bytes(range(nbytes)) + b"\x09")
    file = load(path)
    assert list(file) == ["x", "y"] and file["y"].tolist() == [9]
    entry, obstacle = file.entry("x")
    assert (entry.type_name, entry.shape, entry.nbytes, entry.dtype) == (code, (count,), nbytes, None)
    assert obstacle == "no element type of tensix" and file.entry("y")[1] is None
    offset = 8 + len(json.dumps(header))
    with pytest.raises(TypeError, match=rf'{code} .* from_file\(path, {nbytes}, dtype="uint8", offset={offset}\)'):
        file["x"]
    assert tensix.from_file(path, nbytes, dtype="uint8", offset=offset).tolist() == list(range(nbytes))


def test_metadata_and_names(path):
    metadata = {"format": "pt", "empty": "", "ä": "\n"}
    names = ["", "a.b", "ä€😀", "../../etc/passwd", "\x1b[31m", "a\0b"]
    save(path, dict.fromkeys(names, tensix.ones(1)), metadata=metadata)
    file = load(path)
    assert file.metadata == metadata and sorted(file) == sorted(names)
    assert parsed(path)[0]["__metadata__"] == metadata
    for wrong in ({"a": 1}, {1: "a"}, {"a": None}):
        with pytest.raises(TypeError, match="str to str"):
            save(path, {}, metadata=wrong)


def test_no_tensors(path):
    save(path, {})
    assert dict(load(path)) == {} and path.stat().st_size % 64 == 0
    assert dict(load(written(path, b"{}"))) == {}


def test_our_order_aligns(path):
    sizes = {"byte": 1, "three": 3, "row": 64, "big": 4096, "odd": 4100, "eight": 8, "none": 0}
    tensors = {name: tensix.zeros(n, dtype="uint8") for name, n in sizes.items()}
    tensors |= {"double": tensix.zeros(3, dtype="float64"), "half": tensix.zeros(5, dtype="float16")}
    save(path, tensors)
    header, start = parsed(path)
    assert start % 64 == 0
    reached = 0
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        assert begin == reached  # the format allows no gap
        assert begin == end or begin % min(64, (end - begin) & -(end - begin)) == 0, name
        reached = end
    file = load(path)
    assert all(x.allocator is None for x in file.values() if x.numel()) and file["double"].data_ptr() % 8 == 0


def test_tensors_of_others_that_are_not_aligned_are_copied(path):
    array = np.arange(3.0)
    header = {"a": described("U8", (1,), (0, 1)), "x": described("F64", (3,), (1, 25))}
    written(path, header, b"\x07" + array.tobytes())
    file = load(path)
    assert file["x"].tolist() == [0, 1, 2] and file["x"].allocator is not None and file["x"].readonly
    assert file["a"].allocator is None and "not aligned to 8 bytes" in file.entry("x")[1]


def test_headers_of_others(path):
    """Spaces behind the header, offsets in any order of names, keys that are not known, tensors without elements."""
    header = {
        "b": described("I8", (2,), (3, 5)), "a": described("I8", (3,), (0, 3)), "e": described("I8", (0, 4), (3, 3)),
        "f": described("F32", (0,), (5, 5)) | {"more": [1.5]}, "g": described("I8", (2**40, 0), (0, 0)),
    }  # fmt: skip
    written(path, json.dumps(header).encode() + b"   ", bytes([1, 2, 3, 4, 5]))
    file = load(path)
    assert [file[name].tolist() for name in "ab"] == [[1, 2, 3], [4, 5]] and file["e"].shape == (0, 4)


GOOD = {"x": described()}
HOSTILE = {
    "no brace": (b"[1]", b""),
    "space before": (b" {}", b""),
    "null": (b"null", b""),
    "not JSON": (b"{'x': 1}", b""),
    "cut JSON": (b'{"x"', b""),
    "two values": (b"{}{}", b""),
    "BOM": (b"\xef\xbb\xbf{}", b""),
    "not UTF-8": (b'{"\xff":1}', b""),
    "half a character": (b'{"\\ud800":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}', b""),
    "UTF-16": ("{}".encode("utf-16"), b""),
    "deep list": (b'{"x":' + b"[" * 100_000, b""),
    "deep object": (b'{"x":' * 100_000, b""),
    "deep and closed": (b'{"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}", b""),
    "name twice": (b'{"x":%b,"x":%b}' % ((json.dumps(described()).encode(),) * 2), bytes(8)),
    "key twice": (b'{"x":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}', bytes(8)),
    "metadata twice": (b'{"__metadata__":{},"__metadata__":{}}', b""),
    "metadata is a list": ({"__metadata__": ["a"]}, b""),
    "metadata of numbers": ({"__metadata__": {"a": 1}}, b""),
    "metadata is null": ({"__metadata__": None}, b""),
    "NaN in metadata": (b'{"__metadata__":{"a":NaN}}', b""),
    "NaN in a shape": (b'{"x":{"dtype":"F32","shape":[NaN],"data_offsets":[0,8]}}', bytes(8)),
    "Infinity in offsets": (b'{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,Infinity]}}', bytes(8)),
    "entry is a number": ({"x": 5}, bytes(8)),
    "entry is a list": ({"x": [1, 2, 3]}, bytes(8)),
    "entry is a string": ({"x": "dtype"}, bytes(8)),
    "no type": ({"x": {"shape": [2], "data_offsets": [0, 8]}}, bytes(8)),
    "no shape": ({"x": {"dtype": "F32", "data_offsets": [0, 8]}}, bytes(8)),
    "no offsets": ({"x": {"dtype": "F32", "shape": [2]}}, bytes(8)),
    "unknown type": ({"x": described("F99")}, bytes(8)),
    "type in small letters": ({"x": described("f32")}, bytes(8)),
    "type is a list": ({"x": described(["F32"])}, bytes(8)),
    "type is null": ({"x": described(None)}, bytes(8)),
    "shape is a string": ({"x": GOOD["x"] | {"shape": "2"}}, bytes(8)),
    "shape is a number": ({"x": GOOD["x"] | {"shape": 2}}, bytes(8)),
    "shape is an object": ({"x": GOOD["x"] | {"shape": {"2": 2}}}, bytes(8)),
    "float in the shape": ({"x": described(shape=(2.0,))}, bytes(8)),
    "true in the shape": ({"x": described("F64", (True,))}, bytes(8)),
    "negative size": ({"x": described(shape=(-2,))}, bytes(8)),
    "two negative sizes": ({"x": described(shape=(-1, -2))}, bytes(8)),
    "product beyond 64 bits": ({"x": described(shape=(2**32, 2**32))}, bytes(8)),
    "product that wraps to right": ({"x": described(shape=(2**62 + 1, 2, 2**61))}, bytes(8)),
    "size beyond 64 bits": ({"x": described(shape=(2**70,))}, bytes(8)),
    "size beyond 64 bits and nothing": ({"x": described(shape=(2**70, 0), offsets=(0, 0))}, b""),
    "number of a million digits": (b'{"x":{"dtype":"U8","shape":[' + b"9" * 1_000_000 + b"]}}", b""),
    "65 dimensions": ({"x": described("U8", [1] * 65, (0, 1))}, bytes(1)),
    "a million dimensions": ({"x": described("U8", [1] * 1_000_000, (0, 1))}, bytes(1)),
    "half a byte": ({"x": described("F4", (3,), (0, 2))}, bytes(2)),
    "one offset": ({"x": described(offsets=(0,))}, bytes(8)),
    "three offsets": ({"x": described(offsets=(0, 8, 8))}, bytes(8)),
    "float offsets": ({"x": described(offsets=(0.0, 8.0))}, bytes(8)),
    "text offsets": ({"x": described(offsets=("0", "8"))}, bytes(8)),
    "negative offsets": ({"x": described(offsets=(-8, 0))}, bytes(8)),
    "offsets backwards": ({"x": described(offsets=(8, 0))}, bytes(8)),
    "offsets too far apart": ({"x": described(offsets=(0, 9))}, bytes(9)),
    "offsets too near": ({"x": described(offsets=(0, 7))}, bytes(7)),
    "beyond the end": ({"x": described()}, bytes(7)),
    "far beyond the end": ({"x": described(offsets=(2**63, 2**63 + 8))}, bytes(8)),
    "bytes left over": ({"x": described()}, bytes(9)),
    "bytes left over and no tensors": ({}, bytes(1)),
    "gap at the start": ({"x": described(offsets=(8, 16))}, bytes(16)),
    "gap between": ({"x": described(), "y": described(offsets=(12, 20))}, bytes(20)),
    "same offsets": ({"x": described(), "y": described()}, bytes(8)),
    "overlap": ({"x": described(), "y": described(offsets=(4, 12))}, bytes(12)),
    "empty inside another": ({"x": described(), "y": described(shape=(0,), offsets=(4, 4))}, bytes(8)),
}


@pytest.mark.parametrize("header, data", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("mode", ["r", None])
def test_hostile_header(path, header, data, mode):
    written(path, header, data)
    with pytest.raises(FileFormatError, match=r"x\.safetensors") as failure:
        load(path, mode)
    assert "\n" not in str(failure.value) and len(str(failure.value)) < 1000


@pytest.mark.parametrize("length", [1, 3, 2**20, 100_000_001, 2**31, 2**62, 2**63, 2**64 - 1, 2**64 - 8])
def test_hostile_length(path, length):
    with pytest.raises(FileFormatError, match=r"x\.safetensors"):
        load(written(path, b"{}", length=length))


@pytest.mark.parametrize("kept", [0, 1, 7, 8, 9, 40])
def test_cut_short(path, kept):
    save(path, {"x": tensix.ones(3)})
    content = path.read_bytes()
    for kept_bytes in (kept, len(content) - 1 - kept):
        path.write_bytes(content[:kept_bytes])
        with pytest.raises(FileFormatError):
            load(path)


def test_other_byte_order(path, monkeypatch):
    """What a big-endian machine does, tried here the other way round: both directions swap."""
    monkeypatch.setattr(safetensors, "IS_SWAPPED", True)
    x = {"f": tensix.arange(3, dtype="float32"), "c": tensix.ones(2, dtype="complex64"), "b": tensix.arange(1) == 0}
    save(path, x)
    content = path.read_bytes()
    assert np.arange(3, dtype=">f4").tobytes() in content and np.ones(2, ">c8").tobytes() in content
    assert {name: y.tolist() for name, y in load(path).items()} == {name: y.tolist() for name, y in x.items()}


def test_metadata_that_makes_the_header_too_long(path):
    with pytest.raises(ValueError, match="the header would have"):
        tensix.save(path, {"a": tensix.ones(1)}, metadata={"a": "x" * 100_000_001})
    assert not path.exists()
