"""Each claim of docs/security.rst has its tests; those that no other folder has are here, in the page's order."""

import builtins
import ctypes
import errno
import functools
import io
import json
import linecache
import os
import pickle
import re
import shutil
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensix
from tensix import FileFormatError, load, save
from tensix.__main__ import main
from tensix._support import atomic_write
from tensix.files.shared_memory import share
from tensix.memory import CachingAllocator, SharedMemoryAllocator, Snapshot, load_snapshot, record
from tensix.profiling import advice

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.rst").read_text(encoding="utf-8")
OBEYED = "\x1b]0;title\x07\x1b[2J"  # what a terminal takes for orders


# ---- the page itself


def test_every_claim_names_its_tests():
    """In a comment below it, which readers of the page do not see."""
    items = re.findall(r"^\* (?:.|\n(?=  |\n  ))+", PAGE, re.M)
    assert len(items) > 25
    assert [item.partition("\n")[0] for item in items if "\n  .. tests: " not in item] == []


def test_the_tests_that_are_named_are_there():
    named = re.findall(r"([\w/]+\.py)::(\w+)", " ".join(re.findall(r"^  \.\. tests: (.*(?:\n     .*)*)", PAGE, re.M)))
    assert len(named) > 50
    missing = [
        f"{file}::{test}"
        for file, test in named
        if not re.search(rf"^def {test}\(", (ROOT / "tests" / file).read_text(encoding="utf-8"), re.M)
    ]
    assert missing == []
    own = set(re.findall(r"^def (test_\w+)", Path(__file__).read_text(encoding="utf-8"), re.M))
    assert {"test_every_claim_names_its_tests", "test_the_tests_that_are_named_are_there"} == own - {
        test for file, test in named if file == "docs/test_security.py"
    }


def run(code, *arguments):
    """Run code in a process of its own and return it, finished."""
    environment = os.environ | {"PYTHONPATH": str(Path(tensix.__file__).parents[1]), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8",
        check=False, env=environment, timeout=120,
    )  # fmt: skip


# ---- files

WATCHED = """
import os, sys
import tensix, tensix.__main__, tensix.profiling.advice, tensix.profiling.timeline
from tensix.memory import load_snapshot
folder, files = sys.argv[1], sys.argv[2:]
events = []
def use():
    for path in files:
        try:
            if path.endswith(".json"):
                load_snapshot(path).save(os.path.join(folder, "page.html"))
                continue
            tensix.__main__.main(["inspect", path])
            loaded = tensix.load(path)
            for name in loaded if isinstance(loaded, dict) else ():
                try:
                    loaded[name]
                except (ValueError, TypeError):
                    pass
        except (ValueError, TypeError):
            pass
use()  # what Python imports when it is first needed is not the file's doing
sys.addaudithook(lambda event, arguments: events.append(event))
use()
print(sorted(set(events)), file=sys.stderr)
"""


class Obeyed:
    """A pickle of it would run a command."""

    def __reduce__(self):
        return os.system, ("true",)


@pytest.fixture
def strangers(tmp_path):
    """Return files with code in all places that could hold some."""
    code = "__import__('os').system('true')"
    np.save(tmp_path / "object.npy", np.array([Obeyed()], object), allow_pickle=True)
    np.savez(tmp_path / "object.npz", x=np.array([Obeyed()], object), y=np.ones(3))
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Obeyed()))
    for name, text in {"code": code, "type": f"{{'descr': {code}, 'fortran_order': False, 'shape': (1,)}}"}.items():
        header = f"{text}\n".encode()
        content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8)
        (tmp_path / f"{name}.npy").write_bytes(content)
    save(tmp_path / "good.safetensors", {code: tensix.ones(2)}, metadata={code: code})
    with record() as recording:
        x = tensix.ones(1000)
    snapshot = recording.snapshot() | {"program": code}
    del x
    for frame in snapshot["frames"]:
        frame["function"] = code
    (tmp_path / "snapshot.json").write_text(json.dumps(snapshot))
    return sorted(tmp_path.iterdir())


