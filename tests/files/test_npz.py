"""The .npz format: NumPy's archives and ours, what is mapped in them, and hostile archives."""

import io
import struct
import warnings
import zipfile
import zlib

import numpy as np
import pytest

import tensix
from tensix import FileFormatError, load, save
from tensix.core import OutOfMemoryError

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.npz"


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def archived(path, members, compression=zipfile.ZIP_STORED):
    """Write an archive of any members, independently of our own writer."""
    with zipfile.ZipFile(path, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about names that occur twice
        for name, content in members:
            archive.writestr(name, content)
    return path


ARRAYS = {
    "f4": np.arange(6, dtype="f4").reshape(2, 3), "column": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "big": np.arange(5, dtype=">i8"), "none": np.zeros((3, 0)), "scalar": np.array(2.5),
    "bool": np.array([True, False]),
}  # fmt: skip


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("mode", ["r", "c", None])
def test_archives_of_numpy(path, write, mode):
    write(path, **ARRAYS)
    file = load(path, mode)
    assert list(file) == list(ARRAYS) and file.metadata == {}
    for name, array in ARRAYS.items():
        x = file[name]
        assert (x.shape, x.tolist(), x.readonly) == (array.shape, array.tolist(), mode == "r"), name
        assert x.dtype.numpy == array.dtype.newbyteorder("=")
    assert file["column"].stride() == (1, 2)


def test_archives_of_ours(path, tensors):
    for compress in (False, True):
        save(path, tensors, compress=compress)
        with np.load(path) as theirs:
            assert {name: theirs[name].tolist() for name in theirs} == {name: x.tolist() for name, x in tensors.items()}
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
        file = load(path)
        for name, x in file.items():
            assert (x.allocator is None) == (not compress and x.numel() > 0), name
            assert compress or x.data_ptr() % 64 == 0, name


def test_same_tensors_give_the_same_file(path, tmp_path):
    for one in (path, tmp_path / "y.npz"):
        save(one, {"x": tensix.ones(3)}, compress=True)
    assert path.read_bytes() == (tmp_path / "y.npz").read_bytes()


def test_large_members_have_large_headers(path, monkeypatch):
    """From 2 GiB on the header before a member is longer, and the padding must know."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    save(path, {"a": tensix.ones(3), "b": tensix.arange(1000), "c": tensix.ones(5)})
    monkeypatch.undo()
    file = load(path)
    assert all(x.allocator is None and x.data_ptr() % 64 == 0 for x in file.values())
    assert file["b"].tolist() == np.load(path)["b"].tolist() == list(range(1000))


def test_names_are_names(path):
    names = ["../../etc/passwd", "/abs", "a/b", "", "ä€", "x.npy", "C:\\x"]
    save(path, dict.fromkeys(names, tensix.ones(1)))
    assert list(load(path)) == names and list(np.load(path)) == names


def test_mapped_where_numpy_happened_to_align(path):
    """The name's length decides where NumPy's elements lie."""
    found = set()
    for length in range(1, 9):
        np.savez(path, **{"n" * length: np.arange(4.0)})
        file = load(path)
        (name,) = file
        assert file[name].tolist() == [0, 1, 2, 3]
        is_mapped = file[name].allocator is None
        assert (file.entry(name)[1] is None) == is_mapped
        found.add(is_mapped)
    assert found == {True, False}


def test_members_that_are_no_tensors_do_not_hide_the_others(path):
    good = npy(np.arange(3))
    archived(path, [
        ("good.npy", good), ("text.txt", "hello"), ("object.npy", npy(np.array([None]), allow_pickle=True)),
        ("date.npy", npy(np.zeros(2, "M8[s]"))), ("short.npy", good[:-1]), ("long.npy", good + b"x"), ("none.npy", b""),
    ])  # fmt: skip
    file = load(path)
    assert file["good"].tolist() == [0, 1, 2] and len(file) == 7
    for name, error in (("text.txt", FileFormatError), ("object", TypeError), ("date", TypeError),
                        ("short", FileFormatError), ("long", FileFormatError), ("none", FileFormatError)):  # fmt: skip
        with pytest.raises(error, match=name):
            file[name]


# ---- hostile archives


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"PK\x03\x04" + bytes(100), b"\x93NUMPY\x01\x00" + bytes(100), bytes(500)]
)
def test_no_archive(path, content):
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"x\.npz"):
        load(path)


def test_empty_archive(path):
    assert dict(load(archived(path, []))) == {}


@pytest.mark.parametrize("members", [[("a.npy", b"1"), ("a.npy", b"2")], [("a.npy", b"1"), ("a", b"2")]])
def test_names_twice(path, members):
    with pytest.raises(FileFormatError, match="'a'"):
        load(archived(path, members))


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions(path, compression):
    with pytest.raises(FileFormatError, match="neither stored nor deflated"):
        load(archived(path, [("a.npy", npy(np.ones(3)))], compression))["a"]


def field(path, signature, offset, form, value):
    """Overwrite a field of the first record with a signature."""
    content = bytearray(path.read_bytes())
    struct.pack_into(form, content, content.index(signature) + offset, value)
    path.write_bytes(content)


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
FIELDS = {
    "encrypted": (CENTRAL, 8, "<H", 1), "strange method": (CENTRAL, 10, "<H", 77), "no header": (LOCAL, 0, "<I", 0),
    "size of 4 GB": (CENTRAL, 24, "<I", 2**32 - 2), "packed size of 4 GB": (CENTRAL, 20, "<I", 2**32 - 2),
    "size of nothing": (CENTRAL, 24, "<I", 0), "one byte more": (CENTRAL, 24, "<I", 153),
    "offset": (CENTRAL, 42, "<I", 7),
    "offset far away": (CENTRAL, 42, "<I", 2**31), "long name before": (LOCAL, 26, "<H", 65535),
    "long extra before": (LOCAL, 28, "<H", 65535), "other name before": (LOCAL, 30, "<B", 98),
}  # fmt: skip


@pytest.mark.parametrize("values", FIELDS.values(), ids=FIELDS)
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_hostile_member(path, values, compression):
    archived(path, [("a.npy", npy(np.arange(3)))], compression)
    field(path, *values)
    with pytest.raises(FileFormatError, match=r"x\.npz"):
        load(path)["a"]


@pytest.mark.parametrize("offset, form, value", [
    (8, "<H", 65535), (10, "<H", 65535), (12, "<I", 2**32 - 2), (16, "<I", 2**32 - 2), (16, "<I", 1), (20, "<H", 60000),
])
def test_hostile_directory(path, offset, form, value):
    """Whatever it says of its own size and place, what comes is an error of the file, or the right numbers."""
    archived(path, [("a.npy", npy(np.arange(3)))])
    field(path, END, offset, form, value)
    try:
        assert load(path)["a"].tolist() == [0, 1, 2]
    except FileFormatError as error:
        assert "x.npz" in str(error)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_wrong_checksum_of_what_is_copied(path, compression):
    archived(path, [("a.npy", npy(np.arange(30_000)))], compression)
    field(path, CENTRAL, 16, "<I", 12345)
    file = load(path)
    if file.entry("a")[1] is None:
        assert file["a"].shape == (30_000,)  # mapped: comparing would fetch every page
    else:
        with pytest.raises(FileFormatError, match="CRC"):
            file["a"]


def test_bombs(path):
    """A member that claims more than it can inflate to, and one that is honest but too large for memory."""
    header = npy(np.zeros(0))
    claimed = header.replace(b"(0,), }" + b" " * 15, b"(%d,), }" % 2**40 + b" " * 5)[: len(header)]
    assert len(claimed) == len(header) and str(2**40).encode() in claimed
    archived(path, [("a.npy", claimed)], zipfile.ZIP_DEFLATED)
    with pytest.raises(FileFormatError, match="speaks of"):
        load(path)["a"]
    path.write_bytes(bomb(claimed, len(header) + 2**43))
    with pytest.raises((FileFormatError, OutOfMemoryError)):
        load(path)["a"]


def bomb(member, claimed):
    """Return an archive whose directory claims a size."""
    packed = zlib.compressobj(wbits=-15)
    data = packed.compress(member) + packed.flush()
    extra = struct.pack("<HHQQ", 1, 16, claimed, len(data))
    common = struct.pack("<HHHHHIIIHH", 45, 0, 8, 0, 33, zlib.crc32(member), 2**32 - 1, 2**32 - 1, 5, len(extra))
    local = LOCAL + common + b"a.npy" + extra + data
    central = CENTRAL + struct.pack("<H", 45) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"a.npy" + extra
    return local + central + END + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


@pytest.mark.parametrize("mode", ["r", "c", None])
def test_a_stored_member_that_claims_the_bytes_behind_it(path, mode):
    """Its own header agrees with the claim: what it would take belongs to the next member."""
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<i8", "fortran_order": False, "shape": (20,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", content.getvalue() + bytes(16))
        archive.writestr("b.npy", content.getvalue() + bytes(160))
    size = len(content.getvalue())
    data = path.read_bytes()
    directory = data.index(b"PK\x01\x02")
    claimed = data[:directory] + data[directory:].replace(
        (size + 16).to_bytes(4, "little") * 2, (size + 16).to_bytes(4, "little") + (size + 160).to_bytes(4, "little"), 1
    )
    path.write_bytes(claimed)
    with pytest.raises(ValueError, match="it is stored with"):
        tensix.load(path, mmap_mode=mode)["a"]


def test_names_that_no_archive_holds(path):
    with pytest.raises(ValueError, match="65,535 bytes"):
        tensix.save(path, {"a" * 70_000: tensix.ones(1)})
