"""What a cache keeps goes back to the machine. See Note [Unused blocks] in `tensix/memory/caching_allocator.pyx`."""

import os
import subprocess
import sys
import time

import pytest

import tensix
from tensix.core import Allocator, CPUAllocator
from tensix.memory import CachingAllocator, caching_allocator

MIB = 1 << 20
PREAMBLE = """
import os, sys, time
import numpy as np
import tensix
from tensix.memory import CachingAllocator, serve_numpy

MIB = 1 << 20

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def wait_until(holds):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)

def threads():
    return len(os.listdir("/proc/self/task"))

"""
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads Linux's /proc")


def run(script, *options):
    """Run a script in a new process, which must say nothing on the standard error."""
    command = [sys.executable, *options, "-c", PREAMBLE + script]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
    return finished.stdout


@needs_proc
def test_a_process_that_rests_has_given_everything_back():
    run("""
before = resident()
with serve_numpy():
    arrays = [np.ones(MIB) for _ in range(40)] + [np.ones(1000) for _ in range(1000)] + [np.ones(2) for _ in range(9)]
    assert resident() > before + 300 * MIB
    del arrays
    wait_until(lambda: resident() < before + 16 * MIB)  # and nothing is allocated or freed meanwhile
assert tensix.get_allocator().stats().cached < 4 * MIB
""")


@needs_proc
def test_the_thread_lives_while_something_is_kept_and_blocks_signals():
    run("""
import threading
before = set(os.listdir("/proc/self/task"))
x = tensix.empty(MIB)
assert threads() == len(before)
del x
[thread] = set(os.listdir("/proc/self/task")) - before
assert threading.active_count() == 1
with open(f"/proc/self/task/{thread}/status") as file:
    [blocked] = [line.split()[1] for line in file if line.startswith("SigBlk")]
assert int(blocked, 16) & (1 << 1 | 1 << 13 | 1 << 14) == 1 << 1 | 1 << 13 | 1 << 14  # INT, ALRM and TERM
wait_until(lambda: threads() == len(before))
x = tensix.empty(MIB)
del x
assert threads() == len(before) + 1  # it starts again
""")


def test_blocks_go_after_max_idle_and_not_before(fake):
    caching = CachingAllocator(fake, max_idle=0.5)
    endless = CachingAllocator(fake, max_idle=float("inf"))
    patient = CachingAllocator(fake, max_idle=3600)
    for n, cache in enumerate((endless, patient, caching), 1):
        cache.allocate(n * MIB).clear()
        cache.allocate(64).clear()
    end = time.monotonic() + 60
    while caching.stats().cached or len(fake.back) < 2:  # a block leaves the statistics before it is upstream
        assert time.monotonic() < end
        time.sleep(0.05)
    assert fake.back == [3 * MIB, 64]
    assert endless.stats().cached == MIB + 64 and patient.stats().cached == 2 * MIB + 64


def test_max_idle_is_checked_and_can_be_set():
    caching = CachingAllocator(max_idle=2)
    assert caching.max_idle == 2 and CachingAllocator().max_idle == 1
    caching.max_idle = float("inf")
    assert caching.max_idle == float("inf")
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="more than 0 seconds"):
            caching.max_idle = wrong
    with pytest.raises(TypeError):
        CachingAllocator(max_idle="soon")


def test_an_upstream_in_python_gets_its_blocks_back_in_the_thread():
    class Upstream(Allocator):
        def allocate(self, nbytes):
            return tensix.DataPtr.from_callable(CPUAllocator().raw_allocate(nbytes), self.take_back)

        def take_back(self, address):
            CPUAllocator().raw_deallocate(address)
            back.append(address)

    back = []
    caching = CachingAllocator(Upstream(), max_idle=0.5)
    caching.allocate(MIB).clear()
    end = time.monotonic() + 60
    while not back:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert caching.stats()[:2] == (0, 0)


def test_in_use_and_kept_stay_below_the_peak_of_what_was_in_use():
    """Sizes that never recur: without the rule the process would hold all of them."""
    printed = run("""
caching = tensix.get_allocator()
caching.max_idle = float("inf")
for n in range(20, 100):
    tensix.ones(n * MIB, dtype="uint8")
    assert caching.stats().cached <= (n + n / 8 + 16) * MIB
for n in range(100, 20, -1):  # below the peak, what was kept stays
    tensix.ones(n * MIB, dtype="uint8")
stats = caching.stats()
print(64 * MIB < stats.cached <= 130 * MIB)
""")
    assert printed == "True\n"


