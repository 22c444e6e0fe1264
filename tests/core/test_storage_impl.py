"""The counted owner of a block: fields, guards before an access, and life after its owners."""

import copy
import ctypes
import warnings

import pytest

from tensix.core import CPUAllocator, DataPtr, Device, Storage, StorageImpl, get_allocator, make_intrusive

pytestmark = pytest.mark.usefixtures("no_leak")

ACCESSES = ("data_ptr", "mutable_data_ptr")


def external(freed, address=0x1000, device="cpu"):
    return DataPtr.from_callable(address, freed.append, device)


def read(storage):
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


def filled(content, **options):
    storage = Storage(len(content), CPUAllocator(), **options)
    ctypes.memmove(storage.mutable_data_ptr(), content, len(content))
    return storage


def test_fields_st_1():
    pointer = make_intrusive(StorageImpl, 100)
    impl = pointer.get()
    assert (impl.nbytes(), impl.resizable, impl.readonly) == (100, False, False)
    assert (impl.allocator, impl.device) == (get_allocator("cpu"), Device("cpu"))
    assert impl.data_ptr() == impl.mutable_data_ptr() != 0


def test_identity_cannot_be_copied_st_1():
    storage = Storage(8)
    for duplicate in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            duplicate(storage.impl)


@pytest.mark.parametrize("make", [StorageImpl, Storage.from_data_ptr])
def test_resizable_needs_an_allocator_st_2(make):
    freed = []
    block = external(freed)
    with pytest.raises(ValueError, match="For resizable storage, allocator must be provided"):
        make(8, block, None, True)
    assert freed == [] and block.get() == 0x1000


def test_constructor_allocates_st_3():
    allocator = CPUAllocator(256)
    storage = Storage.from_impl(make_intrusive(StorageImpl, 10, None, allocator, True))
    assert storage.data_ptr() % 256 == 0
    assert (storage.allocator, storage.resizable) == (allocator, True)


def test_constructor_takes_a_block_st_3():
    freed = []
    block = external(freed, device="cuda:1")
    pointer = make_intrusive(StorageImpl, 10, block)
    assert (pointer.get().data_ptr(), pointer.get().allocator, pointer.get().device) == (0x1000, None, "cuda:1")
    assert not block and freed == []
    pointer.reset()
    assert freed == [0x1000]


@pytest.mark.parametrize("arguments", [(-1,), (8, None, "malloc"), (8, 4096)])
def test_refused_arguments_take_nothing(arguments):
    with pytest.raises((TypeError, ValueError)):
        StorageImpl(*arguments)


def test_impl_that_nobody_owned_frees_its_block():
    freed = []
    impl = StorageImpl(8, external(freed))
    assert freed == []
    del impl
    assert freed == [0x1000]


def test_constructor_runs_once():
    storage = Storage(8)
    with pytest.raises(RuntimeError, match="filled once"):
        storage.impl.__init__(16)
    assert storage.nbytes() == 8


def test_weak_pointers_see_an_empty_husk_st_4():
    freed = []
    storage = Storage.from_data_ptr(8, external(freed))
    impl, weak, look = storage.impl, storage.weak(), storage.data_ptr_object()
    storage.reset()
    assert freed == [0x1000]
    assert weak.expired() and not weak.lock()
    assert not look and repr(impl) == "StorageImpl(expired)"


@pytest.mark.parametrize("use", [
    lambda impl: impl.nbytes(),
    lambda impl: impl.data_ptr(),
    lambda impl: impl.mutable_data_ptr(),
    lambda impl: impl.data_ptr_object(),
    lambda impl: impl.set_data_ptr(DataPtr()),
    lambda impl: impl.set_data_ptr_noswap(DataPtr()),
    lambda impl: impl.swap_data_ptr(Storage(8).impl),
    lambda impl: Storage(8).impl.swap_data_ptr(impl),
    lambda impl: impl.reset(),
    lambda impl: impl.set_nbytes(1),
    lambda impl: impl.allocator,
    lambda impl: impl.device,
    lambda impl: setattr(impl, "readonly", True),
    lambda impl: setattr(impl, "resizable", True),
    lambda impl: setattr(impl, "allocator", None),
    lambda impl: impl.set_throw_on_mutable_data_ptr(),
    lambda impl: impl.clear_meta_custom_data_ptr_error_msg(),
    lambda impl: impl.unique_storage_share_external_pointer(DataPtr(), 0),
])
def test_expired_impl_raises(use):
    impl = Storage(8).impl
    with pytest.raises(RuntimeError, match="expired"):
        use(impl)


@pytest.mark.parametrize("sharers", [0, 1])
def test_release_resources_leaves_an_empty_storage_st_4(sharers):
    freed = []
    block = external(freed)
    storage = Storage.from_data_ptr(8, block) if not sharers else filled(b"12345678")
    clones = [storage.lazy_clone() for _ in range(sharers)]
    storage.impl.release_resources()
    assert [storage.data_ptr(), storage.mutable_data_ptr(), storage.is_cow()] == [0, 0, False]
    assert freed == [0x1000] * (1 - sharers)
    assert [read(clone) for clone in clones] == [b"12345678"] * sharers


