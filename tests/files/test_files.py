"""`load` and `save`: the format by the suffix, every type there and back, and files that are replaced at one stroke."""

import os
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pytest

import tensix
from tensix import Tensor, TensorFile, load, save

pytestmark = pytest.mark.usefixtures("nothing_left")


def same(x, y):
    return x.shape == y.shape and x.dtype == y.dtype and x.tolist() == y.tolist()


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".SafeTensors", ".NPZ"])
@pytest.mark.parametrize("mode", ["r", "c", None])
def test_dicts_there_and_back(tmp_path, tensors, suffix, mode):
    path = tmp_path / f"x{suffix}"
    save(path, tensors)
    with load(path, mode) as loaded:
        assert isinstance(loaded, TensorFile) and set(loaded) == set(tensors)
        for name, x in tensors.items():
            assert same(loaded[name], x), name
            assert loaded[name].readonly == (mode == "r")
            assert (loaded[name].allocator is None) == (mode is not None and x.numel() > 0), name


def test_tensors_there_and_back(tmp_path, tensors):
    for name, x in tensors.items():
        save(tmp_path / "x.npy", x)
        assert same(load(tmp_path / "x.npy"), x), name
        assert np.load(tmp_path / "x.npy").tolist() == x.tolist()
    save(tmp_path / "x.npy", tensors["turned"])
    assert load(tmp_path / "x.npy").stride() == tensors["turned"].stride()


def test_types_of_one_format_only(tmp_path):
    save(tmp_path / "x.safetensors", {"x": tensix.ones(3, dtype="bfloat16")})
    assert load(tmp_path / "x.safetensors")["x"].dtype == tensix.bfloat16
    save(tmp_path / "x.npy", tensix.ones(3, dtype="complex128"))
    assert load(tmp_path / "x.npy").dtype == tensix.complex128
    for name, dtype in (("x.npy", "bfloat16"), ("x.npz", "bfloat16"), ("x.safetensors", "complex128")):
        x = tensix.ones(2, dtype=dtype)
        with pytest.raises(TypeError, match=dtype):
            save(tmp_path / f"new.{name[2:]}", x if name == "x.npy" else {"x": x})
    assert sorted(os.listdir(tmp_path)) == ["x.npy", "x.safetensors"]


@pytest.mark.parametrize("suffix, obj, error", [
    (".npy", {"x": 1}, TypeError), (".npz", 1, TypeError), (".safetensors", [1], TypeError), (".pt", 1, ValueError),
    ("", 1, ValueError), (".npz", {1: 1}, TypeError), (".safetensors", {None: 1}, TypeError),
    (".npz", {"a\0b": 1}, ValueError), (".safetensors", {"__metadata__": 1}, ValueError),
    (".safetensors", {"\ud800": 1}, ValueError), (".npz", {"\ud800": 1}, ValueError), (".npy", ["text"], TypeError),
    (".npy", object(), TypeError), (".npz", {"x": None}, TypeError), (".npy", tensix.ones(2, device="meta"), TypeError),
    (".npy", tensix.sparse_coo_tensor([[0]], [1.0], (2,)), TypeError),
])  # fmt: skip
def test_what_cannot_be_saved(tmp_path, suffix, obj, error):
    path = tmp_path / f"x{suffix}"
    path.write_text("as it was")
    with pytest.raises(error):
        save(path, obj)
    assert path.read_text() == "as it was" and os.listdir(tmp_path) == [path.name]


def test_arrays_and_lists_are_saved_too(tmp_path):
    save(tmp_path / "x.npz", {"array": np.arange(3), "list": [1.5, 2.5], "number": 3})
    loaded = load(tmp_path / "x.npz")
    assert [loaded[name].tolist() for name in loaded] == [[0, 1, 2], [1.5, 2.5], 3]


def test_unknown_suffixes_and_options(tmp_path):
    with pytest.raises(ValueError, match=r"there are .npy, .npz, .safetensors"):
        load(tmp_path / "x.bin")
    for call in (lambda: load(5), lambda: save(None, 1), lambda: save(tmp_path / "x.npy", 1, compress=True)):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(FileNotFoundError):
        save(tmp_path / "nowhere" / "x.npy", 1)


# ---- replaced at one stroke


@pytest.fixture(params=["without a name", "with a name", "refused without a name"])
def new_file(request, monkeypatch):
    """Write new files as Linux can, as other systems do, and as file systems want that refuse the first."""
    if request.param == "with a name":
        monkeypatch.delattr(os, "O_TMPFILE")
    elif request.param == "refused without a name":
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)  # a folder is not opened for writing