def test_no_code_of_a_file_runs(strangers, tmp_path):
    """Python tells what runs, unpickles, imports or starts something. Literals are compiled, and not run."""
    done = run(WATCHED, tmp_path, *strangers)
    events = done.stderr.splitlines()[-1]
    assert done.returncode == 0 and "'open'" in events and "'compile'" in events
    forbidden = r"exec|import|pickle\.\w+|marshal\.\w+|os\.(?:system|exec|posix_spawn|fork\w*)|subprocess\.\w+"
    assert re.findall(f"'({forbidden})'", events) == []


def test_tensix_reads_no_pickle():
    """Only `multiprocessing` does, of processes that the program starts itself."""
    found = {
        path.relative_to(ROOT).as_posix()
        for path in [*ROOT.glob("tensix/**/*.py"), *ROOT.glob("tensix/**/*.pyx")]
        if re.search(r"pickle\.loads?\b|Unpickler|marshal|allow_pickle=True", path.read_text(encoding="utf-8"))
    }
    assert found == set()


def claims(folder):
    """Return small files whose headers promise gigabytes."""
    shape = (1 << 33,)
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".encode()
    npy = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    (folder / "x.npy").write_bytes(npy)
    for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(folder / f"{name}.npz", "w", method) as archive:
            archive.writestr("x.npy", npy)
    text = json.dumps({"x": {"dtype": "F64", "shape": shape, "data_offsets": [0, 8 * shape[0]]}}).encode()
    (folder / "x.safetensors").write_bytes(len(text).to_bytes(8, "little") + text)
    (folder / "long.safetensors").write_bytes((1 << 26).to_bytes(8, "little") + b"{")
    return [path for path in folder.iterdir() if path.suffix in (".npy", ".npz", ".safetensors")]


@pytest.mark.parametrize("mode", ["r", None])
def test_no_size_of_a_header_is_believed(tmp_path, mode):
    for path in claims(tmp_path):
        with tensix.memory.statistics() as statistics, pytest.raises(FileFormatError):
            loaded = load(path, mode)
            loaded["x"]
        assert statistics.peak_bytes < 1 << 20, path


def test_what_a_deflated_member_can_take(tmp_path):
    """As much as deflate can make of its bytes, and no more."""
    path = tmp_path / "x.npz"
    save(path, {"x": tensix.zeros(1 << 20, dtype="uint8")}, compress=True)
    size = path.stat().st_size
    with tensix.memory.statistics() as statistics:
        load(path)["x"]
    assert 1 << 20 <= statistics.peak_bytes <= 1032 * size
    with zipfile.ZipFile(path) as archive:
        packed = archive.infolist()[0].compress_size
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02") + 24
    content[at : at + 4] = (1032 * (packed + 1) + 1).to_bytes(4, "little")
    path.write_bytes(content)
    with tensix.memory.statistics() as statistics, pytest.raises(FileFormatError, match="cannot inflate"):
        load(path)["x"]
    assert statistics.peak_bytes == 0


def test_members_stay_in_the_archive(tmp_path):
    """Also those that say that they are links, or lie in a folder above."""
    path = tmp_path / "inside" / "x.npz"
    path.parent.mkdir()
    link = zipfile.ZipInfo("link.npy")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("../above.npy", b"no tensor")
        archive.writestr("/absolute.npy", b"no tensor")
    file = load(path)
    assert sorted(file) == ["../above", "/absolute", "link"]
    for name in file:
        with pytest.raises(FileFormatError):
            file[name]
    assert os.listdir(tmp_path) == ["inside"] and os.listdir(path.parent) == ["x.npz"]


def test_links_are_followed_and_special_files_refused(tmp_path):
    save(tmp_path / "x.npy", tensix.ones(2))
    (tmp_path / "link.npy").symlink_to("x.npy")
    assert load(tmp_path / "link.npy").tolist() == [1, 1]
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "device.npz").symlink_to("/dev/zero")
    for name in ("pipe.npy", "device.npz"):
        with pytest.raises(ValueError, match="not a regular file"):
            load(tmp_path / name)


CUT = """
import os, sys, tensix
x = tensix.load(sys.argv[1], {mode})
os.truncate(sys.argv[1], 4096)
print(x[-1].item())
"""


