"""Factories that make the storages of a device type."""

import pytest

from tensix.core import (
    CPUAllocator,
    DataPtr,
    Device,
    IntrusivePtr,
    Storage,
    StorageImpl,
    get_allocator,
    get_storage_impl_create,
    make_storage_impl,
    set_storage_impl_create,
)

pytestmark = pytest.mark.usefixtures("no_leak")

DEVICE = "privateuseone"


class OwnImpl(StorageImpl):
    """What a device's factory makes here."""


@pytest.fixture
def register():
    """Return the function that registers the device's factory, and take it back after the test."""
    yield lambda factory: set_storage_impl_create(DEVICE, factory)
    set_storage_impl_create(DEVICE, None)


def make_own(nbytes, data_ptr, allocator, resizable):
    return OwnImpl(nbytes, data_ptr, allocator or CPUAllocator(), resizable)


@pytest.mark.parametrize("device", ["cpu", DEVICE])
def test_plain_storage_without_a_factory_st_17(device):
    storage = make_storage_impl(16, None, CPUAllocator(256), True, device)
    assert type(storage.impl) is StorageImpl
    assert (storage.nbytes(), storage.resizable, storage.data_ptr() % 256) == (16, True, 0)
    assert storage.unique()


@pytest.mark.parametrize("block", [None, DataPtr()], ids=["none", "null"])
def test_block_is_allocated_if_there_is_none_st_17(block):
    storage = make_storage_impl(16, block)
    assert storage.data_ptr() != 0
    assert storage.allocator is get_allocator("cpu")


def test_given_block_is_moved_in_st_17():
    freed = []
    block = DataPtr.from_callable(0x1000, freed.append)
    storage = make_storage_impl(16, block)
    assert (storage.data_ptr(), storage.allocator, bool(block)) == (0x1000, None, False)
    storage.reset()
    assert freed == [0x1000]


def test_factory_gets_the_arguments_and_is_asked_first_st_17(register):
    calls, allocator, block = [], CPUAllocator(), CPUAllocator().allocate(16)

    def factory(*arguments):
        calls.append(arguments)
        return make_own(*arguments)

    register(factory)
    storage = make_storage_impl(16, block, allocator, True, device=f"{DEVICE}:0")
    assert calls == [(16, block, allocator, True)]
    assert type(storage.impl) is OwnImpl and storage.unique()
    assert type(make_storage_impl(16).impl) is StorageImpl and len(calls) == 1


def test_factory_needs_no_registered_allocator_st_17(register):
    register(make_own)
    storage = make_storage_impl(16, device=DEVICE)
    assert type(storage.impl) is OwnImpl and storage.data_ptr() != 0


def test_own_storage_can_do_what_a_storage_can(register):
    register(make_own)
    storage = make_storage_impl(16, None, CPUAllocator(), True, DEVICE)
    clone = storage.lazy_clone()
    assert clone.data_ptr() == storage.data_ptr() != storage.mutable_data_ptr()
    assert storage.resize_(100).nbytes() == 100


def test_second_factory_is_refused_and_names_the_first_st_17(register):
    register(make_own)
    with pytest.raises(RuntimeError, match=r"privateuseone has a storage factory already.*make_own"):
        register(lambda *arguments: OwnImpl())
    assert type(make_storage_impl(8, None, CPUAllocator(), device=DEVICE).impl) is OwnImpl


def test_factory_can_be_taken_back_st_17(register):
    for factory in (make_own, None, None, lambda *arguments: OwnImpl(1)):
        register(factory)
    assert make_storage_impl(8, None, CPUAllocator(), device=DEVICE).nbytes() == 1


def test_factory_that_is_registered_can_be_read(register):
    assert get_storage_impl_create(DEVICE) is None
    register(make_own)
    assert get_storage_impl_create(DEVICE) is get_storage_impl_create(Device(DEVICE, 0)) is make_own
    assert get_storage_impl_create("cpu") is None
    register(None)
    assert get_storage_impl_create(DEVICE) is None
    with pytest.raises(ValueError, match="abacus"):
        get_storage_impl_create("abacus")


def test_a_storage_names_its_device_type(register):
    register(make_own)
    block = DataPtr(0, 0, None, f"{DEVICE}:1")
    assert Storage(8).device_type == "cpu"
    assert Storage.from_data_ptr(0, block).device_type == DEVICE
    with pytest.raises(RuntimeError, match="the Storage is null"):
        _ = Storage.from_impl(IntrusivePtr()).device_type


@pytest.mark.parametrize("device, factory, error", [(DEVICE, 5, TypeError), (DEVICE, "make", TypeError),
                                                    ("abacus", make_own, ValueError)])
def test_bad_factory_is_refused(device, factory, error):
    with pytest.raises(error):
        set_storage_impl_create(device, factory)


def expired():
    return Storage(8).impl


@pytest.mark.parametrize("answer, error", [
    (lambda: None, TypeError),
    (lambda: Storage(8), TypeError),
    (lambda: CPUAllocator().allocate(8), TypeError),
    (expired, RuntimeError),
    (lambda: 1 // 0, ZeroDivisionError),
])
def test_factory_that_makes_nonsense_is_an_error(register, answer, error):
    register(lambda *arguments: answer())
    with pytest.raises(error):
        make_storage_impl(8, None, CPUAllocator(), device=DEVICE)


def test_factory_must_make_a_new_storage(register):
    owned = Storage(8)
    register(lambda *arguments: owned.impl)
    with pytest.raises(RuntimeError, match="use_count=1"):
        make_storage_impl(8, None, CPUAllocator(), device=DEVICE)
    assert owned.unique() and owned.data_ptr() != 0
