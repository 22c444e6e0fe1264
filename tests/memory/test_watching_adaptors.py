"""Adaptors that watch: limits, guards, logs, call sites, and what to do when memory runs out."""

import ctypes
import io
import json
import sys
import threading

import pytest

import tensix
from tensix.core import CPUAllocator, MemoryReporter, OutOfMemoryError, Storage
from tensix.memory import (
    CachingAllocator,
    FailureCallbackAdaptor,
    GuardAdaptor,
    LimitingAdaptor,
    LoggingAdaptor,
    StatisticsAdaptor,
    TrackingAdaptor,
)

MIB = 1 << 20


@pytest.fixture
def reports(monkeypatch):
    """What went to the unraisable hook."""
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: found.append(str(report.exc_value)))
    return found


def test_the_limit_is_exact_and_what_is_freed_makes_room():
    limited = LimitingAdaptor(CPUAllocator(), "1KiB")
    first, second = limited.allocate(1000), limited.allocate(24)
    for nbytes in (1, 100, (1 << 64) - 1):
        with pytest.raises(OutOfMemoryError, match=r"limit 1,024, in use 1,024\. Free tensors or raise") as caught:
            limited.allocate(nbytes)
    assert (caught.value.in_use, caught.value.limit, caught.value.cached) == (1024, 1024, None)
    assert not limited.allocate(0)
    first.clear()
    assert limited.in_use == 24 and limited.allocate(1000)
    second.clear()
    limited.limit = 10
    with pytest.raises(OutOfMemoryError):
        limited.allocate(11)
    with pytest.raises(ValueError, match="0 or more, found -1"):
        limited.limit = -1


def test_the_error_names_what_a_cache_keeps():
    caching = CachingAllocator(CPUAllocator())
    limited = StatisticsAdaptor(LimitingAdaptor(StatisticsAdaptor(caching), 4 * MIB))
    limited.allocate(3 * MIB).clear()
    with pytest.raises(OutOfMemoryError, match="limit 4,194,304, in use 0, cached 3,145,728") as caught:
        limited.allocate(5 * MIB)
    assert caught.value.cached == 3 * MIB


def test_a_limit_below_a_cache_is_kept_by_giving_back():
    caching = CachingAllocator(LimitingAdaptor(CPUAllocator(), 5 * MIB))
    caching.allocate(3 * MIB).clear()
    assert caching.allocate(4 * MIB) and caching.stats().cached == 0


@pytest.mark.parametrize(
    "operation",
    [
        lambda x, y, z: x + z,
        lambda x, y, z: y.add_(1),
        lambda x, y, z: x.storage().resize_(9000),
        lambda x, y, z: x.clone(),
    ],
    ids=["+", "copy-on-write", "resize", "clone"],
)
def test_a_limit_in_the_middle_of_an_operation_changes_and_leaks_nothing(operation):
    before = CPUAllocator.bytes_in_use()
    limited = LimitingAdaptor(CPUAllocator(), 10_000)
    with tensix.use_allocator(limited):
        tensors = [tensix.ones(1000), tensix.ones(1000)]
        tensors.insert(1, tensors[0].lazy_clone())
        with pytest.raises(OutOfMemoryError, match="limit 10,000, in use 8,00"):
            operation(*tensors)
    assert all(tensor.tolist() == [1] * len(tensor) for tensor in tensors) and tensors[1].is_cow()
    del tensors
    assert limited.in_use == 0 and CPUAllocator.bytes_in_use() == before


def test_a_failed_upstream_takes_no_room():
    limited = LimitingAdaptor(LimitingAdaptor(CPUAllocator(), 100), 1000)
    with pytest.raises(OutOfMemoryError, match="limit 100,"):
        limited.allocate(200)
    assert limited.in_use == 0


def test_reporters_hear_of_limits():
    failures = []

    class Listener(MemoryReporter):
        def report_out_of_memory(self, nbytes, total_allocated, device):
            failures.append(nbytes)

    with Listener(), pytest.raises(OutOfMemoryError):
        LimitingAdaptor(CPUAllocator(), 10).allocate(20)
    assert failures == [20]


def test_eight_threads_share_a_limit():
    limited = LimitingAdaptor(CPUAllocator(), 50_000)

    def work():
        for n in range(500):
            try:
                Storage(n * 20, limited)
            except OutOfMemoryError as error:
                assert error.in_use <= 50_000

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert limited.in_use == 0


