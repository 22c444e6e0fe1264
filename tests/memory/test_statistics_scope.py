"""Counting the blocks of a scope."""

import ctypes
import gc
import os
import threading

import pytest

import tensix
from tensix import memory
from tensix.core import CPUAllocator, Storage
from tensix.core.memory_reports import listeners
from tensix.memory import CachingAllocator, record, statistics

FREE_WITHOUT_GIL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(CPUAllocator().raw_deleter())  # ctypes lets go of the GIL


def numbers(s):
    return s.current_bytes, s.peak_bytes, s.total_bytes, s.current_count, s.peak_count, s.total_count


def test_numbers_while_open_and_after():
    with statistics() as s:
        assert numbers(s) == (0, 0, 0, 0, 0, 0)
        first, second = Storage(100), Storage(20)
        assert numbers(s) == (120, 120, 120, 2, 2, 2)
        first.reset()
        third = Storage(50)
        assert numbers(s) == (70, 120, 170, 2, 2, 3)
    second.reset()
    third.reset()
    Storage(1000)
    assert numbers(s) == (70, 120, 170, 2, 2, 3)


def test_end_of_an_older_block_does_not_count():
    older = Storage(100)
    with statistics() as s:
        older.reset()
        Storage(7).reset()
    assert numbers(s) == (0, 7, 7, 0, 1, 1)


def test_nested_scopes_count_each_for_itself():
    with statistics() as outer:
        block = Storage(100)
        with statistics() as inner:
            block.reset()
            block = Storage(30)
            with statistics() as innermost:
                block.reset()
        Storage(5).reset()
    assert numbers(innermost) == (0, 0, 0, 0, 0, 0)
    assert numbers(inner) == (0, 30, 30, 0, 1, 1)
    assert numbers(outer) == (0, 100, 135, 0, 1, 3)


def test_many_scopes_and_out_of_order_ends():
    scopes = [statistics().__enter__() for _ in range(50)]
    Storage(8).reset()
    for s in scopes[::2]:
        s.__exit__(None, None, None)
    Storage(8).reset()
    with statistics() as last:
        Storage(8).reset()
    for s in scopes[1::2]:
        s.__exit__(None, None, None)
    assert {s.total_count for s in scopes[::2]} == {1}
    assert {s.total_count for s in scopes[1::2]} == {3} and last.total_count == 1


@pytest.mark.parametrize("nbytes", [1000, 4 << 20])
def test_blocks_of_the_caching_allocator_count_once(nbytes):
    caching = CachingAllocator()
    Storage(nbytes, caching).reset()
    with statistics() as s:
        Storage(nbytes, caching).reset()
        Storage(nbytes, caching).reset()
    assert numbers(s) == (0, nbytes, 2 * nbytes, 0, 1, 2)


