"""Files of bare elements: tensors over their bytes, mapped or read, and files that change."""

import errno
import os
import pickle
import threading

import numpy as np
import pytest

import tensix
from tensix import FileFormatError, from_file
from tensix.files import RawFile

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "raw"
    np.arange(1000, dtype="f4").tofile(path)
    return path


# ---- tensors


@pytest.mark.parametrize("mode", ["r", "c", "r+", None])
def test_modes(path, mode):
    with RawFile(path, mode) as raw:
        x = raw.tensor((2, 3), "float32", 8)
        assert (raw.nbytes, raw.mmap_mode, raw.path) == (4000, mode, str(path))
    assert x.tolist() == [[2, 3, 4], [5, 6, 7]] and x.is_contiguous()
    assert x.readonly == (mode == "r") and (x.allocator is None) == (mode is not None)
    if mode != "r":
        x.fill_(1)
        changed = [1.0] * 6 if mode == "r+" else [2.0, 3, 4, 5, 6, 7]
        assert np.fromfile(path, "f4")[2:8].tolist() == changed


def test_offsets_that_do_not_suit_are_copied(path, maps_of):
    with RawFile(path) as raw:
        x, y = raw.tensor(2, "float32", 1), raw.tensor(3, "complex64", 4)
    assert x.allocator is not None and x.readonly and y.allocator is None
    assert x.tolist() == np.frombuffer(path.read_bytes()[1:9], "f4").tolist()
    assert y.tolist() == [1 + 2j, 3 + 4j, 5 + 6j]
    with RawFile(path, "r+") as raw, pytest.raises(ValueError, match="not aligned to 4 bytes"):
        raw.tensor(2, "float32", 1)


def test_bfloat16_and_shapes(path):
    with RawFile(path) as raw:
        assert raw.tensor(2, "bfloat16", 6).tolist() == [1.0, 0.0]
        assert raw.tensor((), "float32", 4).item() == 1.0
        assert raw.tensor((0, 5), "float32").shape == (0, 5)
        assert raw.tensor(0, "float32", 4000).tolist() == []


@pytest.mark.parametrize("shape, offset, error", [
    (1001, 0, FileFormatError), (1, 3997, FileFormatError), (0, 4001, FileFormatError), (1, 2**64, FileFormatError),
    (-1, 0, ValueError), ((2, -1), 0, ValueError), (1, -1, ValueError), ((2**62, 2**62), 0, ValueError),
    ((2**62, 0, 2**62), 0, ValueError), ((1,) * 65, 0, ValueError), ("3", 0, (TypeError, ValueError)),
    (1.0, 0, TypeError), ((1.0,), 0, TypeError), (1, 1.0, TypeError),
])  # fmt: skip
def test_tensors_that_cannot_be(path, shape, offset, error):
    with RawFile(path) as raw, pytest.raises(error):
        raw.tensor(shape, "float32", offset)


def test_what_is_no_regular_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        RawFile(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        RawFile(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for special in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ValueError, match="not a regular file"):
            RawFile(special)
    with pytest.raises(ValueError, match="null"):
        RawFile("a\0b")
    for mode in ("w", "rb", 1, ""):
        with pytest.raises(ValueError, match="mmap_mode"):
            RawFile(tmp_path / "nothing", mode)


def test_an_empty_file(tmp_path):
    (tmp_path / "none").touch()
    with RawFile(tmp_path / "none") as raw:
        assert raw.tensor((0, 3), "float32").shape == (0, 3)
        with pytest.raises(FileFormatError):
            raw.tensor(1, "uint8")
    assert from_file(tmp_path / "none").shape == (0,)


# ---- closing


def test_close_refuses_and_the_block_defers(path, maps_of):
    raw = RawFile(path)
    x = raw.tensor(10, "float32")
    view = x[2:4]
    del x
    with pytest.raises(BufferError, match=r"raw: cannot close"):
        raw.close()
    assert not raw.closed and raw.tensor(1, "float32", 4).item() == 1
    with raw:
        pass
    assert raw.closed and maps_of(path) and view.tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="closed"):
        raw.tensor(1, "float32")
    del view
    assert maps_of(path) == []
    raw.close()


def test_ten_thousand_tensors_and_one_descriptor(path):
    with RawFile(path) as raw:
        before = len(os.listdir("/proc/self/fd"))
        kept = [raw.tensor(3, "float32", 4 * (i % 997)) for i in range(10_000)]
        assert len(os.listdir("/proc/self/fd")) == before
    assert len(kept) == 10_000 and kept[5].tolist() == [5.0, 6.0, 7.0]


# ---- files that change


def test_a_file_cut_short_after_opening(path):
    with RawFile(path) as raw:
        os.truncate(path, 100)
        with pytest.raises(FileFormatError, match="was cut short since it was opened: from 4,000 to 100 bytes"):
            raw.tensor(10, "float32")
        with pytest.raises(FileFormatError, match="ends before byte"):
            raw.read(0, 200)


def test_a_file_written_after_opening(path):
    with RawFile(path) as raw, RawFile(path, "r+") as shared:
        with path.open("r+b") as file:
            file.write(b"1234")
        os.utime(path, ns=(1, 1))
        with pytest.raises(FileFormatError, match="was changed"):
            raw.tensor(10, "float32")
        assert shared.tensor(4, "uint8").tolist() == list(b"1234")  # changes are what it is for


