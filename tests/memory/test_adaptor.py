"""Adaptors stand between a storage and its allocator: blocks, errors and copy-on-write go through them."""

import contextlib
import ctypes
import gc
import io
import itertools
import threading
import weakref

import pytest

import tensix
from tensix.core import Allocator, CPUAllocator, DataPtr, OutOfMemoryError, Storage, cow
from tensix.memory import (
    Adaptor,
    AlignmentAdaptor,
    CachingAllocator,
    FailureCallbackAdaptor,
    GuardAdaptor,
    LimitingAdaptor,
    LoggingAdaptor,
    StatisticsAdaptor,
)

ADAPTORS = {
    "plain": Adaptor,
    "alignment": lambda upstream=None: AlignmentAdaptor(upstream, 1024),
    "failure": lambda upstream=None: FailureCallbackAdaptor(upstream, lambda nbytes: False),
    "guard": lambda upstream=None: GuardAdaptor(upstream, 100),
    "limiting": lambda upstream=None: LimitingAdaptor(upstream, "64MiB"),
    "logging": lambda upstream=None: LoggingAdaptor(upstream, io.StringIO()),
    "statistics": StatisticsAdaptor,
}


class Empty(Allocator):
    """Never any memory."""

    def allocate(self, nbytes):
        raise OutOfMemoryError(nbytes, 64, 0)


class Guarded(Allocator):
    """Blocks that are not simple."""

    def allocate(self, nbytes):
        block = CPUAllocator().allocate(nbytes)
        return DataPtr.from_callable(block.get(), lambda address: block.clear())


@pytest.fixture(params=ADAPTORS.values(), ids=ADAPTORS)
def make(request):
    return request.param


@pytest.fixture
def in_use():
    """Bytes given out since the test began."""
    before = CPUAllocator.bytes_in_use()
    return lambda: CPUAllocator.bytes_in_use() - before


def test_a_tensor_lives_in_upstreams_memory(make, in_use):
    adaptor = make(CPUAllocator(alignment=4096))
    with tensix.use_allocator(adaptor):
        x = tensix.empty(1000, dtype=tensix.uint8)
    assert x.allocator is adaptor and x.data_ptr() % 4096 == 0
    x.fill_(3)
    assert x.tolist() == [3] * 1000
    del x
    assert in_use() == 0


def test_nothing_is_null(make):
    block = make(CPUAllocator()).allocate(0)
    assert not block and block.get_context() == 0


def test_without_upstream_the_one_that_serves_is_adapted(make):
    upstream = CPUAllocator()
    with tensix.use_allocator(upstream):
        assert make().upstream is make(None).upstream is upstream
    with pytest.raises(TypeError, match="needs an Allocator as upstream, found int"):
        make(5)


def test_blocks_keep_adaptor_and_upstream_alive():
    adaptor = StatisticsAdaptor(CPUAllocator())
    gone = weakref.ref(adaptor), weakref.ref(adaptor.upstream)
    block = adaptor.allocate(10)
    del adaptor
    gc.collect()
    assert gone[0]() is not None and gone[1]() is not None
    block.clear()
    del block
    assert gone[0]() is gone[1]() is None


def test_what_upstream_raises_goes_through(make):
    with pytest.raises(OutOfMemoryError, match="cannot allocate"):
        Storage(100, make(Empty()))


@pytest.mark.parametrize("depth", [1, 3])
def test_simple_blocks_stay_simple(make, depth, in_use):
    adaptor = CachingAllocator()
    for _ in range(depth):
        adaptor = make(adaptor)
    storage = Storage(100, adaptor)
    assert cow.has_simple_data_ptr(storage) and adaptor.is_simple_data_ptr(storage.data_ptr_object())
    clone = storage.lazy_clone()
    address = storage.data_ptr()
    one_block = in_use()
    assert clone.is_cow() and clone.data_ptr() == address and one_block >= 100
    assert storage.mutable_data_ptr() != address and in_use() == 2 * one_block
    assert clone.mutable_data_ptr() == address  # the last one takes the block back
    del storage, clone
    assert in_use() == 0


