"""The allocator interface and allocators written in Python, sound and unsound."""

import ctypes
import gc
import io
import weakref

import pytest

import tensix
from tensix import memory
from tensix.core import Allocator, CPUAllocator, DataPtr, OutOfMemoryError, Storage, cow

pytestmark = pytest.mark.usefixtures("no_leak")

UPSTREAM = CPUAllocator()


class Pool(Allocator):
    """Free its blocks by a method of its own, so that every block keeps it alive."""

    def __init__(self):
        self.freed = []

    def allocate(self, nbytes):
        address = UPSTREAM.raw_allocate(nbytes)
        return DataPtr.from_callable(address, self.free)

    def free(self, address):
        self.freed.append(address)
        UPSTREAM.raw_deallocate(address)


class Guarded(Allocator):
    """Hand out addresses 64 bytes behind the context, as PyTorch's mobile allocator does."""

    def allocate(self, nbytes):
        base = UPSTREAM.raw_allocate(nbytes + 64)
        return DataPtr(base + 64, base, UPSTREAM.raw_deleter())

    def is_simple_data_ptr(self, data_ptr):
        return data_ptr.get() == data_ptr.get_context() + 64


class Scripted(Allocator):
    """Return a given value, once the first block has been given out."""

    answer = staticmethod(UPSTREAM.allocate)

    def allocate(self, nbytes):
        return self.answer(nbytes)


def raise_oom(nbytes):
    raise OutOfMemoryError(nbytes, 64, 0)


def moved_from(nbytes):
    block = UPSTREAM.allocate(nbytes)
    Storage.from_data_ptr(nbytes, block)
    return block