def test_a_file_replaced_or_removed_after_opening(path):
    with RawFile(path) as raw:
        other = path.with_name("other")
        other.write_bytes(b"x")
        other.replace(path)
        assert raw.tensor(2, "float32", 4).tolist() == [1.0, 2.0]
        path.unlink()
        x = raw.tensor(2, "float32", 4)
    assert x.tolist() == [1.0, 2.0]


def test_a_file_too_short_is_found_before_it_is_mapped(path):
    with pytest.raises(FileFormatError, match="cut short"):
        from_file(path, 1001)
    assert from_file(path).shape == (1000,)


def test_error_class():
    error = pickle.loads(pickle.dumps(FileFormatError("x")))
    assert isinstance(error, ValueError) and str(error) == "x"


# ---- reading


def test_threads_and_streams_do_not_disturb_one_another(path):
    whole = path.read_bytes()
    failures = []
    with RawFile(path, None) as raw:

        def work(seed):
            generator = np.random.default_rng(seed)
            stream = raw.reader(seed)
            for _ in range(100):
                start = int(generator.integers(0, 3000))
                stream.seek(start)
                if stream.read(64) != whole[start : start + 64] or raw.read(start, 9) != whole[start : start + 9]:
                    failures.append(start)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == [] and raw.read(3999, 10) == whole[3999:] and raw.read(5000, 1) == b""


def test_reading_where_the_system_has_no_preadv(path, monkeypatch):
    monkeypatch.delattr(os, "preadv")
    with RawFile(path, None) as raw:
        assert raw.tensor(1000, "float32").tolist() == list(range(1000))


# ---- from_file


def test_private(path):
    x = from_file(path, 4, offset=8)
    assert x.tolist() == [2.0, 3.0, 4.0, 5.0] and not x.readonly and x.allocator is None
    x.zero_()
    assert np.fromfile(path, "f4")[:4].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert from_file(path, dtype="int16", offset=3996).shape == (2,)
    with pytest.raises(ValueError, match="not a whole number of float64"):
        from_file(path, dtype="float64", offset=4)
    with pytest.raises(FileNotFoundError):
        from_file(path.with_name("nothing"), 4)


def test_shared(tmp_path):
    path = tmp_path / "new"
    x = from_file(path, (2, 3), dtype="int32", shared=True)
    assert x.tolist() == [[0] * 3] * 2 and path.stat().st_size == 24
    y = from_file(path, (2, 3), dtype="int32", shared=True)
    x[1] = 5
    assert y.tolist() == [[0] * 3, [5] * 3] == np.fromfile(path, "i4").reshape(2, 3).tolist()
    longer = from_file(path, 10, dtype="int32", shared=True)
    assert path.stat().st_size == 40 and longer[3:7].tolist() == [5, 5, 5, 0]
    assert from_file(path, 2, dtype="int32", shared=True).shape == (2,) and path.stat().st_size == 40
    x.lazy_clone().fill_(9)
    assert y[0].tolist() == [0] * 3
    with pytest.raises(ValueError, match="not aligned"):
        from_file(path, 1, dtype="int32", offset=1, shared=True)
    for wrong in ({"offset": -1}, {"dtype": "float99"}, {"shape": -1}, {"shape": 2**62}):
        with pytest.raises((ValueError, TypeError)):
            from_file(tmp_path / "never made", **{"shape": 1, "shared": True} | wrong)
    assert not (tmp_path / "never made").exists()


def test_a_full_disk_is_an_error(path, monkeypatch):
    real = os.posix_fallocate

    def fills_up(descriptor, offset, nbytes):
        real(descriptor, offset, nbytes // 2)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", fills_up)
    with pytest.raises(OSError, match="No space"):
        from_file(path, 5000, shared=True)
    assert path.stat().st_size == 4000
    with pytest.raises(OSError):
        from_file(path.with_name("no folder") / "x", 5000, shared=True)
    monkeypatch.delattr(os, "posix_fallocate")
    assert from_file(path, 5000, shared=True)[999:1001].tolist() == [999.0, 0.0]


@pytest.mark.parametrize("broken", ["posix_fallocate", "FileMap"])
def test_a_failure_leaves_no_new_file(path, monkeypatch, broken):
    def refuses(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os if broken == "posix_fallocate" else tensix.files.raw_file, broken, refuses)
    new, link = path.with_name("new"), path.with_name("link")
    link.symlink_to("new")
    for name in (new, link, path):
        with pytest.raises(OSError, match="No space"):
            from_file(name, 5000, shared=True)
    assert not new.exists() and link.is_symlink() and path.stat().st_size == 4000


def test_shared_between_processes(tmp_path):
    x = from_file(tmp_path / "new", 3, shared=True)
    child = os.fork()
    if child == 0:
        x[1] = 4
        os._exit(0)
    os.waitpid(child, 0)
    assert x.tolist() == [0.0, 4.0, 0.0]
    assert tensix.from_file(tmp_path / "new", shared=True).tolist() == [0.0, 4.0, 0.0]


def test_a_shared_file_is_not_touched_by_an_offset_that_does_not_suit(tmp_path):
    path = tmp_path / "x.bin"
    with pytest.raises(ValueError, match="not aligned"):
        tensix.from_file(path, 2, shared=True, offset=1)
    assert not path.exists()