def test_blocks_that_are_not_simple_stay_so(make):
    storage = Storage(100, make(make(Guarded())))
    assert not cow.has_simple_data_ptr(storage)
    assert cow.lazy_clone_storage(storage) is None
    foreign = Storage.from_data_ptr(8, DataPtr.from_callable(64, lambda address: None), make(CPUAllocator()))
    assert not cow.has_simple_data_ptr(foreign)


@pytest.mark.parametrize("base", [Adaptor, StatisticsAdaptor])
def test_a_python_subclass_is_asked(base, in_use):
    class Doubling(base):
        def __init__(self):
            super().__init__(CPUAllocator(alignment=4096))

        def allocate(self, nbytes):
            self.asked = nbytes
            return super().allocate(2 * nbytes)

        def is_simple_data_ptr(self, data_ptr):
            self.looked = True
            return super().is_simple_data_ptr(data_ptr)

        def copy_data(self, dst, src, nbytes):
            self.copied = nbytes
            super().copy_data(dst, src, nbytes)

    adaptor = Doubling()
    storage = Storage(50, adaptor)
    assert adaptor.asked == 50 and in_use() == 100 and storage.data_ptr() % 4096 == 0
    assert cow.has_simple_data_ptr(storage) and adaptor.looked
    storage.clone()
    assert adaptor.copied == 50


def test_bare_instances_are_safe():
    for cls in Adaptor, AlignmentAdaptor, FailureCallbackAdaptor, GuardAdaptor, StatisticsAdaptor:
        assert cls.__new__(cls).allocate(10)
    with pytest.raises(OutOfMemoryError, match="limit 0"):
        LimitingAdaptor.__new__(LimitingAdaptor).allocate(10)


