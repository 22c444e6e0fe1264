"""What is counted always: bytes in use, their peak, and the table of both."""

import ctypes
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

import tensix
from tensix.core import CPUAllocator, Storage, use_allocator
from tensix.memory import (
    CachingAllocator,
    LimitingAdaptor,
    StatisticsAdaptor,
    max_memory_allocated,
    memory_allocated,
    memory_reserved,
    memory_summary,
    reset_peak_memory_stats,
    serve_numpy,
    statistics,
)

FREE_WITHOUT_GIL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(CPUAllocator().raw_deleter())  # ctypes lets go of the GIL


@pytest.fixture(autouse=True)
def before():
    """Let the peak begin here, and return what is in use."""
    reset_peak_memory_stats()
    return memory_allocated()


def test_what_is_in_use_and_its_peak(before):
    first, second = Storage(100), Storage(20)
    assert memory_allocated() == max_memory_allocated() == before + 120
    first.reset()
    assert (memory_allocated(), max_memory_allocated()) == (before + 20, before + 120)
    third = Storage(50)
    assert (memory_allocated(), max_memory_allocated()) == (before + 70, before + 120)
    reset_peak_memory_stats()
    assert memory_allocated() == max_memory_allocated() == before + 70
    del second, third
    assert (memory_allocated(), max_memory_allocated()) == (before, before + 70)


def test_frees_without_the_gil_make_space_below_the_peak(before):
    allocator = CPUAllocator()
    FREE_WITHOUT_GIL(allocator.raw_allocate(1000))
    assert (memory_allocated(), max_memory_allocated()) == (before, before + 1000)
    for _ in range(10):
        FREE_WITHOUT_GIL(allocator.raw_allocate(400))
    assert (memory_allocated(), max_memory_allocated()) == (before, before + 1000)
    FREE_WITHOUT_GIL(allocator.raw_allocate(1001))
    assert max_memory_allocated() == before + 1001
    reset_peak_memory_stats()
    assert max_memory_allocated() == before


@pytest.mark.parametrize("seed", range(5))
def test_as_exact_as_a_scope(before, seed):
    """Which computes its peak at each allocation."""
    chance, allocator, blocks = random.Random(seed), CPUAllocator(), []
    with statistics() as s:
        for _ in range(2000):
            if chance.random() < 0.5 or not blocks:
                blocks.append(allocator.raw_allocate(chance.randrange(1, 10000)))
            else:
                free = chance.choice([FREE_WITHOUT_GIL, allocator.raw_deallocate])
                free(blocks.pop(chance.randrange(len(blocks))))
            assert (memory_allocated(), max_memory_allocated()) == (before + s.current_bytes, before + s.peak_bytes)
    for block in blocks:
        allocator.raw_deallocate(block)


def test_threads_lose_nothing(before):
    def work():
        allocator = CPUAllocator()
        for _ in range(2000):
            Storage(10)
            FREE_WITHOUT_GIL(allocator.raw_allocate(30))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory_allocated() == before
    assert before + 30 <= max_memory_allocated() <= before + 8 * 40


def test_numpys_arrays_count_while_they_are_served(before):
    with serve_numpy():
        x = np.zeros(1000)
        y = np.sort(x) + x
    assert memory_allocated() == before + 16000
    np.zeros(1000)
    del x, y
    assert memory_allocated() == before and max_memory_allocated() in (before + 16000, before + 24000)


def test_of_a_device_type():
    assert memory_allocated(tensix.Device("cpu:0")) == memory_allocated("cpu") == memory_allocated()
    assert memory_allocated("cuda") == max_memory_allocated("cuda") == 0
    reset_peak_memory_stats("cuda")
    for function in (memory_allocated, max_memory_allocated, reset_peak_memory_stats, memory_reserved, memory_summary):
        with pytest.raises(ValueError, match="nonsense"):
            function("nonsense")
    with pytest.raises(RuntimeError, match="is not set"):
        memory_reserved("cuda")


def test_reserved_has_what_is_kept_below_adaptors():
    cache = CachingAllocator()
    with use_allocator(StatisticsAdaptor(LimitingAdaptor(cache, "1MB"))):
        Storage(4096).reset()
        assert memory_reserved() - memory_allocated() == 4096
        cache.trim()
        assert memory_reserved() == memory_allocated()
    with use_allocator(CPUAllocator()):
        assert memory_reserved() == memory_allocated()


def test_summary_tells_of_the_allocator_in_use():
    with use_allocator(LimitingAdaptor(CachingAllocator(max_cached="1MiB"), "1GB")):
        Storage(65536).reset()
        block = Storage(65536)
        Storage(4096).reset()
        found = dict(line.split("  ", 1) for line in memory_summary().replace("  of", "of").splitlines())
        block.reset()
    found = {name: text.strip() for name, text in found.items()}
    assert found["allocator in use"].startswith("LimitingAdaptor(CachingAllocator(CPUAllocator(")
    assert found["kept for reuse"] == "4.00 KiB, at most 1.00 MiB"
    assert found["allocations"] == "3, 1 of them (33%) from what was kept"
    assert found["allocated"] == tensix.format_size(memory_allocated() + 65536)
    assert "peak allocated" in found and "of it with pages" in found


@pytest.mark.skipif(sys.platform != "linux", reason="other systems say it elsewhere")
def test_summary_tells_of_the_process():
    program = (
        "import tensix\n"
        "x = tensix.ones(100 << 18)\n"
        "del x\n"
        "tensix.get_allocator().trim()\n"
        "lines = tensix.memory_summary().splitlines()[-2:]\n"
        "print(*(float(line.split()[-2]) for line in lines), *(line.split()[-1] for line in lines))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    now, most, *units = done.stdout.split()
    assert units == ["MiB", "MiB"] and float(most) > float(now) + 90
