"""Allocators of callables and of C functions: what they return is checked, what they raise is raised."""

import ctypes
import gc
import subprocess
import sys
import threading
import weakref

import pytest

import tensix
from tensix.core import CPUAllocator, OutOfMemoryError, Storage, StorageImpl, cow, use_allocator
from tensix.memory import CachingAllocator, CallbackAllocator, FunctionAllocator

LIBC = ctypes.CDLL(None)
MALLOC_TYPE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)
FREE_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Arena:
    """Addresses one after the other, with memory behind them; writes down what it gave and what came back."""

    def __init__(self, alignment=64):
        self.upstream, self.blocks, self.asked, self.back = CPUAllocator(alignment=alignment), {}, [], []

    def allocate(self, nbytes):
        self.asked.append(nbytes)
        block = self.upstream.allocate(nbytes)
        self.blocks[block.get()] = block
        return block.get()

    def deallocate(self, address):
        self.back.append(self.blocks.pop(address).get())


@pytest.fixture
def arena():
    return Arena()


@pytest.fixture(params=["callbacks", "C functions"])
def make(request, arena):
    """Return an allocator over two functions of Python, called straight or by way of C."""
    if request.param == "callbacks":
        return CallbackAllocator
    return lambda allocate, deallocate, **options: FunctionAllocator(
        MALLOC_TYPE(allocate), FREE_TYPE(deallocate), **options
    )


def test_tensors_live_in_what_the_functions_make(make, arena):
    allocator = make(arena.allocate, arena.deallocate)
    with tensix.use_allocator(allocator):
        x = tensix.ones(100)
        y = x + x
    assert x.data_ptr() in arena.blocks and y.allocator is allocator and y.tolist() == [2] * 100
    del x, y
    assert not arena.blocks and len(arena.asked) == len(arena.back)
    assert not allocator.allocate(0) and 0 not in arena.asked


def test_null_means_no_memory(make, arena):
    for null in (0, None):
        with pytest.raises(OutOfMemoryError, match="cannot allocate 100 bytes") as caught:
            Storage(100, make(lambda nbytes, null=null: null, arena.deallocate))
        assert caught.value.nbytes == 100
    assert arena.back == []


def test_a_misaligned_address_is_refused_and_freed(make, arena):
    before = CPUAllocator.bytes_in_use()
    freed = []
    with pytest.raises(RuntimeError, match=r"got the address 0x1008, which is not a multiple of 16"):
        make(lambda nbytes: 0x1008, freed.append).allocate(100)
    assert freed == [0x1008] and CPUAllocator.bytes_in_use() == before
    freed.clear()
    for owner in (Storage, lambda nbytes, allocator: StorageImpl(nbytes, allocator=allocator)):
        with pytest.raises(RuntimeError, match="not a multiple of 16"):  # nothing is left for them to free once more
            owner(100, make(lambda nbytes: 0x1008, freed.append))
    with use_allocator(make(lambda nbytes: 0x1008, freed.append)), pytest.raises(RuntimeError, match="multiple of 16"):
        tensix.ones(3)
    assert freed == [0x1008] * 3
    freed[1:] = []
    make(lambda nbytes: 0x1008, freed.append, alignment=8).allocate(100).clear()
    assert freed == [0x1008] * 2
    with pytest.raises(ValueError, match="power of two from 1 to"):
        make(arena.allocate, arena.deallocate, alignment=48)
    assert make(arena.allocate, arena.deallocate, alignment=4096).alignment == 4096


def test_blocks_are_simple(make, arena):
    x = Storage(100, make(arena.allocate, arena.deallocate))
    assert cow.has_simple_data_ptr(x)
    y = x.lazy_clone()
    assert y.data_ptr() == x.data_ptr() and y.mutable_data_ptr() in arena.blocks and len(arena.blocks) == 2


def test_blocks_keep_the_allocator_and_its_functions_alive(make):
    arena = Arena()
    allocator = make(arena.allocate, arena.deallocate)
    block, gone = allocator.allocate(100), weakref.ref(allocator)
    blocks = arena.blocks
    del allocator, arena
    gc.collect()
    assert gone() is not None
    block.clear()
    assert blocks == {} and gone() is None


