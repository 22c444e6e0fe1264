"""Memory for threads that Python does not know: those of a pool in C, in this process and in a program of its own."""

import contextlib
import gc
import os
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import pytest

import tensix
from tensix.memory import (
    AlignmentAdaptor,
    CachingAllocator,
    FailureCallbackAdaptor,
    GuardAdaptor,
    LimitingAdaptor,
    LoggingAdaptor,
    StatisticsAdaptor,
    TrackingAdaptor,
)

SOURCES = Path(__file__).parent / "c_threads"
THREADS, TURNS = 8, 5000


@pytest.fixture(scope="module")
def pool(build_extension):
    """The pool as an extension module, which includes tensix's C header and nothing else."""
    return build_extension("c_threads", [SOURCES / "module.c", SOURCES / "pool.c"])


@pytest.fixture
def registered():
    """A function that registers an allocator for the CPU until the test ends."""
    before = tensix.get_allocator("cpu")

    def register(allocator):
        tensix.set_allocator("cpu", allocator, 0)
        return allocator

    yield register
    tensix.set_allocator("cpu", before, 0)


def check(pool, found, threads=THREADS, turns=TURNS, refuses=False, pads=False):
    """Check what the pool counted, and that what is left of it is what is in use; free that."""
    assert found["threads"] == threads and found["made"] + found["refused"] == threads * turns
    assert found["broken"] == 0 and (refuses or found["refused"] == 0)
    before = tensix.memory.memory_allocated()
    count, nbytes = pool.clear()
    freed = before - tensix.memory.memory_allocated()
    assert freed == nbytes > 0 or (pads and freed > nbytes)
    return count, nbytes


def test_counts_are_exact(pool):
    before = tensix.memory.memory_allocated()
    check(pool, pool.run(THREADS, TURNS, 65536))
    assert tensix.memory.memory_allocated() == before


def test_one_thread_raises_the_peak_to_the_byte(pool):
    tensix.memory.reset_peak_memory_stats()
    before = tensix.memory.memory_allocated()
    assert pool.allocate_and_free(1_000_000, True)
    assert tensix.memory.max_memory_allocated() == before + 1_000_000
    kept = tensix.empty(100, dtype=tensix.uint8)  # with the GIL, on what is in use then
    assert pool.allocate_and_free(1_000_000, True)
    assert tensix.memory.max_memory_allocated() == before + 1_000_100
    del kept
    tensix.empty(1_000_200, dtype=tensix.uint8)
    assert tensix.memory.max_memory_allocated() == before + 1_000_200


def test_threads_of_python_allocate_meanwhile(pool):
    stop, before = threading.Event(), tensix.memory.memory_allocated()

    def work():
        kept = []
        while not stop.is_set():
            kept = [tensix.empty(size) for size in (1, 10, 300, 5000)]
        kept.clear()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    found = pool.run(THREADS, TURNS, 65536)
    stop.set()
    for worker in workers:
        worker.join()
    check(pool, found)
    assert tensix.memory.memory_allocated() == before


@pytest.mark.parametrize("has_gil", [True, False])
@pytest.mark.parametrize("nbytes", [0, 1, 1000, 100_000, 10_000_000])
def test_a_thread_of_python_may_allocate_with_and_without_the_gil(pool, nbytes, has_gil):
    before = tensix.memory.memory_allocated()
    assert pool.allocate_and_free(nbytes, not has_gil)
    assert tensix.memory.memory_allocated() == before


@pytest.mark.parametrize("releases", [False, True])
def test_there_is_no_memory_for_impossible_sizes(pool, releases):
    assert not pool.allocate_and_free(2**62, releases)


def test_blocks_are_reused(pool, registered):
    caching = registered(CachingAllocator(max_cached="64MiB", max_idle=float("inf")))
    check(pool, pool.run(THREADS, TURNS, 65536))
    stats = caching.stats()
    assert stats.in_use == 0 and stats.cached > 0
    assert stats.hits + stats.misses == THREADS * TURNS and stats.hits > THREADS * TURNS // 2
    assert caching.trim() == stats.cached and caching.stats().cached == 0


def test_a_scope_serves_threads_of_python_only(pool):
    with tensix.use_allocator(StatisticsAdaptor()) as statistics:
        pool.allocate_and_free(100, True)
        assert statistics.total_count == 1
        check(pool, pool.run(2, 100, 1000), 2, 100)
        assert statistics.total_count == 1


ADAPTORS = {
    "alignment": lambda upstream: AlignmentAdaptor(upstream, 4096),
    "guard": GuardAdaptor,
    "limit": lambda upstream: LimitingAdaptor(upstream, "1GiB"),
    "log": lambda upstream: LoggingAdaptor(upstream, os.devnull),
    "statistics": StatisticsAdaptor,
    "tracking": TrackingAdaptor,
    "caching": CachingAllocator,
    "plain": lambda _: tensix.CPUAllocator(),
}


