"""The handle on a storage: making, owning, comparing, cloning."""

import copy
import ctypes
import sys
import threading

import pytest

from tensix.core import (
    CPUAllocator,
    DataPtr,
    IntrusivePtr,
    IntrusiveTarget,
    OutOfMemoryError,
    Storage,
    StorageImpl,
    get_allocator,
    make_intrusive,
)

pytestmark = pytest.mark.usefixtures("no_leak")


def external(freed, address=0x1000):
    return DataPtr.from_callable(address, freed.append)


def read(storage):
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


def filled(content, allocator=None, **options):
    storage = Storage(len(content), allocator, **options)
    ctypes.memmove(storage.mutable_data_ptr(), content, len(content))
    return storage


def null():
    storage = Storage(8)
    storage.reset()
    return storage


def test_empty_storage_owns_nothing_but_exists_st_3():
    storage = Storage()
    assert storage and (storage.nbytes(), storage.data_ptr(), storage.resizable) == (0, 0, False)


@pytest.mark.parametrize("nbytes, error", [(-1, ValueError), (1 << 64, OverflowError), (1 << 63, OutOfMemoryError),
                                           ("8", TypeError), (8.0, TypeError)])
def test_size_that_is_none_is_refused_st_3(nbytes, error):
    with pytest.raises(error):
        Storage(nbytes)


def test_constructor_runs_once():
    storage = filled(b"12345678")
    with pytest.raises(RuntimeError, match="filled once"):
        storage.__init__(16)
    assert read(storage) == b"12345678"


def test_block_is_moved_in_and_freed_once_st_3():
    freed = []
    block = external(freed)
    storage = Storage.from_data_ptr(100, block)
    assert not block and block.get_deleter() == 0
    assert (storage.data_ptr(), storage.nbytes(), storage.allocator, storage.resizable) == (0x1000, 100, None, False)
    twin = copy.copy(storage)
    storage.reset()
    assert freed == []
    del twin
    assert freed == [0x1000]


@pytest.mark.parametrize("nbytes, block", [(-1, DataPtr(1)), (1 << 64, DataPtr(1)), (8, None), (8, 4096)])
def test_refused_block_is_not_moved(nbytes, block):
    with pytest.raises((ValueError, OverflowError, TypeError)):
        Storage.from_data_ptr(nbytes, block)
    assert block is None or block == 4096 or block.get() == 1


def test_borrowed_look_stays_current_and_cannot_be_given_away_st_7():
    storage = filled(b"12345678", resizable=True)
    look = storage.data_ptr_object()
    assert look.get() == storage.data_ptr()
    storage.resize_(100_000)
    assert look.get() == storage.data_ptr()
    with pytest.raises(RuntimeError, match="borrowed"):
        Storage.from_data_ptr(8, look)
    storage.reset()
    assert look.get() == 0


def test_reading_never_materializes_st_7():
    storage = filled(b"12345678")
    clone = storage.lazy_clone()
    assert clone.data_ptr() == clone.data_ptr_object().get() == storage.data_ptr()
    assert clone.is_cow() and storage.is_cow()


def test_all_handles_see_a_new_block_st_10_st_24():
    storage = filled(b"12345678")
    twin, weak = copy.copy(storage), storage.weak()
    storage.set_data_ptr_noswap(CPUAllocator(zero_fill=True).allocate(8))
    assert read(twin) == bytes(8) and twin.is_alias_of(storage)
    assert (storage.use_count(), storage.weak_use_count()) == (2, 2) and weak.lock().get() is storage.impl


def test_handles_alias_and_clones_do_not_st_18_st_21():
    storage = filled(b"12345678")
    twin, clone, lazy = copy.copy(storage), storage.clone(), storage.lazy_clone()
    assert storage.is_alias_of(twin) and twin.is_alias_of(storage)
    assert not storage.is_alias_of(clone) and not storage.is_alias_of(lazy)
    assert lazy.data_ptr() == storage.data_ptr()
    assert not null().is_alias_of(null()) and not storage.is_alias_of(null())


def test_equality_is_identity_st_19():
    storage = Storage(8)
    twin = Storage.from_impl(storage.weak().lock())
    assert storage == twin and hash(storage) == hash(twin)
    assert storage != storage.clone() and storage != 8 and null() == null()
    assert {storage, twin} == {storage}


def test_legacy_storage_is_empty_and_resizable_st_20():
    storage = Storage.create_legacy()
    assert (storage.nbytes(), storage.data_ptr(), storage.resizable) == (0, 0, True)
    assert storage.allocator is get_allocator("cpu")
    assert storage.resize_(8).data_ptr() != 0
    assert Storage.create_legacy("cpu").device == "cpu"


def test_counts_st_22():
    storage = Storage(8)
    assert (storage.use_count(), storage.weak_use_count(), storage.unique()) == (1, 1, True)
    twin, weak = copy.copy(storage), storage.weak()
    assert (storage.use_count(), storage.weak_use_count(), storage.unique()) == (2, 2, False)
    twin.reset()
    assert storage.unique() and weak.use_count() == 1
    storage.reset()
    assert weak.expired() and not weak.lock()


def test_released_impl_keeps_its_count_st_22():
    storage = Storage(8)
    impl = storage.unsafe_release_storage_impl()
    assert not storage and storage.impl is None and storage.unsafe_release_storage_impl() is None
    owner = IntrusivePtr.reclaim(impl)
    assert owner.use_count() == 1 and impl.nbytes() == 8