NONSENSE = {
    "none": (lambda nbytes: None, TypeError),
    "wrong type": (lambda nbytes: 4096, TypeError),
    "null address": (lambda nbytes: DataPtr(), RuntimeError),
    "null address with a context": (lambda nbytes: DataPtr(0, *block_and_deleter(nbytes)), RuntimeError),
    "already moved": (moved_from, RuntimeError),
    "borrowed look": (lambda nbytes: Storage(nbytes).data_ptr_object(), RuntimeError),
    "out of memory": (raise_oom, OutOfMemoryError),
    "any other error": (lambda nbytes: 1 // 0, ZeroDivisionError),
}


def block_and_deleter(nbytes):
    return UPSTREAM.raw_allocate(nbytes), UPSTREAM.raw_deleter()


def read(storage):
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


def write(storage, content):
    ctypes.memmove(storage.mutable_data_ptr(), content, len(content))


def test_allocate_must_be_overridden_al_1():
    with pytest.raises(NotImplementedError, match="must override allocate"):
        Allocator().allocate(8)
    with pytest.raises(NotImplementedError):
        Storage(8, Allocator())


def test_allocate_cannot_be_left_to_the_base_al_1():
    class Passing(Allocator):
        def allocate(self, nbytes):
            return super().allocate(nbytes)

    with pytest.raises(NotImplementedError, match="Passing must override allocate"):
        Storage(8, Passing())
    with pytest.raises(NotImplementedError, match="Passing must override allocate"):
        Passing().allocate(8)


def test_nothing_may_be_allocated_al_1():
    block = UPSTREAM.allocate(0)
    assert not block and block.get() == block.get_context() == 0
    assert Storage(0, UPSTREAM).data_ptr() == 0


def test_null_block_is_right_for_nothing_al_1():
    allocator = Scripted()
    allocator.answer = lambda nbytes: DataPtr()
    assert Storage(0, allocator).data_ptr() == 0


@pytest.mark.parametrize("make", [CPUAllocator, Pool, Guarded])
def test_clone_copies_bytes_of_any_region_al_2(make):
    allocator = make()
    source = Storage(16, allocator)
    write(source, b"0123456789abcdef")
    copy = allocator.clone(source.data_ptr() + 4, 8)
    assert ctypes.string_at(copy.get(), 8) == b"456789ab"
    assert copy.get_context() not in (0, source.data_ptr_object().get_context())


@pytest.mark.parametrize("nbytes, error", [(-1, ValueError), (1 << 64, OverflowError), (1.5, TypeError)])
def test_clone_checks_its_size_al_2(nbytes, error):
    with pytest.raises(error):
        UPSTREAM.clone(Storage(8).data_ptr(), nbytes)


def test_clone_that_cannot_copy_leaves_nothing_behind_al_2():
    class Uncopyable(CPUAllocator):
        def copy_data(self, dst, src, nbytes):
            raise KeyError("copy")

    source = Storage(8, Uncopyable())
    with pytest.raises(KeyError):
        source.allocator.clone(source.data_ptr(), 8)
    with pytest.raises(KeyError):
        source.clone()
    with pytest.raises(RuntimeError, match="null address"):
        UPSTREAM.clone(0, 8)


def test_simple_means_data_is_context_al_3():
    assert UPSTREAM.is_simple_data_ptr(DataPtr(64, 0)) is False
    assert UPSTREAM.is_simple_data_ptr(UPSTREAM.allocate(8)) is True
    assert UPSTREAM.is_simple_data_ptr(DataPtr()) is True


@pytest.mark.parametrize("make, simple", [(CPUAllocator, True), (Pool, False), (Guarded, True)])
def test_allocator_says_what_is_simple_al_3(make, simple):
    """Rows AL-3 and CA-5: a guarded block is simple, and comes back with its context."""
    storage = Storage(8, make())
    address = storage.data_ptr()
    assert cow.has_simple_data_ptr(storage) is simple
    assert storage.lazy_clone().is_cow() is simple
    assert storage.mutable_data_ptr() == address


def test_look_given_to_is_simple_does_not_outlive_the_storage_al_3():
    class Keeper(CPUAllocator):
        def is_simple_data_ptr(self, data_ptr):
            self.kept = data_ptr
            return True

    keeper = Keeper()
    storage = Storage(8, keeper)
    address = storage.data_ptr()
    storage.lazy_clone()
    del storage
    others = [Storage(4096) for _ in range(100)]
    assert keeper.kept.get() in (0, address), others


def test_raw_deleter_is_constant_al_4():
    assert UPSTREAM.raw_deleter() == UPSTREAM.raw_deleter() == CPUAllocator(4096).raw_deleter() != 0
    assert UPSTREAM.raw_deleter() == UPSTREAM.allocate(8).get_deleter()
    assert Pool().raw_deleter() == 0


def test_raw_calls_need_a_raw_deleter_al_4():
    with pytest.raises(RuntimeError, match="no raw_deleter"):
        Pool().raw_allocate(8)
    with pytest.raises(RuntimeError, match="no raw_deleter"):
        Pool().raw_deallocate(4096)


def test_raw_blocks_of_a_python_allocator_al_5_al_6():
    class Raw(Scripted):
        def raw_deleter(self):
            return UPSTREAM.raw_deleter()

    raw = Raw()
    before = CPUAllocator.bytes_in_use()
    address = raw.raw_allocate(100)
    assert CPUAllocator.bytes_in_use() == before + 100
    raw.raw_deallocate(address)
    raw.raw_deallocate(0)
    assert raw.raw_allocate(0) == 0


def test_raw_allocate_refuses_a_context_apart_from_the_data_al_5():
    class RawPool(Pool):
        def raw_deleter(self):
            return UPSTREAM.raw_deleter()

    pool = RawPool()
    with pytest.raises(RuntimeError, match="context apart"):
        pool.raw_allocate(8)
    assert len(pool.freed) == 1


def test_copy_data_copies_al_7():
    source, target = Storage(8), Storage(8)
    write(source, b"abcdefgh")
    UPSTREAM.copy_data(target.mutable_data_ptr(), source.data_ptr(), 8)
    UPSTREAM.copy_data(0, 0, 0)
    assert read(target) == b"abcdefgh"


def test_overridden_copy_data_serves_clone_and_resize_al_7():
    class Copying(CPUAllocator):
        copied = ()

        def copy_data(self, dst, src, nbytes):
            self.copied += (nbytes,)
            super().copy_data(dst, src, nbytes)

    storage = Storage(8, Copying(), resizable=True)
    write(storage, b"abcdefgh")
    assert read(storage.clone()) == b"abcdefgh"
    assert read(storage.resize_(4)) == b"abcd"
    assert storage.allocator.copied == (8, 4)


def test_block_keeps_what_frees_it_alive():
    storage = Storage(8, Pool())
    address, freed = storage.data_ptr(), storage.allocator.freed
    storage.impl.allocator = UPSTREAM
    gc.collect()
    assert freed == []
    storage.reset()
    assert freed == [address]


@pytest.mark.parametrize("make", [CPUAllocator, Pool])
def test_storage_keeps_its_allocator_alive(make):
    allocator = make() if make is Pool else type("Weakly", (make,), {})()
    seen = weakref.ref(allocator)
    storages = [Storage(8, allocator), Storage(8, allocator).lazy_clone(), Storage(8, allocator).clone()]
    del allocator
    gc.collect()
    assert all(storage.allocator is seen() for storage in storages)
    storages.clear()
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize("answer, error", NONSENSE.values(), ids=NONSENSE)
@pytest.mark.parametrize(
    "act",
    [
        lambda storage, sharer: Storage(8, storage.allocator),
        lambda storage, sharer: storage.clone(),
        lambda storage, sharer: storage.resize_(16),
        lambda storage, sharer: storage.mutable_data_ptr(),
        lambda storage, sharer: sharer.resize_(4),
        lambda storage, sharer: cow.materialize_cow_storage(sharer),
    ],
    ids=["construct", "clone", "grow", "materialize", "shrink sharer", "materialize sharer"],
)
def test_nonsense_from_an_allocator_changes_nothing(act, answer, error):
    storage = Storage(8, Scripted(), resizable=True)
    write(storage, b"precious")
    sharer = storage.lazy_clone()
    address = storage.data_ptr()
    storage.allocator.answer = answer
    with pytest.raises(error):
        act(storage, sharer)
    for shared in (storage, sharer):
        assert (shared.data_ptr(), shared.nbytes(), shared.is_cow()) == (address, 8, True)
    del storage.allocator.answer
    write(storage, b"rewrites")
    assert read(storage) == b"rewrites" and read(sharer) == b"precious"


@pytest.mark.parametrize("copy, error", [(None, TypeError), (DataPtr(), RuntimeError)], ids=["none", "null"])
def test_nonsense_from_an_overridden_clone_loses_nothing(copy, error):
    class Cloning(CPUAllocator):
        def clone(self, address, nbytes):
            return copy

    storage = Storage(8, Cloning())
    write(storage, b"precious")
    sharer = storage.lazy_clone()
    for attempt in (sharer.mutable_data_ptr, sharer.clone):
        with pytest.raises(error):
            attempt()
    assert read(storage) == read(sharer) == b"precious"


# ---- what a Python class overrides, whatever it derives from

LIBC = ctypes.CDLL(None)
ALLOCATORS = {
    "Allocator": (Pool, ()),
    "CPUAllocator": (CPUAllocator, ()),
    "CachingAllocator": (memory.CachingAllocator, ()),
    "MappedAllocator": (memory.MappedAllocator, ()),
    "HugePageAllocator": (memory.HugePageAllocator, ()),
    "SharedMemoryAllocator": (memory.SharedMemoryAllocator, ()),
    "CallbackAllocator": (memory.CallbackAllocator, (UPSTREAM.raw_allocate, UPSTREAM.raw_deallocate)),
    "FunctionAllocator": (memory.FunctionAllocator, (LIBC.malloc, LIBC.free)),
    "Adaptor": (memory.Adaptor, ()),
    "AlignmentAdaptor": (memory.AlignmentAdaptor, (None, 4096)),
    "FailureCallbackAdaptor": (memory.FailureCallbackAdaptor, (None, lambda nbytes: False)),
    "GuardAdaptor": (memory.GuardAdaptor, ()),
    "LimitingAdaptor": (memory.LimitingAdaptor, (None, "1MiB")),
    "LoggingAdaptor": (memory.LoggingAdaptor, (None, io.StringIO())),
    "StatisticsAdaptor": (memory.StatisticsAdaptor, ()),
    "TrackingAdaptor": (memory.TrackingAdaptor, ()),
}


def use_storage(allocator):
    storage = Storage(64, allocator, resizable=True)
    write(storage, b"abcdefgh" * 8)
    return storage


def resized(allocator):
    storage = use_storage(allocator)
    return read(storage.resize_(32)) == b"abcdefgh" * 4


def made_a_tensor(allocator):
    with tensix.use_allocator(allocator):
        return tensix.ones(16).storage().allocator is allocator


def asked_for_raw_memory(allocator):
    try:
        allocator.raw_deallocate(allocator.raw_allocate(64))
    except RuntimeError:  # its blocks need more than an address
        return True
    return True


USES = {
    "allocate by a tensor": ("allocate", made_a_tensor),
    "allocate by a storage": ("allocate", use_storage),
    "allocate by resize_": ("allocate", resized),
    "allocate by clone": ("allocate", lambda allocator: read(use_storage(allocator).clone()) == b"abcdefgh" * 8),
    "allocate by raw_allocate": ("allocate", asked_for_raw_memory),
    "clone": ("clone", lambda allocator: read(use_storage(allocator).clone()) == b"abcdefgh" * 8),
    "clone of a written share": ("clone", lambda allocator: write_to_a_share(use_storage(allocator))),
    "is_simple_data_ptr": ("is_simple_data_ptr", lambda allocator: use_storage(allocator).lazy_clone()),
    "copy_data by clone": ("copy_data", lambda allocator: read(use_storage(allocator).clone()) == b"abcdefgh" * 8),
    "copy_data by resize_": ("copy_data", resized),
    "raw_deleter": ("raw_deleter", asked_for_raw_memory),
}


def write_to_a_share(storage):
    share = storage.lazy_clone()
    write(share, b"x")
    return read(storage) == b"abcdefgh" * 8


def overriding(cls, hook):
    """Return a class that counts the calls of a method, and goes on to what it overrides."""
    class Asked(cls):
        asked = 0

    def method(self, *args):
        self.asked += 1
        return getattr(super(Asked, self), hook)(*args)

    setattr(Asked, hook, method)
    return Asked


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", ALLOCATORS)
def test_what_a_python_class_overrides_is_asked(name, use):
    (cls, args), (hook, act) = ALLOCATORS[name], USES[use]
    allocator = overriding(cls, hook)(*args)
    if use == "allocate by raw_allocate" and not allocator.raw_deleter():
        return
    if use == "clone of a written share" and not cow.has_simple_data_ptr(use_storage(allocator)):
        return
    assert act(allocator) and allocator.asked
    if hook in ("allocate", "copy_data") and act is not asked_for_raw_memory:  # a class between does not matter
        inner = overriding(cls, hook)
        allocator = type("Named", (inner,), {})(*args)
        assert act(allocator) and allocator.asked


@pytest.mark.parametrize("above", [memory.Adaptor, memory.StatisticsAdaptor, memory.CachingAllocator])
@pytest.mark.parametrize("use", ["allocate by a tensor", "is_simple_data_ptr", "copy_data by clone"])
@pytest.mark.parametrize("name", ALLOCATORS)
def test_what_a_python_class_upstream_overrides_is_asked(name, use, above):
    (cls, args), (hook, act) = ALLOCATORS[name], USES[use]
    upstream = overriding(cls, hook)(*args)
    assert act(above(upstream)) and upstream.asked


def test_what_is_overridden_by_a_class_beside_the_allocator_is_asked():
    class Named:
        asked = 0

        def allocate(self, nbytes):
            self.asked += 1
            return super().allocate(nbytes)

    class Mixed(Named, memory.CachingAllocator):
        pass

    allocator = Mixed()
    assert use_storage(allocator) and allocator.asked == 1


def test_raw_deallocate_frees_as_an_overridden_raw_deleter_says():
    freed = []
    free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda address: freed.append(address))

    class Writing(CPUAllocator):
        def raw_deleter(self):
            return ctypes.cast(free, ctypes.c_void_p).value

    allocator = Writing()
    address = allocator.raw_allocate(10)
    allocator.raw_deallocate(address)
    assert freed == [address]
    UPSTREAM.raw_deallocate(address)
