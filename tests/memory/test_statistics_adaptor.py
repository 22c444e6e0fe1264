"""What a StatisticsAdaptor counts is what happened."""

import ctypes
import sys
import threading

import pytest

import tensix
from tensix.core import CPUAllocator, DataPtr, Storage
from tensix.memory import CachingAllocator, StatisticsAdaptor


@pytest.fixture
def statistics():
    return StatisticsAdaptor(CPUAllocator())


def numbers(adaptor):
    kinds = ("current", "peak", "total")
    return tuple(getattr(adaptor, f"{kind}_{what}") for what in ("bytes", "count") for kind in kinds)


def test_it_counts(statistics):
    assert numbers(statistics) == (0, 0, 0, 0, 0, 0)
    x = statistics.allocate(100)
    y = statistics.allocate(50)
    assert numbers(statistics) == (150, 150, 150, 2, 2, 2)
    x.clear()
    z = statistics.allocate(10)
    assert numbers(statistics) == (60, 150, 160, 2, 2, 3)
    y.clear(), z.clear()
    assert numbers(statistics) == (0, 150, 160, 0, 2, 3)


def test_no_bytes_are_no_block(statistics):
    statistics.allocate(0)
    assert numbers(statistics) == (0, 0, 0, 0, 0, 0)


def test_the_peak_can_start_again(statistics):
    x = statistics.allocate(10)
    statistics.allocate(100).clear()
    statistics.reset_peak()
    assert (statistics.peak_bytes, statistics.peak_count) == (10, 1)
    x.clear()


def test_a_failure_counts_nothing(statistics):
    with pytest.raises(MemoryError):
        statistics.allocate(1 << 62)
    assert numbers(statistics) == (0, 0, 0, 0, 0, 0)


def test_bytes_are_those_asked_for_wherever_it_stands():
    below = StatisticsAdaptor(CPUAllocator())
    above = StatisticsAdaptor(CachingAllocator(below))
    for _ in range(3):
        above.allocate((3 << 20) - 1).clear()
    assert (above.total_count, above.total_bytes) == (3, 3 * ((3 << 20) - 1))
    assert (below.total_count, below.current_bytes) == (1, 3 << 20)  # the cache keeps it, rounded up


def test_eight_threads_lose_nothing(statistics):
    def work():
        for n in range(1, 500):
            Storage(n, statistics)
            with tensix.use_allocator(statistics):
                tensix.ones(n).add_(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statistics.current_bytes == statistics.current_count == 0
    assert statistics.total_count >= 2 * 8 * 499 and statistics.total_bytes >= 8 * 5 * sum(range(1, 500))


@pytest.mark.parametrize("allocator", [CachingAllocator(), StatisticsAdaptor(CPUAllocator())], ids=["cache", "adaptor"])
def test_deleter_with_a_python_object_behind_it(allocator):
    """Frees with the GIL have a twin of the deleter, but an object that was to live as long still has to go."""
    block = allocator.allocate(64)
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(block.get_deleter())
    count = sys.getrefcount(deleter)
    Storage.from_data_ptr(64, DataPtr(block.get(), block.release_context(), deleter)).reset()
    assert sys.getrefcount(deleter) == count


@pytest.mark.parametrize("kind", [ctypes.CFUNCTYPE, ctypes.PYFUNCTYPE], ids=["without the GIL", "with it"])
def test_blocks_that_are_freed_by_hand(statistics, kind):
    for _ in range(200):  # more than nodes are kept
        blocks = [statistics.allocate(64) for _ in range(2)]
        for block in blocks:
            kind(None, ctypes.c_void_p)(block.get_deleter())(block.release_context())
    assert numbers(statistics) == (0, 128, 400 * 64, 0, 2, 400)