@pytest.mark.parametrize("name", ADAPTORS)
def test_any_allocator_serves(pool, registered, name):
    registered(ADAPTORS[name](tensix.CPUAllocator()))
    before = tensix.memory.memory_allocated()
    check(pool, pool.run(4, 500, 20_000), 4, 500, pads=name in ("alignment", "guard"))
    assert tensix.memory.memory_allocated() == before


def test_adaptors_count_what_threads_of_c_make(pool, registered):
    statistics = registered(StatisticsAdaptor(CachingAllocator()))
    found = pool.run(THREADS, TURNS, 65536)
    assert (statistics.total_count, statistics.total_bytes) == (found["made"], found["nbytes"])
    current = statistics.current_count, statistics.current_bytes
    assert current == check(pool, found)
    assert statistics.current_bytes == statistics.current_count == 0


def test_blocks_outlive_their_adaptors(pool, registered):
    registered(GuardAdaptor(StatisticsAdaptor(LimitingAdaptor(CachingAllocator(), "1GiB"))))
    found = pool.run(4, 500, 20_000)
    registered(tensix.CPUAllocator())
    gc.collect()
    check(pool, found, 4, 500, pads=True)


def test_a_limit_holds(pool, registered):
    limiting = registered(LimitingAdaptor(tensix.CPUAllocator(), 300_000))
    found = pool.run(THREADS, TURNS, 65536)
    assert found["refused"] > 0 and limiting.in_use <= 300_000
    check(pool, found, refuses=True)
    assert limiting.in_use == 0


def test_guards_are_checked(pool, registered, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(str(unraisable.exc_value)))
    registered(GuardAdaptor(tensix.CPUAllocator()))
    assert pool.allocate_and_free(100, True) and told == []
    assert pool.allocate_and_free(100, True, True)
    assert [text.partition(": ")[2].partition(" is")[0] for text in told] == ["overrun, 0 bytes behind its end"]


class Refusing(tensix.Allocator):
    def __init__(self, error):
        self.error = error

    def allocate(self, nbytes):
        raise self.error


def test_what_an_allocator_in_python_raises_is_no_memory(pool, registered):
    registered(Refusing(tensix.OutOfMemoryError("the pool is full")))
    found = pool.run(2, 10, 1000)
    assert (found["made"], found["refused"]) == (0, 20)


def test_any_other_error_is_told_as_well(pool, registered, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_value))
    registered(Refusing(ValueError("not today")))
    assert pool.run(1, 3, 1000)["refused"] == 3
    assert [str(error) for error in told] == ["not today"] * 3


@pytest.mark.parametrize("releases", [False, True])
@pytest.mark.parametrize("in_scope", [False, True])
@pytest.mark.parametrize("is_cached", [False, True])
@pytest.mark.parametrize("is_limited", [False, True])
def test_a_thread_of_python_tells_a_refusal_once(pool, registered, is_limited, is_cached, in_scope, releases):
    asked = []  # the callback returns None, which is: do not try again
    refusing = LimitingAdaptor(None, 100) if is_limited else Refusing(tensix.OutOfMemoryError(1000, 64, 0))
    allocator = FailureCallbackAdaptor(refusing, asked.append)
    allocator = CachingAllocator(allocator) if is_cached else allocator
    scope = tensix.use_allocator(allocator) if in_scope else contextlib.nullcontext(registered(allocator))
    with scope, tensix.memory.record() as recording:
        assert not pool.allocate_and_free(1000, releases)
    assert len(asked) == 1 and asked[0] >= 1000
    assert len(recording.snapshot()["failures"]) == is_limited  # who refuses without a limit does not tell


class Plain(tensix.Allocator):
    upstream = tensix.CPUAllocator()

    def allocate(self, nbytes):
        return self.upstream.allocate(nbytes)


def test_a_cache_over_an_allocator_in_python_keeps_its_blocks(pool, registered):
    cache = registered(CachingAllocator(Plain()))
    cache.allocate(100_000)
    before = cache.stats().cached
    assert pool.allocate_and_free(400_000, True)  # none of the blocks that are kept is as large
    assert before > 0 and cache.stats().cached >= before + 400_000


def test_allocators_are_registered_while_threads_allocate(pool, registered):
    ended = threading.Event()

    def replace():
        while not ended.is_set():
            registered(CachingAllocator())
            registered(StatisticsAdaptor(tensix.CPUAllocator()))

    replacing = threading.Thread(target=replace)
    replacing.start()
    found = pool.run(THREADS, TURNS, 65536)
    ended.set()
    replacing.join()
    check(pool, found)