def test_freed_in_other_threads(make, arena):
    allocator = make(arena.allocate, arena.deallocate)
    held = [[allocator.allocate(n + 1) for n in range(100)] for _ in range(8)]
    threads = [threading.Thread(target=mine.clear) for mine in held]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(arena.back) == 800 and not arena.blocks


def test_what_a_callback_raises_is_raised(arena):
    def broken(nbytes):
        raise LookupError("no luck")

    with pytest.raises(LookupError, match="no luck"):
        Storage(100, CallbackAllocator(broken, arena.deallocate))
    with pytest.raises(TypeError, match=r"what allocate\(\) returned must be an address given as an int, found str"):
        Storage(100, CallbackAllocator(lambda nbytes: "here", arena.deallocate))
    with pytest.raises(ValueError, match="0 or more, found -64"):
        Storage(100, CallbackAllocator(lambda nbytes: -64, arena.deallocate))
    x = tensix.ones(3)
    with tensix.use_allocator(CallbackAllocator(broken, arena.deallocate)), pytest.raises(LookupError):
        x.add_(tensix.ones(3))
    assert x.tolist() == [1] * 3


def test_what_deallocate_raises_is_reported_and_the_process_goes_on(arena, monkeypatch):
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append(report.exc_value))

    def broken(address):
        raise LookupError("no luck")

    allocator = CallbackAllocator(arena.allocate, broken)
    Storage(100, allocator).reset()
    assert [str(report) for report in reports] == ["no luck"]
    assert Storage(100, allocator).nbytes() == 100


def test_what_is_no_function_is_refused(arena):
    for wrong in ((None, arena.deallocate), (arena.allocate, 5)):
        with pytest.raises(TypeError, match="needs two callables"):
            CallbackAllocator(*wrong)
    with pytest.raises(TypeError, match=r"For Python callables use CallbackAllocator\(\)"):
        FunctionAllocator(arena.allocate, arena.deallocate)
    with pytest.raises(ValueError, match="found a null address"):
        FunctionAllocator(LIBC.malloc, 0)
    for cls in (CallbackAllocator, FunctionAllocator):
        with pytest.raises(RuntimeError, match="is null"):
            cls.__new__(cls).allocate(10)


def test_functions_of_the_c_library_in_every_form():
    addresses = [ctypes.cast(function, ctypes.c_void_p).value for function in (LIBC.malloc, LIBC.free)]
    for functions in ((LIBC.malloc, LIBC.free), addresses, (LIBC.malloc, addresses[1])):
        with tensix.use_allocator(FunctionAllocator(*functions)):
            assert tensix.ones(1000).sum() == 1000
    with pytest.raises(OutOfMemoryError):
        FunctionAllocator(LIBC.malloc, LIBC.free).allocate((1 << 63) + 1)


def test_under_pressure_a_cache_above_gives_back_first(arena):
    room = 5 << 20

    def allocate(nbytes):
        return arena.allocate(nbytes) if sum(map(lambda block: 2 << 20, arena.blocks)) + nbytes <= room else 0

    caching = CachingAllocator(CallbackAllocator(allocate, arena.deallocate))
    first, second = caching.allocate(2 << 20), caching.allocate(2 << 20)
    first.clear(), second.clear()
    assert caching.stats().cached == 4 << 20
    assert caching.allocate(3 << 20) and len(arena.back) == 2


def test_at_exit_living_blocks_are_left_to_the_system():
    script = """
import ctypes, tensix
from tensix.memory import CallbackAllocator, FunctionAllocator, LoggingAdaptor, TrackingAdaptor
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
freed = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda address: print("freed"))
kept = [tensix.Storage(100, CallbackAllocator(libc.malloc, lambda address: print("freed")))]
kept.append(tensix.Storage(100, FunctionAllocator(libc.malloc, freed)))
kept.append(tensix.Storage(100, TrackingAdaptor(LoggingAdaptor(None, "/dev/null"))))
import sys
sys.modules["kept"] = kept
"""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