def test_a_mapped_file_is_as_its_writers_leave_it(tmp_path):
    """Who may write the file can change what was loaded, and end the process; a copy is out of reach."""
    path = tmp_path / "x.npy"
    for mode, expected in (("None", (0, "1.0\n")), ("'r'", (-signal.SIGBUS, ""))):
        save(path, tensix.ones(1 << 16))
        done = run(CUT.format(mode=mode), path)
        assert (done.returncode, done.stdout) == expected
    save(path, tensix.ones(4, dtype="uint8"))
    mapped, copied = load(path), load(path, None)
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\7")
    assert mapped.tolist() == [1, 1, 1, 7] and copied.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
def test_no_file_is_signed(tmp_path, suffix):
    """A byte that was changed gives another element, and no error; checksums are compared of what is copied only."""
    path, x = tmp_path / f"x{suffix}", tensix.ones(1 << 16, dtype="uint8")
    save(path, x if suffix == ".npy" else {"x": x})
    content = bytearray(path.read_bytes())
    content[content.rindex(b"\1" * 100)] = 7
    path.write_bytes(content)
    loaded = load(path)
    assert (loaded if suffix == ".npy" else loaded["x"]).max().item() == 7


def test_descriptors_are_not_inherited(tmp_path):
    save(tmp_path / "x.npz", {"x": tensix.ones(2)})
    with load(tmp_path / "x.npz") as file:
        number = file._raw._descriptor.number
        assert not os.get_inheritable(number)
    x = share(tensix.ones(2))
    assert not os.get_inheritable(SharedMemoryAllocator.locate(x.data_ptr())[0])


def without_unnamed_files(folder):
    return None


@pytest.mark.parametrize("is_named", [False, True])
def test_a_saved_file_never_has_more_rights_than_the_old_one(tmp_path, monkeypatch, is_named):
    """Nor the right to run as its owner, which the bytes of the old file had."""
    path, found = tmp_path / "x.npy", []
    save(path, tensix.ones(2))
    path.chmod(0o4640)
    if is_named:
        monkeypatch.setattr(atomic_write, "unnamed_file", without_unnamed_files)
    keep = atomic_write.keep

    def recorded(old, descriptor, target):
        found.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        keep(old, descriptor, target)

    monkeypatch.setattr(atomic_write, "keep", recorded)
    save(path, tensix.ones(3))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not is_named or found == [0o600]


def test_a_file_beside_is_new_and_has_a_name_of_chance(tmp_path, monkeypatch):
    """So that none that is there already, such as a link to somewhere else, is written."""
    opened = []
    monkeypatch.setattr(atomic_write, "unnamed_file", without_unnamed_files)
    for module, is_new in ((os, lambda flags: flags & os.O_EXCL and flags & os.O_CREAT), (builtins, "xb".__eq__)):

        def recorded(path, how, *more, ordinary=module.open, is_new=is_new, **options):
            if str(path).endswith(".part"):
                opened.append((path, bool(is_new(how))))
            return ordinary(path, how, *more, **options)

        monkeypatch.setattr(module, "open", recorded)
    save(tmp_path / "x.npy", tensix.ones(2))
    for _ in range(2):
        Snapshot().save(tmp_path / "x.json")
    monkeypatch.undo()
    assert len({path for path, _ in opened}) == 3 and [is_new for _, is_new in opened] == [True] * 3
    assert all(re.search(r"[0-9a-f]{16}\.part$", path) for path, _ in opened)
    assert sorted(os.listdir(tmp_path)) == ["x.json", "x.npy"]


# ---- what is printed


@functools.cache
def recorded():
    """Return a snapshot as JSON, of a program that keeps what it does not need."""
    with record() as recording:
        kept = [tensix.ones(1 << 18) for _ in range(2)]
        kept.append(kept[0] + 1)
        kept.append(tensix.ones(1 << 18))
        return json.dumps(recording.snapshot())


def snapshot_named(text):
    """Return a snapshot in which somebody has written a text wherever there is one."""
    snapshot = json.loads(recorded())
    for frame in snapshot["frames"]:
        frame["file"], frame["function"], frame["source"] = text, text, text
    other = snapshot | {"pid": 3, "name": text, "offset_ns": 7}
    return snapshot | {"program": text, "started": text, "processes": [other]}