class Registering(tensix.Allocator):
    """Registers another allocator in the midst of an allocation, for which it would wait for itself."""

    def allocate(self, nbytes):
        made = tensix.CPUAllocator()
        tensix.set_allocator("cpu", made, 0)
        return made.allocate(nbytes)


def test_an_allocator_may_register_another_one(pool, registered):
    registered(Registering())
    check(pool, pool.run(2, 100, 1000), 2, 100)


def test_a_profile_counts_threads_of_c_for_no_line(pool):
    with tensix.memory.profile(quiet=True) as profile:
        found = pool.run(4, 500, 20_000)
        kept = tensix.empty(10)
        rows = {row.place.file == "?": row for row in profile.rows}
        assert rows[True].total_count == found["made"] and rows[True].total_bytes == found["nbytes"]
        assert rows[False].total_bytes == 40
        current = rows[True].current_count, rows[True].current_bytes
        assert check(pool, found, 4, 500) == current
    assert [row.current_count for row in profile.rows if row.place.file == "?"] == [0]
    del kept


def test_statistics_count_them(pool):
    with tensix.memory.statistics() as all_threads, tensix.memory.statistics(this_thread=True) as own:
        found = pool.run(4, 500, 20_000)
        pool.allocate_and_free(10, True)
        check(pool, found, 4, 500)
    assert (all_threads.total_count, all_threads.current_bytes) == (2001, 0)
    assert (own.total_count, own.total_bytes, own.current_bytes) == (1, 10, 0)


def test_a_recording_names_their_threads(pool):
    with tensix.memory.record() as recording:
        kept = tensix.empty(10)
        found = pool.run(4, 50, 20_000)
        snapshot = recording.snapshot()
        blocks = snapshot["blocks"]
        names = {snapshot["threads"][thread] for thread in blocks["thread"]}
        assert sum("without Python" in name for name in names) == 4 and len(names) == 5
        assert sum(blocks["nbytes"]) == found["nbytes"] + 40
        assert {snapshot["allocators"][number] for number in blocks["allocator"]} == {repr(tensix.get_allocator())}
        assert sum(freed is None for freed in blocks["freed_ns"]) == check(pool, found, 4, 50)[0] + 1
    del kept


def test_a_recording_of_unknown_allocators(pool):
    with tensix.memory.record() as recording:
        found = pool.run(1, 10, 1000)
        snapshot = recording.snapshot()
        assert snapshot["allocators"] == ["?"] and snapshot["blocks"]["allocator"] == [0] * 10
    check(pool, found, 1, 10)
    path = recording.snapshot()
    assert repr(path).startswith("Snapshot(blocks=10")


def test_reporters_hear_of_them(pool):
    heard = []

    class Reporter(tensix.MemoryReporter):
        def report_memory_usage(self, address, nbytes, total_allocated, device):
            heard.append(nbytes)

    with Reporter():
        found = pool.run(2, 100, 1000)
        check(pool, found, 2, 100)
    assert len(heard) == 2 * found["made"] and sum(heard) == 0


def test_a_program_in_c(tmp_path):
    """The interpreter belongs to its main thread; 16 threads of C allocate."""
    library, folder = sysconfig.get_config_var("LDLIBRARY"), sysconfig.get_config_var("LIBDIR")
    if not library or not Path(folder, library).exists():
        pytest.skip("this Python has no library to link a program with")
    program = tmp_path / "program"
    compiler = sysconfig.get_config_var("CC").split()
    variables = ("LIBS", "SYSLIBS", "LINKFORSHARED")
    libraries = " ".join(sysconfig.get_config_var(name) or "" for name in variables).split()
    flags = os.environ.get("CFLAGS", "").split()
    command = [*compiler, "-O1", "-pthread", *flags, f"-I{tensix.get_include()}", f"-I{sysconfig.get_path('include')}"]
    command += [SOURCES / "program.c", SOURCES / "pool.c", Path(folder, library), *libraries]
    subprocess.run([*command, f"-Wl,-rpath,{folder}", "-o", program], check=True)
    roots = os.pathsep.join([str(Path(tensix.__file__).parent.parent), *sys.path])
    variables = {**os.environ, "PYTHONPATH": roots, "PYTHONHOME": sys.base_prefix}
    variables["LC_ALL"] = "C.UTF-8"  # in C, 3.12 and later load no extension from a folder with umlauts
    printed = subprocess.run(
        [program, "16", "20000"], env=variables, check=True, capture_output=True, text=True, timeout=300
    ).stdout
    head, _, tail = printed.partition("; ")
    assert head == "16 threads, 320000 made, 0 refused, 0 broken"
    left = tail.split()
    assert left[3] == left[5] and tail.endswith(" 0 after all\n")