@pytest.mark.parametrize(
    "offset, length, found",
    [
        (0, 100, None),
        (0, 101, "overrun, 0 bytes behind its end"),
        (120, 1, "overrun, 20 bytes behind its end"),
        (163, 1, "overrun, 63 bytes behind its end"),
        (-1, 1, "underrun, 1 bytes in front of its beginning"),
        (-64, 3, "underrun, 62 bytes in front of its beginning"),
        (-2, 110, "underrun, 1 bytes in front of its beginning and overrun, 0 bytes behind its end"),
    ],
)
@pytest.mark.parametrize("upstream", [CPUAllocator(), CachingAllocator(), CPUAllocator(alignment=4096)], ids=str)
def test_guards_name_what_was_overwritten(upstream, offset, length, found, reports):
    before = CPUAllocator.bytes_in_use()
    block = GuardAdaptor(upstream).allocate(100)
    address = block.get()
    assert address % upstream.alignment == 0
    ctypes.memset(address + offset, 7, length)
    block.clear()
    if found is None:
        assert reports == []
    else:
        text = f"the block at {address:#x} of 100 bytes was written outside its bounds: {found} is the nearest"
        assert len(reports) == 1 and reports[0].startswith(text)
    assert CPUAllocator.bytes_in_use() == before


def test_guards_out_of_range_are_refused():
    for wrong in (0, (1 << 30) + 1):
        with pytest.raises(ValueError, match="guard_bytes must be from 1"):
            GuardAdaptor(None, wrong)
    block = (guard := GuardAdaptor(CPUAllocator(), 1000)).allocate(1)
    guard.__init__(None, 5)  # of later blocks
    block.clear()
    assert guard.guard_bytes == 5


def test_a_log_has_a_line_for_every_event():
    log = io.StringIO()
    logging = LoggingAdaptor(LimitingAdaptor(CPUAllocator(), 1000), log)
    block = logging.allocate(100)
    address = block.get()
    threading.Thread(target=block.clear).run()
    with pytest.raises(OutOfMemoryError):
        logging.allocate(1001)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(line["event"], line["nbytes"], line.get("address")) for line in lines] == [
        ("allocate", 100, address), ("free", 100, address), ("fail", 1001, None)
    ]  # fmt: skip
    assert all(line["thread"] == threading.get_ident() for line in lines)
    assert lines[0]["time"] <= lines[1]["time"] <= lines[2]["time"]


def test_a_log_in_a_file_is_there_at_once(tmp_path):
    block = LoggingAdaptor(None, tmp_path / "log.jsonl").allocate(10)
    assert json.loads((tmp_path / "log.jsonl").read_text())["event"] == "allocate"
    block.clear()
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 2
    with pytest.raises(FileNotFoundError):
        LoggingAdaptor(None, tmp_path / "nowhere" / "log.jsonl")


def test_what_cannot_be_logged_is_not_allocated(reports):
    before = CPUAllocator.bytes_in_use()
    log = io.StringIO()
    logging = LoggingAdaptor(CPUAllocator(), log)
    block = logging.allocate(10)
    log.close()
    with pytest.raises(ValueError, match="closed file"):
        logging.allocate(10)
    assert reports == []
    block.clear()
    assert len(reports) == 1 and "closed file" in reports[0]
    assert CPUAllocator.bytes_in_use() == before


def test_a_callback_may_make_room():
    kept, asked = [], []
    limited = LimitingAdaptor(CPUAllocator(), 1000)
    kept += [limited.allocate(300) for _ in range(3)]

    def make_room(nbytes):
        asked.append(nbytes)
        return bool(kept and kept.pop())

    adaptor = FailureCallbackAdaptor(limited, make_room)
    block = adaptor.allocate(700)
    assert asked == [700] * 2 and len(kept) == 1
    with pytest.raises(OutOfMemoryError):
        adaptor.allocate(900)
    assert kept == [] and block

    def broken(nbytes):
        raise LookupError("no luck")

    with pytest.raises(LookupError, match="no luck"):
        FailureCallbackAdaptor(limited, broken).allocate(900)
    with pytest.raises(TypeError, match="needs a callable, found int"):
        FailureCallbackAdaptor(limited, 5)


def test_blocks_are_tracked_to_the_lines_that_asked():
    tracking = TrackingAdaptor(CPUAllocator())

    def inner():
        return tensix.empty(100)

    def outer():
        return inner()

    with tensix.use_allocator(tracking):
        held = [outer() for _ in range(3)]
        held.append(tensix.empty(1))
    first, second, _, last = tracking.blocks()
    assert [frame.function.rpartition(".")[2] for frame in first.frames[:2]] == ["inner", "outer"]
    assert first.frames == second.frames and first.address == held[0].data_ptr()
    assert last.nbytes == 4 and last.frames[0].line == inner.__code__.co_firstlineno + 8
    assert tracking.table().splitlines()[1].split()[:3] == ["1.17", "KiB", "3"]
    assert len(tracking.table(most=1).splitlines()) == 2
    del held
    assert tracking.blocks() == []
    with pytest.raises(ValueError, match="depth must be from 1 to 64"):
        TrackingAdaptor(None, 65)
    assert TrackingAdaptor(None, 3).call_sites.depth == 3


def test_tracking_in_eight_threads_and_without_the_gil():
    tracking = TrackingAdaptor(CPUAllocator())

    def work():
        for n in range(300):
            block = tracking.allocate(n + 1)
            if n % 3 == 0:
                ctypes.CFUNCTYPE(None, ctypes.c_void_p)(block.get_deleter())(block.release_context())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tracking.blocks() == []
