"""Large blocks are kept, bounded, given back under pressure, and never mixed up."""

import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import tensix
from tensix.core import Allocator, CPUAllocator, DataPtr, MemoryReporter, OutOfMemoryError, Storage, cow
from tensix.memory import CachingAllocator, CallbackAllocator, SharedMemoryAllocator

MIB = 1 << 20


def test_it_is_the_default():
    assert type(tensix.get_allocator("cpu")) is CachingAllocator
    assert tensix.empty(3).allocator is tensix.get_allocator("cpu")


@pytest.mark.parametrize("upstream", [None, CPUAllocator(alignment=4096)])
def test_a_large_block_is_reused_with_its_bytes(upstream):
    caching = CachingAllocator(upstream)
    x = Storage(8 * MIB, caching)
    tensix.Tensor.from_storage(x, 0, (8 * MIB,), (1,), "uint8").fill_(7)
    address = x.data_ptr()
    x.reset()
    again = Storage(8 * MIB, caching)
    assert again.data_ptr() == address
    assert tensix.Tensor.from_storage(again, 0, (8 * MIB,), (1,), "uint8")[::MIB].tolist() == [7] * 8
    assert (caching.stats().hits, caching.stats().misses, caching.stats().reused) == (1, 1, 8 * MIB)
    assert address % (64 if upstream is None else 4096) == 0


@pytest.mark.parametrize("nbytes", [MIB, MIB + 1, 3 * MIB - 1, 5 * MIB + 12345, 64 * MIB, (1 << 40) + 1, (1 << 60) + 1])
def test_a_block_is_large_enough_and_at_most_an_eighth_larger(fake, nbytes):
    CachingAllocator(fake).allocate(nbytes).clear()
    assert nbytes <= fake.given[0] <= nbytes + nbytes // 8 + 8


@pytest.mark.parametrize("emptied_by", [DataPtr.clear, DataPtr.release_context])
def test_a_block_that_is_gone_is_not_asked_what_it_was(emptied_by):
    caching = CachingAllocator()
    block = caching.allocate(64)
    deleter, context = block.get_deleter(), block.get_context()
    if emptied_by(block) is not None:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(context)
    caching.is_simple_data_ptr(block)
    assert caching.stats()[:2] == (0, 64)


def test_every_size_finds_the_block_that_was_made_for_its_class(fake):
    caching = CachingAllocator(fake, max_cached=1 << 62)
    for nbytes in range(MIB, 5 * MIB, 40961):
        caching.allocate(nbytes).clear()
        hits, made = caching.stats().hits, len(fake.given)
        block = caching.allocate(fake.given[-1] if made else nbytes)
        assert caching.stats().hits == hits + 1 and len(fake.given) == made
        block.clear()
    assert len(fake.given) < 30  # eight classes per doubling


@pytest.mark.parametrize("nbytes, capacity", [(1, 64), (64, 64), (65, 128), (512, 512), (513, 576), (1025, 1152)])
def test_small_blocks_are_kept_too(fake, nbytes, capacity):
    caching = CachingAllocator(fake)
    block = caching.allocate(nbytes)
    address = block.get()
    assert caching.stats()[:2] == (capacity, 0)
    block.clear()
    assert caching.stats()[:2] == (0, capacity) and caching.allocate(capacity).get() == address
    assert fake.given == [capacity] and fake.back == []


def test_of_small_blocks_a_few_of_each_size_are_kept(fake):
    """Half of them in front, which without the GIL is for the cache that a thread uses first."""
    caching = CachingAllocator(fake, max_cached="8GiB")

    def most_kept(nbytes):
        blocks = [caching.allocate(nbytes) for _ in range(5000)]
        blocks.clear()
        kept = caching.stats().cached // fake.given[-1]
        caching.trim()
        return kept

    with ThreadPoolExecutor(1) as thread:
        kept = list(thread.map(most_kept, (64, 4096, 65536, 900_000, MIB - 1)))
    assert kept == [4096, 64, 8, 8, 5000]
    assert sum(fake.back) == sum(fake.given)


