"""Resident memory beside a recording."""

import json
import mmap
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tensix.core import CPUAllocator
from tensix.memory import CachingAllocator, HugePageAllocator, record, resident, resident_memory
from tensix.memory.resident_memory import COLUMNS, HAS_ARENAS, ResidentMemory

MIB = 1 << 20


def threads():
    return [thread.name for thread in threading.enumerate() if thread.name == "tensix resident memory"]


def test_samples_show_what_goes_on():
    with record(resident=0.001) as recording:
        before = recording.snapshot(holders=False)["resident"]["nbytes"][-1]
        x = np.ones(64 * MIB, np.uint8)
        during = recording.snapshot(holders=False)["resident"]["nbytes"][-1]
        time.sleep(0.05)
        del x
    resident = recording.snapshot(holders=False)["resident"]
    assert during - before > 60 * MIB
    assert len(resident["nbytes"]) > 5 and max(resident["nbytes"]) >= during
    assert resident["time_ns"] == sorted(resident["time_ns"]) and resident["time_ns"][0] >= 0
    assert resident["time_ns"][-1] <= recording.snapshot(holders=False)["duration_ns"]
    assert recording.snapshot(holders=False)["resident"] == resident and threads() == []


def test_a_peak_between_two_samples_is_seen():
    """If it is the highest of all; Linux remembers that one."""
    if resident_memory.resident_nbytes()[0] == resident_memory.resident_nbytes()[1]:
        bytearray(b"x") * (64 * MIB)  # else the system cannot tell now from the highest
    highest = resident_memory.resident_nbytes()[1]
    with record(resident=3600) as recording:
        bytearray(b"x") * (highest + 64 * MIB)
    assert max(recording.snapshot(holders=False)["resident"]["nbytes"]) > highest + 60 * MIB


def test_no_samples_unless_asked_for():
    with record() as recording:
        assert "resident" not in recording.snapshot(holders=False) and threads() == []


@pytest.mark.parametrize("interval", [0, -1.0, float("nan")])
def test_intervals_that_are_none(interval):
    with pytest.raises(ValueError, match="every so many seconds"):
        record(resident=interval)


def test_samples_are_bounded_and_peaks_kept(monkeypatch):
    monkeypatch.setattr(resident_memory, "MOST_SAMPLES", 8)
    values = iter(range(100, 200))
    monkeypatch.setattr(resident_memory, "resident_nbytes", lambda: (next(values), 0, 7, 0, 0, 0, 0))
    samples = ResidentMemory(True, lambda: 0)
    samples.started_ns = 0
    for _ in range(37):
        samples.take()
    assert len(samples.rows) < 8 and samples.per_row == 8
    assert [nbytes for _, nbytes, *_ in samples.rows] == [107, 115, 123, 131, 136]
    assert {at_ns for at_ns, *_ in samples.rows} == {7}  # when it was read, for the row is made later


def test_systems_that_tell_less(monkeypatch):
    """No /proc: the highest so far; no module resource: nothing."""
    monkeypatch.setattr(resident_memory, "resident_now", lambda: (0,) * 7)
    now, highest, at_ns, *_ = resident_memory.resident_nbytes()
    assert now == highest > MIB and abs(time.monotonic_ns() - at_ns) < 10**10
    monkeypatch.setattr(resident_memory, "import_module", lambda _: (_ for _ in ()).throw(ImportError))
    with record(resident=True) as recording:
        pass
    nothing = {name: [] for name in COLUMNS}
    assert recording.snapshot(holders=False)["resident"] == nothing and threads() == []


def test_what_tensix_holds_itself_is_beside():
    """What caches keep, and the recording."""
    allocator = CachingAllocator(HugePageAllocator(), max_idle=60)  # which keeps blocks whatever the peak was
    with record(resident=3600) as recording:
        first = recording.snapshot(holders=False)["resident"]
        allocator.allocate(64 * MIB).clear()
        blocks = [CPUAllocator().allocate(64) for _ in range(30_000)]
        second = recording.snapshot(holders=False)["resident"]
    assert second["cached"][-1] - first["cached"][-1] > 60 * MIB
    assert second["recording"][-1] - first["recording"][-1] > 100 * len(blocks)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell less")