def test_a_terminal_does_not_obey_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save("x.safetensors", {OBEYED: tensix.ones(2)}, metadata={OBEYED: OBEYED})
    Path("x.json").write_text(json.dumps(snapshot_named(OBEYED)))
    Path("y.json").write_text(json.dumps(snapshot_named("y.py")))
    Path("bad.json").write_text(json.dumps(snapshot_named(OBEYED) | {"version": 7, "tensix": OBEYED}))
    for words in (["inspect", "x.safetensors"], ["memory", "--output", "x.html", "x.json"],
                  ["memory", "--output", "y.html", "y.json", "--compare", "x.json"]):  # fmt: skip
        assert main(words) == 0, words
    assert main(["memory", "bad.json"]) == 2
    printed = capsys.readouterr()
    assert "title" in printed.out and "title" in printed.err
    assert "\x07" not in printed.out + printed.err and "\x1b" not in printed.out + printed.err


NAME = "<script>alert(1)<!--.py"


def test_a_page_of_a_hostile_script(tmp_path):
    """From its run to its page: the name is text."""
    script = tmp_path / NAME
    script.write_text("import numpy as np\nx = np.ones(100_000)\n")
    output = tmp_path / "x.html"
    code = "import sys; from tensix.__main__ import main; sys.exit(main(sys.argv[1:]))"
    done = run(code, "memory", "--output", output, script)
    assert done.returncode == 0, done.stderr
    page = output.read_text(encoding="utf-8")
    assert page.count("<script") == 2 and "<!--" not in page and "&lt;script&gt;alert(1)" in page


def test_a_snapshot_opens_regular_files_only(tmp_path, monkeypatch):
    """Others that it names would be waited for, or have no end; and names that are none are no error."""
    opened = []
    getlines = linecache.getlines
    monkeypatch.setattr(linecache, "getlines", lambda file: opened.append(file) or getlines(file))
    os.mkfifo(tmp_path / "pipe")
    special = ["/dev/null", str(tmp_path / "pipe"), str(tmp_path)]
    for name in (*special, __file__, "a\0b", "\ud800"):
        assert {one.place.file for one in advice.findings_of(snapshot_named(name)).advice} == {name}
    assert __file__ in opened and not set(special) & set(opened)


def test_a_page_has_lines_and_paths_of_its_program(tmp_path):
    """Who sends it shows them."""
    with record() as recording:
        secret = tensix.ones(1000)
    recording.snapshot().save(tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "secret = tensix.ones(1000)" in page and json.dumps(__file__)[1:-1] in page
    del secret


# ---- pickles

ALLOWED = {
    "Tensor", "Tensor.from_storage", "_storage_over", "_storage_of_bytes", "sparse_coo_tensor",
    *tensix.__array_namespace_info__().dtypes(), "bfloat16",
}  # fmt: skip


class Strict(pickle.Unpickler):
    """Read tensors only, as the page says."""

    def find_class(self, module, name):
        if module != "tensix" or name not in ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed here.")
        return super().find_class(module, name)


@pytest.mark.parametrize("protocol", [4, 5])
def test_pickles_can_be_restricted(protocol):
    x = tensix.arange(6, dtype="float32").reshape(2, 3)
    sparse = tensix.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2))
    readonly = x.clone()
    readonly.storage().readonly = True
    for one in (x, x.T, x[:, ::2], tensix.ones(2, dtype="bfloat16"), sparse, readonly, tensix.Tensor()):
        read = Strict(io.BytesIO(pickle.dumps(one, protocol))).load()
        assert type(read) is tensix.Tensor and repr(read) == repr(one)
    for refused in (Obeyed(), tensix.empty(2, device="meta")):
        with pytest.raises(pickle.UnpicklingError, match="not allowed"):
            Strict(io.BytesIO(pickle.dumps(refused, protocol))).load()


NUMBERS = st.integers(-3, 9) | st.sampled_from([2**31, 2**62, 2**63 - 1, 2**63, 2**64, -(2**63)])
SIZES = st.lists(NUMBERS, max_size=3).map(tuple)
DTYPES = st.sampled_from([tensix.uint8, tensix.bool, tensix.float32, tensix.complex128, tensix.bfloat16])


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40), st.booleans(), NUMBERS, SIZES, SIZES, DTYPES)
def test_what_a_hostile_pickle_of_a_tensor_can_say(data, is_readonly, offset, shape, stride, dtype):
    """The functions that it names refuse what lies outside of its own bytes, or not at the type's multiples."""
    storage = tensix._storage_of_bytes(data, is_readonly, sys.byteorder)
    assert storage.nbytes() == len(data)
    try:
        x = tensix.Tensor.from_storage(storage, offset, shape, stride, dtype)
    except (ValueError, TypeError, OverflowError, RuntimeError):
        return
    count = x.numel()
    if count:
        ends = [(size - 1) * step for size, step in zip(x.shape, x.stride(), strict=True)]
        first = x.storage_offset() + sum(min(end, 0) for end in ends)
        last = x.storage_offset() + sum(max(end, 0) for end in ends)
        assert first >= 0 and (last + 1) * x.itemsize <= len(data)
    if 0 < count < 10_000:
        x.tolist()