def test_the_longest_unused_goes_first_when_the_bound_is_reached(fake):
    caching = CachingAllocator(fake, max_cached=4 * MIB)
    blocks = [caching.allocate(n * MIB) for n in (1, 2, 3)]
    for block in blocks:
        block.clear()  # 1, then 1 + 2, then 2 + 3 would be too much: 1 and 2 go
    assert fake.back == [1 * MIB, 2 * MIB]
    assert caching.stats().cached == 3 * MIB
    caching.allocate(5 * MIB).clear()  # more than the bound by itself
    assert fake.back[-1] == 5 * MIB and caching.stats().cached == 3 * MIB


def test_small_blocks_go_when_nothing_else_is_left(fake):
    caching = CachingAllocator(fake, max_cached=4 * MIB)
    small = [caching.allocate(nbytes) for nbytes in (64, 64, 1024)]
    large = caching.allocate(2 * MIB)
    for block in (*small, large):
        block.clear()
    caching.allocate(3 * MIB).clear()
    assert fake.back == [2 * MIB]
    caching.max_cached = 64
    assert fake.back[1:] == [3 * MIB, 1024, 64]
    assert caching.stats()[:2] == (0, 64) and sum(fake.back) == sum(fake.given) - 64
    held = caching.allocate(1)
    del caching
    held.clear()
    assert sum(fake.back) == sum(fake.given)


def test_trim_gives_everything_back(fake):
    caching = CachingAllocator(fake)
    held = caching.allocate(2 * MIB)
    caching.allocate(MIB).clear()
    assert caching.stats()[:2] == (2 * MIB, MIB)
    assert (caching.trim(), caching.trim()) == (MIB, 0)
    assert fake.back == [MIB]
    held.clear()
    assert caching.stats()[:2] == (0, 2 * MIB)


def test_max_cached_can_be_set_and_acts_at_once(fake):
    caching = CachingAllocator(fake, "1GiB")
    assert caching.max_cached == 1 << 30
    caching.allocate(2 * MIB).clear()
    caching.max_cached = 0
    assert fake.back == [2 * MIB]
    caching.allocate(2 * MIB).clear()
    assert caching.stats().cached == 0
    with pytest.raises(ValueError, match="a size is a number and a unit"):
        caching.max_cached = "lots"
    with pytest.raises(ValueError, match="0 or more, found -1"):
        CachingAllocator(max_cached=-1)


def test_under_pressure_everything_kept_is_given_back_before_failing(make_fake):
    fake = make_fake(capacity=10 * MIB)
    caching = CachingAllocator(fake)
    caching.allocate(8 * MIB).clear()
    block = caching.allocate(4 * MIB)  # 8 + 4 would not fit
    assert fake.back == [8 * MIB] and block
    block = None
    with pytest.raises(OutOfMemoryError) as caught:
        caching.allocate(11 * MIB)
    assert caching.stats()[:2] == (0, 0) and caught.value.__context__ is None


def test_an_upstream_that_raises_leaves_nothing_behind():
    class Broken(Allocator):
        def allocate(self, nbytes):
            raise LookupError("no luck")

    caching = CachingAllocator(Broken())
    with pytest.raises(LookupError, match="no luck"):
        caching.allocate(MIB)
    assert caching.stats() == (0, 0, caching.max_cached, 0, 0, 0, 0)


def test_blocks_outlive_the_allocator(fake):
    caching = CachingAllocator(fake)
    kept, held = caching.allocate(MIB), caching.allocate(2 * MIB)
    kept.clear()
    del caching
    assert fake.back == [MIB]
    held.clear()
    assert fake.back == [MIB, 2 * MIB]


def test_reports_and_bytes_in_use_are_of_what_is_given_out():
    events = []

    class Listener(MemoryReporter):
        def report_memory_usage(self, address, nbytes, total_allocated, device):
            events.append((nbytes, total_allocated - before))

    caching, before = CachingAllocator(), CPUAllocator.bytes_in_use()
    with Listener():
        for _ in range(2):
            caching.allocate(3 * MIB - 5).clear()
        caching.trim()
    assert events == [(3 * MIB - 5, 3 * MIB - 5), (5 - 3 * MIB, 0)] * 2
    assert CPUAllocator.bytes_in_use() == before


