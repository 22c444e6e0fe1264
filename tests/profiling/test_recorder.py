"""Recording blocks, and the snapshot of a recording."""

import ctypes
import gc
import os
import random
import threading
import weakref

import pytest

import tensix
from tensix.core import CPUAllocator, OutOfMemoryError, Storage
from tensix.memory import CachingAllocator, record, snapshot

FREE_WITHOUT_GIL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(CPUAllocator().raw_deleter())


def make(nbytes, allocator=None):
    return Storage(nbytes, allocator)


def blocks(data, *columns):
    return list(zip(*(data["blocks"][column] for column in columns), strict=True))


def innermost(data, stack):
    return data["frames"][data["stacks"][stack][0]]


def test_blocks_times_and_stacks():
    older = Storage(5)
    with record() as recording:
        first, second = make(100), Storage(20)
        address = first.data_ptr()
        first.reset()
        older.reset()
    second_address = second.data_ptr()
    second.reset()
    data = recording.snapshot()
    assert blocks(data, "address", "nbytes") == [(address, 100), (second_address, 20)]
    (start, freed), (later, alive) = blocks(data, "allocated_ns", "freed_ns")
    assert 0 < start <= later <= freed <= data["duration_ns"] and alive is None
    one, other = data["blocks"]["stack"]
    assert innermost(data, one)["function"] == "make" and innermost(data, other)["function"] != "make"
    assert innermost(data, one) == {
        "file": __file__, "line": make.__code__.co_firstlineno + 1, "function": "make",
        "source": "return Storage(nbytes, allocator)",
    }  # fmt: skip
    assert data["frames"][data["stacks"][one][1]] == innermost(data, other)  # the same line called make() and Storage()


def test_head_of_a_snapshot(monkeypatch):
    monkeypatch.setattr("sys.argv", ["train.py", "--fast"])
    with record() as recording:
        pass
    data = recording.snapshot()
    assert (data["format"], data["version"]) == ("tensix memory snapshot", 1)
    assert (data["tensix"], data["program"]) == (tensix.__version__, "train.py --fast")
    assert data["started"].endswith("Z") and data["dropped"] == 0
    assert data["duration_ns"] == recording.snapshot()["duration_ns"]
    assert [data[key] for key in ("frames", "stacks", "holders", "copies", "failures")] == [[]] * 5


def test_threads_and_allocators_have_names():
    caching = CachingAllocator(max_cached=0)
    aligned = CPUAllocator(alignment=4096)
    with record() as recording:
        thread = threading.Thread(target=lambda: Storage(8, aligned), name="worker")
        Storage(2 << 20, caching)
        thread.start()
        thread.join()
        Storage(8, aligned)
    data = recording.snapshot()
    named = [(data["threads"][t], data["allocators"][a]) for t, a in blocks(data, "thread", "allocator")]
    main = threading.current_thread().name
    assert named == [(main, repr(caching)), ("worker", repr(aligned)), (main, repr(aligned))]


def test_copies_and_failures():
    def write(x):
        x += 1

    with record() as recording:
        x = tensix.zeros(10)
        other = x.lazy_clone()
        write(x)
        with pytest.raises(OutOfMemoryError):
            make(1 << 60, CPUAllocator())
    data = recording.snapshot()
    (copy,), (failure,) = data["copies"], data["failures"]
    assert copy["nbytes"] == 40 and innermost(data, copy["stack"])["function"].endswith("write")
    assert failure["nbytes"] == 1 << 60 and innermost(data, failure["stack"])["function"] == "make"
    assert copy["time_ns"] < failure["time_ns"] < data["duration_ns"]
    assert other.numel() == 10


def test_start_stop_and_the_latest_recording():
    with pytest.raises(RuntimeError, match="nothing is being recorded"):
        snapshot()
    outer = record().start()
    with pytest.raises(RuntimeError, match="started once"):
        outer.start()
    Storage(1).reset()
    inner = record()
    with pytest.raises(RuntimeError, match="was not started"):
        inner.snapshot()
    with inner:
        Storage(2).reset()
        assert snapshot()["blocks"]["nbytes"] == [2]
    outer.stop()
    outer.stop()
    Storage(3).reset()
    with pytest.raises(RuntimeError, match="nothing is being recorded"):
        snapshot()
    assert outer.snapshot()["blocks"]["nbytes"] == [1, 2] and not outer.is_running
    assert repr(outer) == "record(blocks=2, stopped)"