def test_reset_frees_and_forgets_the_size_st_5():
    freed = []
    storage = Storage.from_data_ptr(8, external(freed))
    storage.impl.reset()
    assert (freed, storage.nbytes(), storage.data_ptr()) == ([0x1000], 0, 0)
    shared = filled(b"12345678")
    clone = shared.lazy_clone()
    shared.impl.reset()
    assert shared.mutable_data_ptr() == 0 and not shared.is_cow()
    assert read(clone) == b"12345678"


def test_recorded_size_can_be_set_st_6_st_13():
    impl_owner = Storage(8)
    impl_owner.impl.set_nbytes(4)
    assert impl_owner.nbytes() == 4
    for nbytes, error in ((-1, ValueError), (1 << 64, OverflowError)):
        with pytest.raises(error):
            impl_owner.impl.set_nbytes(nbytes)
    assert impl_owner.nbytes() == 4


def test_immutable_throw_stops_every_access_st_7_st_8():
    storage = Storage(8)
    storage.impl.set_throw_on_immutable_data_ptr()
    for name in ACCESSES:
        with pytest.raises(RuntimeError, match="Cannot access data pointer of Storage that is invalid"):
            getattr(storage, name)()
    for act in (storage.clone, storage.lazy_clone):
        with pytest.raises(RuntimeError, match="invalid"):
            act()


def test_mutable_throw_stops_writing_only_st_8():
    storage = filled(b"readable")
    storage.impl.set_throw_on_mutable_data_ptr()
    with pytest.raises(RuntimeError, match="Cannot access data pointer of Storage for writing"):
        storage.mutable_data_ptr()
    assert read(storage) == read(storage.clone()) == b"readable"


def test_warning_comes_once_st_8():
    storage = Storage(8)
    storage.impl.set_warn_deprecated_on_mutable_data_ptr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        storage.data_ptr()
        with pytest.raises(UserWarning, match="deprecated"):
            storage.mutable_data_ptr()
        assert storage.mutable_data_ptr() == storage.data_ptr()


def test_refusals_come_before_the_warning_and_the_copy_st_8():
    storage = Storage(8)
    clone = storage.lazy_clone()
    clone.impl.set_warn_deprecated_on_mutable_data_ptr()
    clone.impl.set_throw_on_mutable_data_ptr()
    with pytest.raises(RuntimeError, match="not writable"):
        clone.mutable_data_ptr()
    clone.impl.set_throw_on_immutable_data_ptr()
    with pytest.raises(RuntimeError, match="invalid"):
        clone.mutable_data_ptr()
    assert clone.is_cow()


def test_set_data_ptr_returns_the_old_block_st_10():
    freed = []
    storage = Storage.from_data_ptr(8, external(freed, 0x1000))
    old = storage.set_data_ptr(external(freed, 0x2000))
    assert (old.get(), storage.data_ptr(), freed) == (0x1000, 0x2000, [])
    old.clear()
    assert freed == [0x1000]


def test_set_data_ptr_materializes_first_st_10():
    storage = filled(b"12345678")
    clone = storage.lazy_clone()
    old = clone.set_data_ptr(CPUAllocator(zero_fill=True).allocate(8))
    assert old.get() != storage.data_ptr() and ctypes.string_at(old.get(), 8) == b"12345678"
    assert read(clone) == bytes(8) and not clone.is_cow()


def test_noswap_frees_the_old_block_without_a_copy_st_11_cw_13(failing_allocator):
    freed, storage = [], Storage(8, failing_allocator)
    clone, address = storage.lazy_clone(), storage.data_ptr()
    failing_allocator.fail_next()
    clone.set_data_ptr_noswap(external(freed, 0x2000))
    assert clone.mutable_data_ptr() == 0x2000 and not clone.is_cow()
    clone.set_data_ptr_noswap(external(freed, 0x3000))
    assert freed == [0x2000]
    assert storage.mutable_data_ptr() == address


def test_noswap_leaves_an_ordinary_storage_cw_13():
    storage = filled(b"12345678")
    clone = storage.lazy_clone()
    clone.set_data_ptr_noswap(CPUAllocator().allocate(8))
    assert not clone.is_cow() and clone.lazy_clone().is_cow()
    assert read(storage) == b"12345678"


@pytest.mark.parametrize("method", ["set_data_ptr", "set_data_ptr_noswap"])
@pytest.mark.parametrize("wrong", [None, 4096, "own", "other"])
def test_only_owned_blocks_move_in(method, wrong):
    storage, other = filled(b"12345678"), Storage(8)
    looks = {"own": storage.data_ptr_object(), "other": other.data_ptr_object()}
    with pytest.raises((TypeError, RuntimeError)):
        getattr(storage, method)(looks.get(wrong, wrong))
    assert read(storage) == b"12345678" and other.data_ptr() != 0