def test_large_storages_are_copied_on_write(fake):
    for nbytes in (100, 2 * MIB):
        x = Storage(nbytes, CachingAllocator())
        assert cow.has_simple_data_ptr(x)
        y = x.lazy_clone()
        assert x.is_cow() and y.data_ptr() == x.data_ptr()
        assert y.mutable_data_ptr() != x.data_ptr()
    assert not cow.has_simple_data_ptr(Storage.from_data_ptr(8, DataPtr.from_callable(64, print), CachingAllocator()))


def test_blocks_that_upstream_does_not_call_simple_are_not():
    shared = Storage(2 * MIB, CachingAllocator(SharedMemoryAllocator()))
    assert not cow.has_simple_data_ptr(shared)
    shared.reset()
    again = Storage(2 * MIB, shared_again := CachingAllocator(SharedMemoryAllocator()))
    assert not shared_again.is_simple_data_ptr(again.data_ptr_object())


def test_resident_are_the_pages_of_what_is_kept():
    caching = CachingAllocator(CPUAllocator(alignment=4096))
    block = caching.allocate(64 * MIB)
    ctypes.memset(block.get() + 10 * MIB, 1, 3 * MIB)
    block.clear()
    stats = caching.stats()
    assert 3 * MIB <= stats.resident < 10 * MIB and stats.cached == 64 * MIB
    caching.trim()
    assert caching.stats().resident == 0


def test_fills_are_refused():
    with pytest.raises(ValueError, match="cannot fill blocks that are reused"):
        CachingAllocator(CPUAllocator(zero_fill=True))


def test_a_bare_instance_and_a_second_init_are_safe(fake):
    bare = CachingAllocator.__new__(CachingAllocator)
    bare.allocate(2 * MIB).clear()
    assert bare.stats().cached == 0  # its bound is 0
    bare.__init__()
    held = bare.allocate(2 * MIB)
    bare.__init__(fake)
    held.clear()
    bare.allocate(4 * MIB).clear()
    assert fake.given == [4 * MIB]


@pytest.mark.parametrize("value, expected", [("3MiB", 3 * MIB), ("0", 0)])
def test_the_bound_comes_from_the_environment(value, expected):
    finished = subprocess.run(
        [sys.executable, "-c", "import tensix; print(tensix.get_allocator().max_cached)"],
        env={**os.environ, "TENSIX_MAX_CACHED": value}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(finished.stdout) == expected


def test_a_deallocation_that_allocates_through_the_same_cache():
    """What it frees is kept after the others went, and not given back in the same breath, which would never end."""
    calls = []

    def deallocate(address):
        calls.append(address)
        tensix.empty(4)

    memory = ctypes.create_string_buffer(1 << 16)
    places = iter(range(-(-ctypes.addressof(memory) // 64) * 64, ctypes.addressof(memory) + (1 << 16) - 64, 64))
    cache = CachingAllocator(CallbackAllocator(lambda nbytes: next(places), deallocate), max_cached="1MiB")
    with tensix.use_allocator(cache):
        x = tensix.empty(10)
        del x
        assert cache.trim() > 0
    assert len(calls) == 1 and cache.stats().cached > 0
    cache.trim()


def test_descriptors_that_the_cache_holds_are_given_back():
    script = """
import resource
from tensix.memory import CachingAllocator, SharedMemoryAllocator
resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
cache = CachingAllocator(SharedMemoryAllocator(), max_cached="4GiB")
for first in (100_000, 1_000_000):
    blocks = [cache.allocate(first * (10 + i)) for i in range(40)]
    del blocks
print(cache.stats().misses)
"""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (finished.stdout.strip().isdigit(), finished.stderr) == (True, "")


@pytest.mark.parametrize("value", ["foo", "", "-1"])
def test_a_bad_environment_variable_is_named(value):
    found = subprocess.run(
        [sys.executable, "-c", "import tensix"], env={**os.environ, "TENSIX_MAX_CACHED": value},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert found.returncode == 1 and f"the environment variable TENSIX_MAX_CACHED is {value!r}" in found.stderr