def test_unpickling_runs_code(tmp_path):
    """Which is Python's to say, and why the page says it first."""
    path = tmp_path / "x"
    path.touch()

    class Deletes:
        def __reduce__(self):
            return os.remove, (path,)

    assert pickle.loads(pickle.dumps(Deletes())) is None and os.listdir(tmp_path) == []


def test_files_and_pickles_hold_no_other_elements(tmp_path):
    """Of a view, the rest of its storage stays where it is; padding is no left over memory."""
    x = tensix.full((64, 64), 0x5A, dtype="uint8")
    x[:4, :4] = 1
    view, several = x[:4, :4], {"x": x[:4, :4], "y": x[1, :3]}
    for name, value in (("x.npy", view), ("x.npz", several), ("y.npz", several), ("x.safetensors", several)):
        save(tmp_path / name, value, **({"compress": True} if name == "y.npz" else {}))
    written = [path.read_bytes() for path in tmp_path.iterdir()]
    written += [pickle.dumps(one, protocol) for one in (view, x[1, :3]) for protocol in (2, 4, 5)]
    assert [one for one in written if b"ZZZ" in one] == []


def spread(tensor, **_):
    """Return one element for all of a tensor: behind it lies memory of others."""
    return tensix.ones(1, dtype=tensor.dtype).expand(tensor.shape)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
@pytest.mark.parametrize("overridden", ["contiguous", "clone"])
def test_what_overrides_return_is_checked_before_it_is_saved(tmp_path, suffix, overridden):
    x = tensix.full((8, 16), 7, dtype="uint8")[:, ::2]
    with tensix.library.Library("tensix") as library:
        library.impl(overridden, spread, "CPU", allow_override=True)
        with pytest.raises(ValueError, match=r"strides \(0, 0\)"):
            save(tmp_path / f"x{suffix}", x if suffix == ".npy" else {"x": x})
    assert list(tmp_path.iterdir()) == []


# ---- memory of others


def test_a_capsule_is_believed():
    """So is an address: the second half of these bytes is not the tensor's to read."""
    memory = (ctypes.c_uint8 * 8)(1, 1, 1, 1, 7, 7, 7, 7)
    half = np.frombuffer(memory, np.uint8, 4)
    assert tensix.from_blob(half.ctypes.data, 8, dtype="uint8").tolist() == [1, 1, 1, 1, 7, 7, 7, 7]


def test_new_tensors_may_show_what_was_freed():
    with tensix.use_allocator(CachingAllocator()):
        secret = tensix.full(1 << 20, 7, dtype="uint8")
        del secret
        assert tensix.empty(1 << 20, dtype="uint8")[1 << 19].item() == 7
        assert tensix.zeros(1 << 20, dtype="uint8")[1 << 19].item() == 0


def test_read_only_is_an_agreement():
    """It is kept by tensix and by libraries that ask; code that has the address can write."""
    x = tensix.ones(2, dtype="uint8")
    address = x.data_ptr()
    x.storage().readonly = True
    with pytest.raises((ValueError, RuntimeError, TypeError)):
        x.fill_(3)
    ctypes.memset(address, 7, 2)
    assert x.tolist() == [7, 7]


# ---- shared memory


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have other names")
def test_shared_memory_has_no_name_in_a_file_system():
    before = set(os.listdir("/dev/shm"))
    x = share(tensix.ones(1000))
    fd, _ = SharedMemoryAllocator.locate(x.data_ptr())
    assert os.readlink(f"/proc/self/fd/{fd}").startswith("/memfd:") and os.fstat(fd).st_nlink == 0
    assert set(os.listdir("/dev/shm")) <= before


