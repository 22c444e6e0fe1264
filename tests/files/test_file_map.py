"""Maps of files: storages share them, and they are unmapped when the last one is gone."""

import os
import subprocess
import sys
import threading

import pytest

import tensix
from tensix import Storage, Tensor
from tensix.files import FileMap

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "raw"
    path.write_bytes(bytes(range(256)) * 64)
    return path


def mapped(path, nbytes=1 << 14, mode="r"):
    with open(path, "rb" if mode != "r+" else "r+b") as file:
        return FileMap(file.fileno(), nbytes, mode)


def values(storage):
    return Tensor.from_storage(storage, 0, (storage.nbytes(),), (1,), "uint8").tolist()


def test_storages_look_into_the_file(path, maps_of):
    pages = mapped(path)
    first, second = pages.storage(0, 4), pages.storage(254, 4)
    assert (values(first), values(second)) == ([0, 1, 2, 3], [254, 255, 0, 1])
    assert second.data_ptr() - first.data_ptr() == 254 and first.data_ptr() % 4096 == 0
    assert first.allocator is None and not first.resizable and first.readonly
    assert not first.is_alias_of(second) and len(maps_of(path)) == 1


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_modes(path, mode):
    storage = mapped(path, mode=mode).storage(8, 4)
    assert storage.readonly == (mode == "r")
    if mode == "r":
        with pytest.raises(RuntimeError, match="read-only"):
            storage.mutable_data_ptr()
        return
    Tensor.from_storage(storage, 0, (4,), (1,), "uint8").fill_(7)
    assert values(storage) == [7] * 4
    assert path.read_bytes()[8:12] == (bytes([7] * 4) if mode == "r+" else bytes([8, 9, 10, 11]))


def test_private_writes_are_seen_by_all_parts(path):
    pages = mapped(path, mode="c")
    Tensor.from_storage(pages.storage(0, 8), 0, (8,), (1,), "uint8").fill_(9)
    assert values(pages.storage(4, 6)) == [9, 9, 9, 9, 8, 9]


def test_lazy_clones(path):
    readonly, private = mapped(path).storage(0, 8), mapped(path, mode="c").storage(0, 8)
    lazy, copied = readonly.lazy_clone(), private.lazy_clone()
    assert lazy.is_cow() and lazy.data_ptr() == readonly.data_ptr()
    assert not copied.is_cow() and copied.data_ptr() != private.data_ptr()
    Tensor.from_storage(lazy, 0, (8,), (1,), "uint8").fill_(1)
    assert values(readonly) == list(range(8)) and not lazy.readonly


def test_close_refuses_while_storages_live(path, maps_of):
    pages = mapped(path)
    storage = pages.storage(0, 8)
    lazy = storage.lazy_clone()
    for kept in ("storage", "lazy"):
        with pytest.raises(BufferError, match="still refer to it, found 1"):
            pages.close()
        assert not pages.closed and maps_of(path)
        if kept == "storage":
            del storage  # the clone still shares the bytes
    assert values(lazy) == list(range(8))
    del lazy
    pages.close()
    pages.close()
    assert pages.closed and maps_of(path) == []
    with pytest.raises(ValueError, match="closed"):
        pages.storage(0, 1)


@pytest.mark.parametrize("drop_body", [FileMap.release, lambda pages: None])
def test_last_storage_unmaps(path, drop_body, maps_of):
    pages = mapped(path)
    first, second = pages.storage(0, 8), pages.storage(8, 8)
    drop_body(pages)
    del pages, first
    assert values(second) == list(range(8, 16)) and maps_of(path)
    del second
    assert maps_of(path) == []


@pytest.mark.parametrize("offset, nbytes, error", [
    (0, (1 << 14) + 1, ValueError), (1 << 14, 1, ValueError), ((1 << 14) + 1, 0, ValueError), (-1, 1, ValueError),
    (0, -1, ValueError), (1 << 63, 1 << 63, ValueError), (1 << 64, 1, OverflowError), (2**64 - 1, 2, ValueError),
    (0.0, 1, TypeError), ("0", 1, TypeError),
])
def test_parts_outside(path, offset, nbytes, error):
    pages = mapped(path)
    with pytest.raises(error):
        pages.storage(offset, nbytes)
    assert pages.storage(1 << 14, 0).nbytes() == 0