def test_files_and_shared_memory_are_of_the_moment(tmp_path):
    """Also in samples that repeat what the table of mappings said."""
    np.save(tmp_path / "file.npy", np.ones(32 * MIB, np.uint8))
    samples = ResidentMemory(3600, lambda: 0)
    samples.started_ns = 0
    samples.take()
    samples.read_again = float("inf")
    shared = mmap.mmap(-1, 16 * MIB)
    shared.write(bytes([1]) * len(shared))
    mapped = np.load(tmp_path / "file.npy", mmap_mode="c")
    assert mapped.sum() == 32 * MIB
    samples.take()
    shared.close()
    del mapped
    samples.take()
    files, memory = ([row[COLUMNS.index(name)] / MIB for row in samples.rows] for name in ("files", "shared"))
    on_tmpfs = files[1] - files[0] < 1  # whose pages are shared memory
    assert abs(memory[1] - memory[0] - (48 if on_tmpfs else 16)) < 1 and abs(memory[2] - memory[0]) < 1
    assert abs(files[1] - files[0] - (0 if on_tmpfs else 32)) < 1 and abs(files[2] - files[0]) < 1


def test_the_last_sample_reads_the_table_of_mappings(monkeypatch):
    """However much the process has grown since."""
    counts = []
    monkeypatch.setattr(resident_memory, "read_mappings", lambda: counts.append(0) or ((0, 0), (0, 0), 0, 0, 0))
    samples = ResidentMemory(3600, lambda: 0).start()
    samples.read_again, before = float("inf"), len(counts)
    samples.stop()
    assert len(counts) == before + 1


def test_waiting_for_the_gil_is_not_the_cost_of_the_table(monkeypatch):
    monkeypatch.setattr(resident_memory, "read_mappings", lambda: time.sleep(0.2) or ((0, 0), (0, 0), 0, 0, 0))
    samples = ResidentMemory(3600, lambda: 0).start()
    samples.stop()
    assert samples.read_again < time.monotonic() + 1


def test_what_caches_keep_is_of_the_same_moment(monkeypatch):
    """Not of later, when another thread that had the GIL meanwhile may have dropped arrays."""
    allocator = CachingAllocator(HugePageAllocator(), max_idle=60)
    blocks, read = [allocator.allocate(64 * MIB)], resident_memory.resident_nbytes
    monkeypatch.setattr(resident_memory, "resident_nbytes", lambda: (read(), blocks.clear())[0])
    samples = ResidentMemory(3600, lambda: 0)
    samples.started_ns = 0
    first, second = (samples.sample()[COLUMNS.index("cached")] for _ in range(2))
    assert second - first > 60 * MIB


