"""The cache in many threads, without the GIL and over forks. See Note [The GIL is the lock of the cache]."""

import ctypes
import os
import queue
import subprocess
import sys
import threading

import pytest

from tensix.core import CPUAllocator, Storage
from tensix.memory import CachingAllocator

MIB = 1 << 20


def test_freed_without_the_gil_blocks_come_back_with_the_next_one_who_has_it(fake):
    caching = CachingAllocator(fake)
    addresses = set()
    for n in range(3):
        block = caching.allocate(2 * MIB)
        addresses.add(block.get())
        if n < 2:
            free_without_the_gil(block)
    assert len(addresses) == 1 and caching.stats() == (2 * MIB, 0, caching.max_cached, 2, 1, 0)
    free_without_the_gil(block)
    assert caching.stats()[:2] == (0, 2 * MIB) and caching.trim() == 2 * MIB


def test_freed_without_the_gil_the_bound_holds_all_the_same(fake):
    caching = CachingAllocator(fake, max_cached=5 * MIB)
    for block in [caching.allocate(2 * MIB) for _ in range(4)]:
        free_without_the_gil(block)
    assert fake.back == [2 * MIB] * 2 and caching.stats()[:2] == (0, 4 * MIB)
    held = caching.allocate(100)
    del caching
    assert fake.back == [2 * MIB] * 4
    free_without_the_gil(held)
    assert fake.back[-1] == 128


def free_without_the_gil(block):
    """Do as C code does that runs beside Python: ctypes lets the GIL go around the call."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(block.get_deleter())(block.release_context())


def test_eight_threads_free_without_the_gil_while_one_allocates():
    caching, before = CachingAllocator(max_cached=8 * MIB), CPUAllocator.bytes_in_use()
    libc_free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(caching.allocate(1).get_deleter())
    waiting = queue.SimpleQueue()

    def work():
        while (context := waiting.get()) is not None:
            libc_free(context)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for n in range(5000):
        waiting.put(caching.allocate(1 + n * 104729 % (2 * MIB)).release_context())
    for _ in threads:
        waiting.put(None)
    for thread in threads:
        thread.join()
    assert caching.stats().in_use == 0 and caching.stats().cached <= 8 * MIB
    caching.trim()
    assert CPUAllocator.bytes_in_use() == before


def test_eight_threads():
    caching = CachingAllocator(max_cached=16 * MIB)
    before = CPUAllocator.bytes_in_use()

    def work(seed):
        held = []
        for i in range(300):
            held.append(Storage(MIB + (seed * 7919 + i * 104729) % (4 * MIB), caching))
            if len(held) > 3:
                held.pop(i % 3)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stats = caching.stats()
    assert stats.in_use == 0 and stats.cached <= 16 * MIB and stats.hits + stats.misses == 2400
    assert caching.trim() == stats.cached and CPUAllocator.bytes_in_use() == before
    assert 0.0 < stats.hit_rate < 1.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_goes_on():
    script = """
import os, threading, tensix
from tensix.core import Storage
stop = False
def churn():
    while not stop:
        Storage(2 << 20)
thread = threading.Thread(target=churn)
thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        for _ in range(10):
            Storage(2 << 20); Storage(5 << 20)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
thread.join()
"""
    # Python warns of forks beside threads: that is what is tested.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