@needs_proc
def test_what_grows_outside_arrays_after_their_peak_replaces_kept_blocks():
    run("""
tensix.get_allocator().max_idle = float("inf")
tensix.ones(50 * MIB)  # 200 MiB
peak = resident()
assert tensix.get_allocator().stats().cached >= 200 * MIB
outside = b"1" * (150 * MIB)
for n in range(5, 10):
    tensix.ones(n * MIB)
    assert resident() < peak + 20 * MIB
""")


def test_sizes_that_recur_below_the_peak_keep_their_blocks():
    caching = CachingAllocator(max_idle=float("inf"))
    held = caching.allocate(64 * MIB)
    held.clear()
    caching.trim()
    for _ in range(10):
        for n in (8, 12, 20):
            caching.allocate(n * MIB).clear()
    assert caching.stats().misses == 4 and caching.stats().hits == 27


@pytest.fixture
def machine(tmp_path):
    """A folder with files that tell of memory, in place of those of the machine."""

    def write(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        caching_allocator.set_machine_root(tmp_path)
        return caching_allocator.machine_memory()

    yield write
    caching_allocator.set_machine_root("")


MEMINFO = "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    600 kB\n"
GROUP = "sys/fs/cgroup/a.slice/b c.scope"


@pytest.mark.parametrize(
    "files, limit, available",
    [
        ({}, 1000 << 10, 600 << 10),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 1000 << 10, 600 << 10),
        (
            {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "500000", "sys/fs/cgroup/memory.current": "9"},
            500_000, 499_991,
        ),
        (  # the group above has less
            {
                "proc/self/cgroup": "0::/a.slice/b c.scope\n", f"{GROUP}/memory.max": "400000\n",
                f"{GROUP}/memory.high": "max\n", f"{GROUP}/memory.current": "1000\n",
                "sys/fs/cgroup/a.slice/memory.max": "max", "sys/fs/cgroup/a.slice/memory.high": "300000\n",
                "sys/fs/cgroup/a.slice/memory.current": "250000\n",
                "sys/fs/cgroup/a.slice/memory.stat": "anon 1\nfile 70000\ninactive_file 60000\n",
            },
            300_000, 110_000,
        ),
        (  # the first version, where a container sees its own group as the top
            {
                "proc/self/cgroup": "5:cpu:/docker/1\n4:memory:/docker/1\n0::/\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "200000\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": "300000\n",
                "sys/fs/cgroup/memory/memory.stat": "cache 9\ntotal_inactive_file 120000\n",
            },
            200_000, 20_000,
        ),
        ({"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"},
         1000 << 10, 600 << 10),
        ({"proc/self/cgroup": "nonsense\n::\n4:memory\n0::" + 2000 * "/x"}, 1000 << 10, 600 << 10),
    ],
)  # fmt: skip
def test_limits_of_the_machine_and_its_control_groups(machine, files, limit, available):
    assert machine({"proc/meminfo": MEMINFO} | files) == (limit, available)


def test_everything_goes_back_when_memory_is_short(machine, fake):
    machine({"proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 7000000 kB\n"})
    caching = CachingAllocator(fake, max_idle=3600)
    caching.allocate(64 * MIB).clear()
    time.sleep(0.6)
    assert caching.stats().cached == 64 * MIB
    machine({"proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 500000 kB\n"})
    end = time.monotonic() + 60
    while fake.back != [64 * MIB]:
        assert time.monotonic() < end
        time.sleep(0.05)


@needs_proc
def test_the_default_bound_is_shared_by_processes():
    printed = run("""
import subprocess
x = tensix.ones(MIB)
del x
whole = tensix.get_allocator().max_cached
child = '''
import tensix
x = tensix.ones(1 << 20)
del x
print(tensix.get_allocator().stats().max_cached, tensix.memory.CachingAllocator(max_cached="1MiB").stats().max_cached)
'''
keep = tensix.get_allocator()
keep.max_idle = 3600
x = tensix.ones(MIB)
del x
printed = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout
of_child, chosen = map(int, printed.split())
print(of_child <= whole // 2, keep.max_cached == whole, chosen == MIB)
""")
    assert printed == "True True True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_finds_nothing_kept_and_no_thread():
    """CPython 3.12 and later warn of a fork in a process with threads."""
    run("""
children = []
for _ in range(5):
    x = tensix.ones(4 * MIB)
    del x
    pid = os.fork()
    if pid == 0:
        assert tensix.get_allocator().stats().cached == 0
        x = tensix.ones(4 * MIB)
        del x
        wait_until(lambda: tensix.get_allocator().stats().cached == 0)
        os._exit(0)
    children.append(pid)
assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 5
""", "-W", "error")