@pytest.mark.parametrize("options", [{"max_events": 15}, {"max_events": 1 << 33}, {"depth": 0}, {"depth": 65}], ids=str)
def test_options_out_of_range(options):
    with pytest.raises(ValueError, match="must be from"):
        record(**options)


def test_old_freed_blocks_are_forgotten_first():
    with record(max_events=100) as recording:
        kept = [make(1) for _ in range(50)]
        for nbytes in range(1000, 2000):
            make(nbytes)
    data = recording.snapshot()
    sizes = data["blocks"]["nbytes"]
    assert sizes[:50] == [1] * 50 and data["blocks"]["freed_ns"][:50] == [None] * 50
    assert 0 < len(sizes) - 50 <= 50
    assert sizes[50:] == list(range(2000 - (len(sizes) - 50), 2000))  # the newest, without gaps
    assert data["dropped"] == 1050 - len(sizes)
    kept.clear()


def test_new_blocks_are_not_recorded_when_all_are_alive():
    with record(max_events=16) as recording:
        kept = [make(nbytes) for nbytes in range(1, 21)]
        assert recording.snapshot()["dropped"] == 4
        kept.clear()
        make(100)
    data = recording.snapshot()
    assert data["blocks"]["nbytes"] == [*range(9, 17), 100] and None not in data["blocks"]["freed_ns"]
    assert data["dropped"] == 12


def test_against_a_model():
    """Random allocations and frees; addresses come again and again."""
    generator = random.Random(0)
    living, ended = {}, []
    with record() as recording:
        for number in range(1, 5001):
            if living and generator.random() < 0.5:
                key = generator.choice(list(living))
                living.pop(key)
                ended.append(key)
            else:
                living[number] = make(number)
        data = recording.snapshot(holders=False)
    alive = {nbytes for nbytes, freed in blocks(data, "nbytes", "freed_ns") if freed is None}
    assert alive == set(living)
    assert sorted(data["blocks"]["nbytes"]) == sorted([*living, *ended])


def test_threads_and_frees_without_the_gil():
    def work():
        for _ in range(300):
            FREE_WITHOUT_GIL(CPUAllocator().raw_allocate(16))
            make(3)

    with record() as recording:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for _ in range(5):
            recording.snapshot()
        for thread in threads:
            thread.join()
    data = recording.snapshot()
    assert len(data["blocks"]["nbytes"]) == 8 * 600 and len(data["threads"]) == 8
    assert None not in data["blocks"]["freed_ns"]
    assert all(start <= end for start, end in blocks(data, "allocated_ns", "freed_ns"))


def test_recording_keeps_no_tensor_alive():
    class Marked(tensix.Tensor):
        pass

    with record() as recording:
        x = tensix.ones(3)
        storage = x.storage().weak()
        recording.snapshot()
        del x
        assert storage.expired()
    assert recording.snapshot()["holders"] == []