DIVIDED = """
import json, mmap, sys
import numpy as np
import tensix
from tensix.memory import resident

MIB = bytes([1]) * 2**20

def divide(make):
    before, made, after = resident(), make(), resident()
    assert made is not None and after.total == sum(after[1:])
    return {name: (getattr(after, name) - getattr(before, name)) / 2**20 for name in after._fields}

def read(mapping):
    sum(mapping[::4096])
    return mapping

def written(mapping):
    for _ in range(len(mapping) >> 20):
        mapping.write(MIB)
    return mapping

with open(sys.argv[1], "rb") as file:
    found = {
        "arrays": divide(lambda: tensix.ones(16 << 20)),
        "python": divide(lambda: [object() for _ in range(1_000_000)]),
        "heap": divide(lambda: np.ones(64 << 20, np.uint8)),
        "files": divide(lambda: read(mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ))),
        "shared": divide(lambda: written(mmap.mmap(-1, 32 << 20))),
        "rest": divide(lambda: written(mmap.mmap(-1, 32 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))),
    }
print(json.dumps(found))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems tell less")
def test_each_part_grows_with_what_is_made(tmp_path):
    (tmp_path / "file").write_bytes(bytes(32 * MIB))
    command = [sys.executable, "-c", DIVIDED, str(tmp_path / "file")]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert 60 < found["arrays"]["arrays"] <= 64 and abs(found["arrays"]["heap"]) < 2
    assert found["python"]["python"] > 12
    assert found["python"]["heap"] > 5 if HAS_ARENAS else found["python"]["python"] > 36  # which has the list, too
    assert 62 < found["heap"]["heap"] < 66  # NumPy's own memory
    assert all(29 < found[name][name] < 34 for name in ("files", "shared", "rest"))
    assert all(abs(grown["rest"]) < 4 for name, grown in found.items() if name != "rest"), found


def test_what_was_not_touched_is_not_resident():
    kept = CPUAllocator().allocate(8 << 30)
    parts = resident()
    assert parts.arrays < parts.total < 6 << 30 and parts.rest == 0 and kept.get() != 0


BLOCKS = """
import ctypes
import numpy as np
import tensix

def grown(before):
    after = tensix.memory.resident()
    return [round((getattr(after, name) - getattr(before, name)) / 2**20) for name in ("arrays", "heap", "shared")]

with tensix.memory.serve_numpy():
    before = tensix.memory.resident()
    large = [np.ones(5 << 19, np.uint8) for _ in range(16)]  # which end in a part of a huge page
    small = [np.ones(1 << 20, np.uint8) for _ in range(40)]
    print(*grown(before))
    before = tensix.memory.resident()
    shared = tensix.memory.SharedMemoryAllocator().allocate(32 << 20)
    ctypes.memset(shared.get(), 1, 32 << 20)
    print(*grown(before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc tells")
def test_blocks_outside_the_heap_are_arrays_only():
    """Up to a MiB: Linux counts the pages of a process in portions."""
    done = subprocess.run([sys.executable, "-c", BLOCKS], capture_output=True, text=True, check=True)
    assert [int(word) for word in done.stdout.split()] == pytest.approx([80, 0, 0, 32, 0, 0], abs=1)


def test_the_parts_are_a_table():
    lines = str(resident()).splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["total", "arrays", "cached"] and lines[-1].startswith("rest ")


ARENAS = """
import gc, sys
import tensix
from tensix.memory.resident_memory import HAS_ARENAS
before = tensix.memory.resident().python
kept = [object() for _ in range(1_000_000)]
grown = tensix.memory.resident().python - before
kept.clear()
gc.collect()
less = tensix.memory.resident().python < before + grown
print(before >> 20 > 2, 14 < grown / 2**20 < 20 or not HAS_ARENAS and 36 < grown / 2**20 < 50, less or not HAS_ARENAS)
print("to the standard error", file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc tells")
def test_arenas_are_counted_with_those_that_were_there():
    """Without the GIL an object is twice as large, and what is free goes back to the system later."""
    done = subprocess.run([sys.executable, "-c", ARENAS], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True True True\n", "to the standard error\n")


FORKS = """
import os, threading
import tensix

def samples():
    return len(recording.snapshot(holders=False)["resident"]["nbytes"])

def wait_for_more():
    least = samples() + 3
    while samples() < least:
        pass

with tensix.memory.record(resident=0.001) as recording:
    for _ in range(5):
        pid = os.fork()
        wait_for_more()
        if pid == 0:
            recording.stop()
            os._exit(threading.active_count())
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
assert threading.active_count() == 1
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_samples_go_on_after_a_fork_without_a_warning(counts_threads_after_forks):
    """CPython warns from 3.12 on if the process has threads."""
    choice = "ignore" if counts_threads_after_forks else "always"
    command = [sys.executable, "-W", choice, "-c", FORKS]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (finished.returncode, finished.stderr) == (0, "")