def test_freed_in_other_threads(make, in_use):
    adaptor = make(make(CPUAllocator()))
    blocks = [[adaptor.allocate(100 + n) for n in range(200)] for _ in range(8)]
    threads = [threading.Thread(target=lambda mine: [block.clear() for block in mine], args=(mine,)) for mine in blocks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert in_use() == 0


def test_freed_without_the_gil(make, in_use):
    adaptor = make(make(CPUAllocator()))
    blocks = [adaptor.allocate(100) for _ in range(8)]
    gone = weakref.ref(adaptor)
    del adaptor
    for block in blocks:
        free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(block.get_deleter())  # ctypes lets the GIL go
        threading.Thread(target=free, args=(block.release_context(),)).start()
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()
    assert gone() is None and in_use() == 0


@pytest.mark.parametrize("names", [*itertools.permutations(list(ADAPTORS)[1:], 3)], ids="-".join)
def test_they_stack_in_any_order(names, in_use):
    adaptor = CachingAllocator(CPUAllocator())
    for name in names:
        adaptor = ADAPTORS[name](adaptor)
    with tensix.use_allocator(adaptor):
        x = tensix.ones(1000)
        y = x.lazy_clone().add_(1)
        z = (x + y).reshape(10, 100).sum()
    assert z.tolist() == 3000 and x.allocator is y.allocator is adaptor
    assert x.data_ptr() % (1024 if "alignment" in names[-1:] else 64) == 0
    with pytest.raises(MemoryError):
        adaptor.allocate((1 << 64) - 200)
    del x, y, z
    assert in_use() == 0


def test_an_allocator_swapped_while_blocks_live(make, in_use):
    first, second = make(CPUAllocator()), make(CPUAllocator())
    with tensix.use_allocator(first):
        x = tensix.ones(100)
        with tensix.use_allocator(second):
            y = x.lazy_clone()
            y.add_(1)  # copied by the allocator of its storage
            z = x + y
    assert (y.allocator, z.allocator) == (first, second)
    del first, second, x, y, z
    assert in_use() == 0


@pytest.mark.parametrize("adaptor", [
    lambda upstream: AlignmentAdaptor(upstream, 64), GuardAdaptor, StatisticsAdaptor,
    lambda upstream: LimitingAdaptor(upstream, "1KiB"), lambda upstream: GuardAdaptor(AlignmentAdaptor(upstream, 4096)),
])  # fmt: skip
def test_upstreams_without_memory(adaptor):
    made = adaptor(tensix.get_allocator("meta"))
    assert made.allocate(12).device == tensix.Device("meta")
    with tensix.use_allocator(made, "meta"):
        assert tensix.empty(3, device="meta").shape == (3,)
    assert tensix.zeros(3, alignment=64, device="meta").device == tensix.Device("meta")


class Odd(Allocator):
    """Give out addresses that lie 8 bytes behind multiples of 64."""

    def __init__(self, alignment=None):
        if alignment is not None:
            self.alignment = alignment
        self.freed = 0

    def allocate(self, nbytes):
        block = ctypes.create_string_buffer(nbytes + 128)

        def free(address):
            self.freed += block is not None

        return DataPtr.from_callable(-(-ctypes.addressof(block) // 64) * 64 + 8, free)


@pytest.mark.parametrize("promised", [None, 16, 64, 128])
def test_promises_of_alignment_that_are_not_kept(promised):
    odd = Odd(promised)
    with tensix.use_allocator(odd), pytest.raises(RuntimeError, match=r"Odd gave the address 0x.*not a multiple"):
        tensix.empty(100, alignment=64)
    assert odd.freed == 1
    odd = Odd(8)
    with tensix.use_allocator(odd):
        assert tensix.empty(100, alignment=64).data_ptr() % 64 == 0


@pytest.mark.parametrize("promised", [0, -1, 3, 48, "x", 2.0, 2**70])
def test_alignments_that_are_none(promised):
    with pytest.raises(ValueError, match=r"Odd\.alignment must be a power of two, found"):
        AlignmentAdaptor(Odd(promised), 64)


@pytest.mark.parametrize("alignment", [-8, 0, 3])
def test_wanted_alignments_that_are_none(alignment):
    with pytest.raises(ValueError, match=f"alignment must be a power of two .* found {alignment}"):
        tensix.empty(3, alignment=alignment)


@pytest.mark.parametrize("cls", [
    Adaptor, CachingAllocator, GuardAdaptor, StatisticsAdaptor, lambda upstream: LimitingAdaptor(upstream, "1GiB"),
])  # fmt: skip
def test_only_so_many_lie_above_each_other(cls):
    """Each has a frame on the stack when a block comes or goes; 24,000 of them overflowed it."""
    top = CPUAllocator()
    for _ in range(100):
        top = cls(top)
    with pytest.raises(ValueError, match="cannot lie above more than 100 allocators"):
        cls(top)
    with tensix.use_allocator(top):
        x = tensix.ones(1000)
    assert x.sum().item() == 1000 and repr(top).count("CPUAllocator") == 1 and str(tensix.explain(x))
    del x


def test_chains_do_not_grow_in_their_midst():
    """Neither by a second `__init__` nor by adaptors over the current allocator."""
    bottom = StatisticsAdaptor()
    top = StatisticsAdaptor(bottom)
    with pytest.raises(ValueError, match="others lie above it already"):
        bottom.__init__(StatisticsAdaptor())
    with contextlib.ExitStack() as scopes, pytest.raises(ValueError, match="more than 100"):
        for _ in range(1000):
            scopes.enter_context(tensix.use_allocator(top))
            top = StatisticsAdaptor()


@pytest.mark.parametrize("cls", [StatisticsAdaptor, CachingAllocator])
def test_an_upstream_may_compare_as_it_likes(cls):
    class Equal(Allocator):
        def __eq__(self, other):
            return True

        def allocate(self, nbytes):
            return tensix.CPUAllocator().allocate(nbytes)

    assert cls(Equal()).allocate(10).get()


def test_an_upstream_that_names_itself_is_refused():
    class Loop(Allocator):
        upstream = property(lambda self: self)

    with pytest.raises(ValueError, match="more than 100"):
        StatisticsAdaptor(Loop())


@pytest.mark.parametrize("cls", [StatisticsAdaptor, CachingAllocator])
def test_allocators_above_themselves(cls):
    one = cls()
    above = StatisticsAdaptor(one)
    for upstream in (one, above):
        with pytest.raises(ValueError, match="cannot lie above itself"):
            one.__init__(upstream)
    assert one.allocate(8)


def test_a_log_needs_a_file():
    with pytest.raises(TypeError, match=r"LoggingAdaptor\(\) writes to a path or to a file, found NoneType"):
        LoggingAdaptor(None, None)