def test_recording_ends_with_its_object():
    recording = record()
    gone = weakref.ref(make)
    recording.start()
    recording.stop()
    del recording
    gc.collect()
    make(8)
    assert gone() is make


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_child_of_a_fork_goes_on():
    with record() as recording:
        kept = make(1)
        child = os.fork()
        if child == 0:
            kept.reset()
            make(2)
            data = recording.snapshot()
            os._exit(0 if data["blocks"]["nbytes"] == [1, 2] and None not in data["blocks"]["freed_ns"] else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert recording.snapshot()["blocks"]["freed_ns"] == [None]


def test_subclasses_that_forget_to_call_init():
    class Forgetful(record):
        def __init__(self):
            pass

    with Forgetful() as recording:
        x = tensix.ones(3)
    assert recording.snapshot()["blocks"]["nbytes"] == [x.nbytes]


def test_every_allocator_has_its_number():
    with record() as recording:
        for _ in range(50):
            with tensix.use_allocator(CPUAllocator()):
                tensix.ones(3)
    data = recording.snapshot()
    assert data["blocks"]["allocator"] == list(range(50)) == list(range(len(data["allocators"])))


def test_a_program_may_close_all_files_and_open_its_own(tmp_path):
    """The number of the recording's descriptor is the program's then: it is neither written to nor closed."""
    recording = record(max_events=200_000)
    with open(tmp_path / "records", "w+b", buffering=0) as file:
        kept = os.dup(file.fileno())
        os.close(kept)
        recording._keep_in(file)  # its descriptor has the lowest number that is free
    with recording:
        for _ in range(40_000):
            Storage(1)
    os.close(kept)
    with open(tmp_path / "own", "w+b", buffering=0) as own:
        os.dup2(own.fileno(), kept)
        snapshot = recording.snapshot()
        del recording
        assert os.fstat(kept).st_size == 0
    assert snapshot["dropped"] + len(snapshot["blocks"]["nbytes"]) == 40_000
    os.close(kept)


def test_what_another_file_has_is_not_read_as_records(tmp_path):
    """As when the program opens a file by that number while the snapshot is taken."""
    recording = record(max_events=200_000)
    with open(tmp_path / "records", "w+b", buffering=0) as file, open(tmp_path / "own", "w+b", buffering=0) as own:
        own.write(bytes([255]) * 10_000_000)
        kept = os.dup(file.fileno())
        os.close(kept)
        recording._keep_in(file)
        with recording:
            for _ in range(40_000):
                Storage(1)
        with pytest.raises(OSError, match="was it closed"):
            recording._snapshot_in_parts(lambda part: os.dup2(own.fileno(), kept))
        os.close(kept)


def test_records_in_a_file_and_in_memory_make_one_snapshot(tmp_path):
    """Records of freed blocks go to the file; each block is there once, with all that is known of it."""
    recording = record(max_events=200_000)
    with open(tmp_path / "records", "w+b", buffering=0) as file:
        recording._keep_in(file)
        with recording:
            held = []
            for n in range(100_000):
                x = Storage(1 + n % 1000)
                if n % 1000 == 0:
                    held.append(x)
            del x
            source = tensix.ones(7)
            copy = source.clone()
        columns = {}

        def take(part):
            for name, values in part.items():
                columns.setdefault(name, []).extend(values)

        snapshot = recording._snapshot_in_parts(take)
        assert os.path.getsize(tmp_path / "records") > 5_000_000
    assert snapshot["dropped"] == 0 and "blocks" not in snapshot
    assert sorted(columns["nbytes"]) == sorted([1 + n % 1000 for n in range(100_000)] + [28, 28])
    alive = [n for n, freed in zip(columns["nbytes"], columns["freed_ns"], strict=True) if freed is None]
    assert sorted(alive) == [1] * 100 + [28, 28]
    [(cloned, of)] = [(n, of) for n, of in enumerate(columns["copy_of"]) if of is not None]
    assert columns["nbytes"][cloned] == columns["nbytes"][of] == 28 and of != cloned
    assert len({len(values) for values in columns.values()}) == 1
    assert {holder["block"] for holder in snapshot["holders"]} == {
        n for n, freed in enumerate(columns["freed_ns"]) if freed is None
    }
    del held, copy


def test_a_full_file_drops_the_oldest_records(tmp_path):
    recording = record(max_events=80_000)
    with open(tmp_path / "records", "w+b", buffering=0) as file:
        recording._keep_in(file)
        with recording:
            for n in range(200_000):
                Storage(1 + n)
        blocks = recording.snapshot()["blocks"]
    count = len(blocks["nbytes"])
    assert 40_000 <= count <= 80_000
    assert sorted(blocks["nbytes"]) == list(range(200_001 - count, 200_001))


def test_a_file_that_cannot_be_written_loses_records_and_says_how_many(tmp_path):
    recording = record(max_events=80_000)
    (tmp_path / "records").touch()
    with open(tmp_path / "records", "rb", buffering=0) as file:
        recording._keep_in(file)
        with recording:
            for n in range(100_000):
                Storage(1 + n)
        snapshot = recording.snapshot()
    assert len(snapshot["blocks"]["nbytes"]) + snapshot["dropped"] == 100_000 and snapshot["dropped"] > 50_000