@pytest.mark.usefixtures("new_file")
def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    save(path, {"x": tensix.ones(3)})
    before = path.read_bytes()

    class Full(Exception):
        pass

    def fails(*arguments):
        raise Full

    for place in ("fsync", "replace"):
        monkeypatch.setattr(os, place, fails)
        with pytest.raises(Full):
            save(path, {"y": tensix.zeros(300)})
        monkeypatch.undo()
        assert path.read_bytes() == before and os.listdir(tmp_path) == ["x.npz"]


@pytest.mark.usefixtures("new_file")
def test_a_tensor_is_saved_to_the_file_it_is_mapped_from(tmp_path):
    for name in ("x.npy", "x.safetensors", "x.npz"):
        path = tmp_path / name
        wrap = (lambda x: x) if name == "x.npy" else (lambda x: {"x": x})
        save(path, wrap(tensix.arange(1000)))
        old = load(path)
        old = old if isinstance(old, Tensor) else old["x"]
        save(path, wrap(old[::-1]))
        new = load(path)
        new = new if isinstance(new, Tensor) else new["x"]
        assert (old[0].item(), new[0].item()) == (0, 999)


@pytest.mark.usefixtures("new_file")
def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "x.npy", tmp_path / "link.npy"
    save(path, 1)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    link.symlink_to("x.npy")
    save(link, 2)
    assert link.is_symlink() and load(path).item() == 2 and stat.S_IMODE(path.stat().st_mode) == 0o640


def needs_root():
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")


@pytest.fixture
def as_anybody():
    """Give a folder, and go on without the rights of root."""
    with tempfile.TemporaryDirectory() as folder:  # not below pytest's, which is root's alone
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
            os.setegid(65534)
            os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(os.getuid())
            os.setegid(os.getgid())


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.safetensors"])
@pytest.mark.usefixtures("new_file")
def test_a_file_that_may_not_be_written_is_not_replaced(as_anybody, name):
    path, value = os.path.join(as_anybody, name), 1 if name == "x.npy" else {"x": 1}
    save(path, value)
    before = os.stat(path)
    os.chmod(path, 0o444)
    with pytest.raises(PermissionError) as refused:
        os.truncate(path, 0) if name != "x.npy" else np.save(path, np.ones(3))
    with pytest.raises(PermissionError) as found:
        save(path, value)
    assert (found.value.errno, found.value.filename) == (refused.value.errno, path)
    assert os.stat(path).st_ino == before.st_ino and os.listdir(as_anybody) == [name]


@pytest.mark.usefixtures("new_file")
def test_a_folder_that_may_not_be_written_is_named(as_anybody):
    save(f"{as_anybody}/x.npy", 1)
    os.chmod(as_anybody, 0o555)
    with pytest.raises(PermissionError, match="in this folder") as found:
        save(f"{as_anybody}/x.npy", 2)
    assert found.value.filename == as_anybody and load(f"{as_anybody}/x.npy").item() == 1
    os.chmod(as_anybody, 0o755)


@pytest.mark.usefixtures("new_file")
def test_owner_and_group_stay(tmp_path):
    needs_root()
    save(tmp_path / "x.npy", 1)
    os.chmod(tmp_path / "x.npy", 0o6640)
    os.chown(tmp_path / "x.npy", 1234, 5678)
    save(tmp_path / "x.npy", 2)
    found = (tmp_path / "x.npy").stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 5678, 0o640)


def list_of_access(user):
    """Return an attribute that lets the owner and another user read and write, and nobody else."""
    entries = [(0x01, 6, 0xFFFFFFFF), (0x02, 6, user), (0x04, 0, 0xFFFFFFFF), (0x10, 6, 0xFFFFFFFF),
               (0x20, 0, 0xFFFFFFFF)]  # fmt: skip
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


@pytest.fixture
def attributes(tmp_path):
    """Skip a test where files have no extended attributes."""
    try:
        os.setxattr(tmp_path, "user.any", b"")
    except (AttributeError, OSError) as error:
        pytest.skip(f"the system has no extended attributes here: {error}")


@pytest.mark.usefixtures("new_file", "attributes")
def test_extended_attributes_stay(tmp_path):
    """Lists of access are among them: one that the folder gives to new files gives nobody access to the old one."""
    kept, plain = tmp_path / "kept.npy", tmp_path / "plain.npy"
    for path in (kept, plain):
        save(path, 1)
    os.setxattr(kept, "user.origin", b"the sea")
    os.setxattr(kept, "system.posix_acl_access", list_of_access(1234))
    os.setxattr(tmp_path, "system.posix_acl_default", list_of_access(4321))
    mode = kept.stat().st_mode
    for path in (kept, plain):
        save(path, 2)
    assert os.getxattr(kept, "user.origin") == b"the sea" and kept.stat().st_mode == mode
    assert os.getxattr(kept, "system.posix_acl_access") == list_of_access(1234)
    assert os.listxattr(plain) == [] and load(kept).item() == 2