@pytest.mark.parametrize("nbytes, mode, error", [
    (0, "r", ValueError), (-1, "r", ValueError), (4, "w", ValueError), (4, None, (TypeError, ValueError)),
    (1 << 62, "r", ValueError), ((1 << 14) + 1, "r", ValueError), (1 << 64, "r", OverflowError),
    (4, "r+", PermissionError),
])
def test_maps_that_cannot_be(path, nbytes, mode, error):
    with open(path, "rb") as file, pytest.raises(error):
        FileMap(file.fileno(), nbytes, mode)


def test_more_than_there_are_addresses_for(tmp_path):
    with open(tmp_path / "huge", "w+b") as file:
        file.truncate(1 << 43)
        kept = []
        with pytest.raises(OSError, match="memory"):
            while len(kept) < 100:
                kept.append(FileMap(file.fileno(), 1 << 43))
    assert kept


def test_descriptors_that_are_no_files():
    ends = os.pipe()
    with pytest.raises(ValueError, match="of a file that has 0"):
        FileMap(ends[0], 4)
    for end in ends:
        os.close(end)
    with pytest.raises(OSError):
        FileMap(ends[0], 4)


def test_filled_once(path):
    pages = mapped(path)
    with pytest.raises(RuntimeError, match="filled once"):
        pages.__init__(0, 4)
    assert values(pages.storage(0, 1)) == [0]
    empty = FileMap.__new__(FileMap)
    assert empty.closed
    empty.close()


def test_eight_threads_take_and_drop(path):
    pages = mapped(path)
    failures = []

    def work():
        for i in range(2000):
            storage = pages.storage(i % 256, 4)
            if storage.data_ptr() == 0:
                failures.append(i)
            del storage

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    pages.close()  # every count came back


def test_a_fork_keeps_its_own_map(path, maps_of):
    pages = mapped(path)
    storage = pages.storage(0, 4)
    child = os.fork()
    if child == 0:
        right = values(storage) == [0, 1, 2, 3]
        del storage
        pages.close()
        os._exit(0 if right and maps_of(path) == [] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert values(storage) == [0, 1, 2, 3]


def test_the_interpreter_ends_quietly(path):
    code = f"""
import sys, tensix, threading
from tensix.files import FileMap, RawFile
with open({str(path)!r}, "rb") as file:
    sys.kept = FileMap(file.fileno(), 100).storage(0, 10)
sys.raw = RawFile({str(path)!r})
sys.x = sys.raw.tensor(5, "uint8"); sys.lazy = sys.x.lazy_clone()
tensix.save({str(path)!r} + ".npz", {{"a": sys.x, "b": sys.x}}); sys.file = tensix.load({str(path)!r} + ".npz")
sys.file["a"]; x = sys.raw.tensor(3, "uint8")
print(sum(x.tolist()))
"""
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "3\n", "")


def test_storage_survives_allocators(path):
    """A clone of a mapped storage is made by the current allocator, and the map is none of its blocks."""
    before = tensix.CPUAllocator.bytes_in_use()
    storage = mapped(path).storage(0, 1 << 14)
    assert tensix.CPUAllocator.bytes_in_use() == before
    clone = storage.clone()
    assert isinstance(clone, Storage) and clone.allocator is not None and values(clone) == values(storage)


def test_a_map_that_is_made_meanwhile_stays(path):
    class Number:
        def __index__(self):
            pages.__init__(file.fileno(), 100)
            return 50

    pages = FileMap.__new__(FileMap)
    with open(path, "rb") as file, pytest.raises(RuntimeError, match="filled once"):
        pages.__init__(file.fileno(), Number())
    assert pages.nbytes == 100
    pages.release()