NAMED = """
#include "tensix/memory/shared_memory.h"
int shared_file(void) { return tx_shared_file(4096); }
"""


@pytest.mark.skipif(shutil.which("gcc") is None or not sys.platform.startswith("linux"), reason="needs GCC on Linux")
def test_shared_memory_where_it_needs_a_name(tmp_path):
    """The code for other systems, which Linux can run: the name is new, the user's alone, and gone."""
    source, made = tmp_path / "named.c", tmp_path / "named.so"
    source.write_text(NAMED)
    options = ["-U__linux__", "-D_GNU_SOURCE", "-shared", "-fPIC", f"-I{Path(tensix.__file__).parents[1]}"]
    subprocess.run(["gcc", *options, source, "-o", made], check=True)
    before, umask = os.listdir("/dev/shm"), os.umask(0)
    try:
        fd = ctypes.CDLL(str(made)).shared_file()
    finally:
        os.umask(umask)
    found = os.fstat(fd)
    assert stat.S_IMODE(found.st_mode) == 0o600 and found.st_nlink == 0 and not os.get_inheritable(fd)
    assert re.fullmatch(r"/dev/shm/tensix-\d+-\d+ \(deleted\)", os.readlink(f"/proc/self/fd/{fd}"))
    header = Path(tensix.__file__).parent / "memory/shared_memory.h"
    assert os.listdir("/dev/shm") == before and "O_CREAT | O_EXCL, 0600" in header.read_text()
    os.close(fd)


def test_files_of_mapped_blocks_have_no_name(tmp_path):
    with tensix.use_allocator(tensix.memory.MappedAllocator(directory=tmp_path)):
        x = tensix.ones(1 << 20)
    assert os.listdir(tmp_path) == [] and x[5].item() == 1
    assert f"{tmp_path}" in Path("/proc/self/maps").read_text()


def test_who_has_the_descriptor_has_the_file():
    """All small tensors of an allocator, for writing, whatever was sent."""
    allocator = SharedMemoryAllocator()
    with tensix.use_allocator(allocator):
        x, neighbour = tensix.ones(4, dtype="uint8"), tensix.ones(4, dtype="uint8")
    x.storage().readonly = True
    fd, offset = SharedMemoryAllocator.locate(x.data_ptr())
    other, place = SharedMemoryAllocator.locate(neighbour.data_ptr())
    assert other == fd and place != offset
    whole = tensix.Storage.from_data_ptr(1 << 20, SharedMemoryAllocator.attach(fd, 0, 1 << 20))
    bytes_of_file = tensix.Tensor.from_storage(whole, 0, (1 << 20,), (1,), tensix.uint8)
    bytes_of_file[place] = 5
    bytes_of_file[offset] = 6
    assert neighbour.tolist() == [5, 1, 1, 1] and x.tolist() == [6, 1, 1, 1]


def test_a_file_that_is_not_sealed_can_be_cut(tmp_path):
    """What a SharedMemoryAllocator makes is sealed; a descriptor of another file may be attached, too."""
    x = share(tensix.ones(1000))
    fd, _ = SharedMemoryAllocator.locate(x.data_ptr())
    with pytest.raises(PermissionError) as refused:
        os.ftruncate(fd, 0)
    assert refused.value.errno == errno.EPERM
    done = run("""
import os, sys, tensix
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 65536)
block = tensix.memory.SharedMemoryAllocator.attach(fd, 0, 65536)
os.ftruncate(fd, 0)
print(tensix.Tensor.from_storage(tensix.Storage.from_data_ptr(65536, block), 0, (9,), (1,), tensix.uint8).tolist())
""", tmp_path / "x")  # fmt: skip
    assert (done.returncode, done.stdout) == (-signal.SIGBUS, "")


# ---- code


def test_a_kernel_sees_every_tensor():
    """Who can import can replace an operator: within a process there are no walls."""
    seen = []
    with tensix.library.Library("tensix") as library:
        library.impl("neg", lambda x: seen.append(x) or x, "CPU", allow_override=True)
        tensix.negative(tensix.ones(2))
    assert len(seen) == 1


def test_load_snapshot_takes_plain_data_only(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(snapshot_named("x.py")))
    loaded = load_snapshot(path)
    assert all(type(value) in (str, int, list, dict, type(None)) for value in loaded.values())