LIBC = ctypes.CDLL(None)
LIBC.malloc.restype, LIBC.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
LIBC.free.restype, LIBC.free.argtypes = None, [ctypes.c_void_p]
LEAVES = {
    "CPUAllocator": CPUAllocator,
    "CachingAllocator": CachingAllocator,
    "CallbackAllocator": lambda: memory.CallbackAllocator(CPUAllocator().raw_allocate, CPUAllocator().raw_deallocate),
    "FunctionAllocator": lambda: memory.FunctionAllocator(LIBC.malloc, LIBC.free),
    "HugePageAllocator": memory.HugePageAllocator,
    "MappedAllocator": memory.MappedAllocator,
    "SharedMemoryAllocator": memory.SharedMemoryAllocator,
}
WRAPPERS = {
    "alone": lambda upstream: upstream,
    "with statistics": memory.StatisticsAdaptor,
    "guarded": memory.GuardAdaptor,
    "cached": CachingAllocator,
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("leaf", LEAVES)
def test_every_allocator_that_makes_memory_is_heard_once(leaf, wrapper):
    allocator = WRAPPERS[wrapper](LEAVES[leaf]())
    nbytes = 3 << 20
    with statistics() as s, record() as recording:
        Storage(nbytes, allocator).reset()
    expected = 2 if leaf == "CallbackAllocator" else 1  # what its callables call is an allocator itself
    assert s.total_count == expected
    assert nbytes <= s.total_bytes / expected <= nbytes * 1.125 + 4096  # guards and size classes
    snapshot = recording.snapshot()
    assert {text.partition("(")[0] for text in snapshot["allocators"]} >= {leaf} or wrapper == "cached"
    assert len(snapshot["blocks"]["nbytes"]) == expected


def test_tensors():
    with statistics() as s:
        x = tensix.ones(1000)
        x = x + x
    assert (s.peak_bytes, s.current_bytes) == (8000, 4000)
    assert x.shape == (1000,)


def test_frees_without_the_gil():
    allocator = CPUAllocator()
    with statistics() as s:
        addresses = [allocator.raw_allocate(10) for _ in range(5)]
        FREE_WITHOUT_GIL(addresses.pop())
        CPUAllocator().raw_deallocate(addresses.pop())
    assert numbers(s) == (30, 50, 50, 3, 5, 5)
    for address in addresses:
        FREE_WITHOUT_GIL(address)


def test_one_thread_only():
    handed_over = []

    def work(nbytes):
        handed_over.append(Storage(nbytes))
        Storage(nbytes)

    with statistics() as everybody, statistics(this_thread=True) as mine:
        block = Storage(1)
        thread = threading.Thread(target=work, args=(100,))
        thread.start()
        thread.join()
        releaser = threading.Thread(target=block.reset)
        releaser.start()
        releaser.join()
        handed_over.clear()
    assert numbers(mine) == (0, 1, 1, 0, 1, 1)  # freed elsewhere, but ours
    assert numbers(everybody) == (0, 201, 201, 0, 3, 3)


def test_eight_threads_are_counted_exactly():
    allocator, times = CPUAllocator(), 500
    seen = []

    def work():
        with statistics(this_thread=True) as mine:
            for _ in range(times):
                FREE_WITHOUT_GIL(allocator.raw_allocate(16))
                Storage(8)
        seen.append(numbers(mine))

    with statistics() as s:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (s.current_bytes, s.total_bytes) == (0, 8 * times * 24)
    assert (s.current_count, s.total_count) == (0, 8 * times * 2)
    assert seen == [(0, 16, times * 24, 0, 1, times * 2)] * 8


def test_scope_is_entered_once():
    with statistics() as s:
        with pytest.raises(RuntimeError, match="entered once"):
            s.__enter__()
        Storage(8)
    with pytest.raises(RuntimeError, match="entered once"), s:
        pass
    assert s.total_count == 1


def test_forgotten_scope_ends_with_its_object():
    statistics().__enter__()
    gc.collect()
    with statistics() as s:
        Storage(8).reset()
    assert s.total_count == 1


def test_end_after_an_exception():
    with pytest.raises(KeyError), statistics() as s:
        Storage(8)
        raise KeyError
    Storage(8)
    assert s.total_count == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_child_of_a_fork_counts_on():
    with statistics() as s:
        kept = Storage(100)
        child = os.fork()
        if child == 0:
            Storage(50).reset()
            kept.reset()
            os._exit(0 if numbers(s) == (0, 150, 150, 0, 2, 2) else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert numbers(s) == (100, 100, 100, 1, 1, 1)


def test_repr_has_human_sizes():
    with statistics() as s:
        block = Storage(3 << 20)
    assert repr(s) == "statistics(current=3.00 MiB in 1, peak=3.00 MiB in 1, total=3.00 MiB in 1)"
    block.reset()


@pytest.mark.parametrize("scope", [statistics, memory.copies, memory.Profile], ids=lambda scope: scope.__name__)
def test_scope_that_is_dropped_open_hears_nothing_of_its_own_end(scope):
    """What goes with it may allocate and copy while it is half taken apart."""

    class Last:
        def __del__(self):
            x = tensix.zeros(1000)
            y = x.lazy_clone()
            y.fill_(1)

    class Scope(scope):
        pass

    for of_a_cycle in (False, True):
        dropped = Scope().__enter__()
        dropped.last, dropped.itself = Last(), dropped if of_a_cycle else None
        del dropped
        gc.collect()
        assert listeners() == []
    with statistics() as s:
        assert listeners() == [s]
        Storage(8).reset()
    assert s.total_count == 1