@pytest.mark.usefixtures("new_file", "attributes")
def test_what_does_not_stay_is_named(tmp_path, monkeypatch):
    needs_root()
    path = tmp_path / "x.npy"
    save(path, 1)
    path.chmod(0o664)
    os.chown(path, 1234, 5678)
    os.setxattr(path, "user.origin", b"the sea")

    def refuse(*arguments):
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(os, "setxattr", refuse)
    with pytest.warns(RuntimeWarning, match=r"owner 1234 \(not permitted\), group 5678 .*, attribute user") as told:
        save(path, 2)
    assert told[0].filename == __file__
    assert load(path).item() == 2 and stat.S_IMODE(path.stat().st_mode) == 0o644  # a group that was not meant reads
    os.chmod(path, 0o600)
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning):
        monkeypatch.undo()
        os.setxattr(path, "user.origin", b"the sea")
        monkeypatch.setattr(os, "setxattr", refuse)
        warnings.simplefilter("error")
        save(path, 3)
    assert load(path).item() == 2 and os.listdir(tmp_path) == ["x.npy"]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="the system has no files without names")
def test_nothing_is_left_of_a_save_that_is_killed(tmp_path):
    script = """
import os, signal, sys
from tensix._support.atomic_write import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    path = tmp_path / "x.npy"
    save(path, 1)
    finished = subprocess.run([sys.executable, "-c", script, path], check=False, timeout=60)
    assert finished.returncode == -signal.SIGKILL and os.listdir(tmp_path) == ["x.npy"] and load(path).item() == 1


def test_what_is_no_file_is_not_replaced(tmp_path):
    (tmp_path / "x.npy").mkdir()
    with pytest.raises(IsADirectoryError):
        save(tmp_path / "x.npy", 1)
    os.mkfifo(tmp_path / "y.npy")
    with pytest.raises(ValueError, match="not a regular file"):
        save(tmp_path / "y.npy", 1)
    assert stat.S_ISFIFO((tmp_path / "y.npy").stat().st_mode)


# ---- nothing is read before it is touched

RESIDENT = """
import sys, numpy as np, tensix
from numpy.lib import format as npy_format

def resident(path):
    lines, total = open("/proc/self/smaps").read().splitlines(), 0
    for i, line in enumerate(lines):
        if line.endswith(path):
            total += next(int(one.split()[1]) for one in lines[i:] if one.startswith("Rss:"))
    return total << 10

path, nbytes = sys.argv[1], 6 << 30
with open(path, "wb") as file:
    if path.endswith(".npy"):
        npy_format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (nbytes // 4,)})
    elif path.endswith(".safetensors"):
        text = b'{"x":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}}' % (nbytes // 4, nbytes)
        text += b" " * (-len(text) % 8)
        file.write(len(text).to_bytes(8, "little") + text)
    file.truncate(file.tell() + nbytes)
before = tensix.CPUAllocator.bytes_in_use()
x = tensix.from_file(path) if path.endswith(".bin") else tensix.load(path)
if not isinstance(x, tensix.Tensor):
    file, x = x, x["x"]
assert x.nbytes == nbytes and resident(path) <= 1 << 17, resident(path)
assert x[1 << 30].item() == 0.0 and 0 < resident(path) <= 1 << 22, resident(path)
part = x[5::1 << 26]
assert part.tolist() == [0.0] * len(part) and resident(path) <= 1 << 26
assert tensix.CPUAllocator.bytes_in_use() - before < 1 << 16
print("done")
"""


@pytest.mark.parametrize("name", ["x.npy", "x.safetensors", "x.bin"])
def test_six_gigabytes_take_no_memory(tmp_path, name):
    command = [sys.executable, "-c", RESIDENT, str(tmp_path / name)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "done\n", "")
    (tmp_path / name).unlink()


def test_a_folder_that_may_be_written_but_not_listed(tmp_path, monkeypatch):
    """The file is there by then: that its name cannot be flushed to the disk is no failure."""
    ours = os.open

    def refuse_folders(path, *args):
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", path)
        return ours(path, *args)

    monkeypatch.setattr(os, "open", refuse_folders)
    tensix.save(tmp_path / "x.npy", tensix.ones(2))
    monkeypatch.undo()
    assert tensix.load(tmp_path / "x.npy").tolist() == [1, 1]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        tensix.save(tmp_path / "no" / "x.npy", tensix.ones(2))
    assert caught.value.filename == str(tmp_path / "no")