def test_handle_from_a_pointer_st_22():
    pointer = make_intrusive(type(Storage(8).impl), 8)
    storage = Storage.from_impl(pointer)
    assert storage.use_count() == 2 and storage.impl is pointer.get()
    assert not Storage.from_impl(IntrusivePtr())
    with pytest.raises(TypeError, match="StorageImpl"):
        Storage.from_impl(make_intrusive(IntrusiveTarget))


def test_null_storage_answers_and_refuses():
    storage = null()
    assert not storage and storage.impl is None and repr(storage) == "Storage(null)"
    assert (storage.use_count(), storage.weak_use_count(), storage.unique()) == (0, 0, False)
    assert storage.weak().expired() and not copy.copy(storage)
    storage.reset()
    for name in ("nbytes", "data_ptr", "mutable_data_ptr", "data_ptr_object", "clone", "lazy_clone", "is_cow",
                 "share", "maybe_apply_refcounted_deleter"):
        with pytest.raises(RuntimeError, match="the Storage is null"):
            getattr(storage, name)()
    for name in ("allocator", "device", "resizable", "readonly"):
        with pytest.raises(RuntimeError, match="the Storage is null"):
            getattr(storage, name)


@pytest.mark.parametrize("readonly", [False, True])
def test_clone_is_a_writable_copy(readonly):
    storage = filled(b"12345678", CPUAllocator(4096), resizable=True)
    storage.readonly = readonly
    clone = storage.clone()
    assert clone.allocator is storage.allocator and clone.resizable and not clone.readonly
    ctypes.memset(clone.mutable_data_ptr(), 0, 8)
    assert (read(storage), read(clone)) == (b"12345678", bytes(8))


def test_clone_of_nothing():
    assert Storage().clone().data_ptr() == 0
    assert Storage.from_data_ptr(0, DataPtr()).clone().nbytes() == 0


def test_clone_of_external_memory_comes_from_the_default_allocator():
    content = ctypes.create_string_buffer(b"1234567")
    storage = Storage.from_data_ptr(8, DataPtr(ctypes.addressof(content)))
    clone = storage.clone()
    assert read(clone) == b"1234567\0" and clone.data_ptr() != storage.data_ptr()
    assert clone.allocator is get_allocator("cpu")


def test_failing_clone_changes_nothing(failing_allocator):
    storage = filled(b"12345678", failing_allocator)
    failing_allocator.fail_next()
    before = CPUAllocator.bytes_in_use()
    with pytest.raises(OutOfMemoryError):
        storage.clone()
    assert read(storage) == b"12345678" and storage.unique()
    assert CPUAllocator.bytes_in_use() == before


@pytest.mark.parametrize("method", ["clone", "lazy_clone"])
def test_bytes_stay_until_they_are_copied(method):
    """The allocator of a copy may run Python code or let other threads run, which give the storage up."""
    events = []

    class Careless(CPUAllocator):
        def allocate(self, nbytes):
            storage.reset()
            return super().allocate(nbytes)

        def copy_data(self, dst, src, nbytes):
            events.append("copied")

    block = DataPtr.from_callable(0x1000, lambda address: events.append("freed"))
    storage = Storage.from_data_ptr(8, block, Careless())
    getattr(storage, method)()
    assert events == ["copied", "freed"]


def test_bytes_go_on_whatever_thread_drops_them_last():
    freed, storages = [], [Storage.from_data_ptr(8, external([]))]
    storages[0].set_data_ptr_noswap(DataPtr.from_callable(1, lambda address: freed.append(threading.get_ident())))
    thread = threading.Thread(target=storages.clear)
    thread.start()
    thread.join()
    # Without a GIL, CPython frees an object on the thread that made it, if that still runs.
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert freed == [thread.ident if has_gil else threading.get_ident()]


def test_repr_tells_the_state():
    storage = Storage(8, resizable=True)
    storage.readonly = True
    assert repr(storage.lazy_clone()).endswith("resizable, copy-on-write)")
    assert repr(storage) == (
        f"Storage(nbytes=8, device='cpu', data={storage.data_ptr():#x}, resizable, readonly, copy-on-write)"
    )


class Refilling:
    """A number that fills the object, for which it is the argument, before that is done."""

    def __init__(self, made, *args):
        self.made, self.args = made, args

    def __index__(self):
        self.made.__init__(*self.args)
        return 8


@pytest.mark.parametrize(("cls", "name"), [(Storage, "Storage"), (StorageImpl, "StorageImpl")])
def test_a_storage_that_is_filled_meanwhile_keeps_what_it_has(cls, name):
    """The fixture counts what is left."""
    made = cls.__new__(cls)
    with pytest.raises(RuntimeError, match=f"a {name} is filled once"):
        made.__init__(Refilling(made, 100))
    assert made.nbytes() == 100

    class Filling(CPUAllocator):
        def allocate(self, nbytes):
            self.other.__init__(50)  # not by a closure: CPython 3.13t never frees what a class refers to
            return CPUAllocator.allocate(self, nbytes)

    filling = Filling()
    other = filling.other = cls.__new__(cls)
    with pytest.raises(RuntimeError, match=f"a {name} is filled once"):
        other.__init__(10, allocator=filling)
    assert other.nbytes() == 50


def test_a_memo_with_a_null_storage_is_no_copy():
    storage, null = Storage(8), Storage.__new__(Storage)
    assert storage.__deepcopy__({id(storage.impl): null}).nbytes() == 8
