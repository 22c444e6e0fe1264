"""Storages that swap blocks, adopt external ones, lose theirs, or change what they allow."""

import ctypes

import pytest

from tensix.core import CPUAllocator, DataPtr, OutOfMemoryError, Storage

pytestmark = pytest.mark.usefixtures("no_leak")


def external(freed, address=0x1000):
    return DataPtr.from_callable(address, freed.append)


def read(storage):
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


def filled(content, allocator=None, **options):
    storage = Storage(len(content), allocator, **options)
    ctypes.memmove(storage.mutable_data_ptr(), content, len(content))
    return storage


def test_swap_exchanges_everything_st_12():
    freed, allocator = [], CPUAllocator()
    ours = Storage.from_data_ptr(4, external(freed))
    theirs = filled(b"12345678", allocator, resizable=True)
    address = theirs.data_ptr()
    ours.impl.swap_data_ptr(theirs.impl)
    assert (ours.data_ptr(), ours.nbytes(), ours.resizable, ours.allocator) == (address, 8, True, allocator)
    assert (theirs.data_ptr(), theirs.nbytes(), theirs.resizable, theirs.allocator) == (0x1000, 4, False, None)
    assert freed == []
    ours.reset()
    assert freed == []
    theirs.reset()
    assert freed == [0x1000]


def test_swap_materializes_both_st_12():
    first, second = filled(b"11111111"), filled(b"22222222")
    sharers = first.lazy_clone(), second.lazy_clone()
    first.impl.swap_data_ptr(second.impl)
    assert (read(first), read(second)) == (b"22222222", b"11111111")
    assert not first.is_cow() and not second.is_cow()
    ctypes.memset(first.mutable_data_ptr(), 0, 8)
    assert [read(sharer) for sharer in sharers] == [b"11111111", b"22222222"]


def test_swap_with_itself_changes_nothing_st_12():
    storage = filled(b"12345678")
    storage.impl.swap_data_ptr(storage.impl)
    assert read(storage) == b"12345678"


def test_swap_that_cannot_materialize_changes_nothing_st_12(failing_allocator):
    plain, shared = filled(b"11111111"), filled(b"22222222", failing_allocator)
    sharer = shared.lazy_clone()
    for first, second in ((plain, shared), (shared, plain)):
        failing_allocator.fail_next()
        with pytest.raises(OutOfMemoryError):
            first.impl.swap_data_ptr(second.impl)
    assert (read(plain), read(shared), read(sharer)) == (b"11111111", b"22222222", b"22222222")


@pytest.mark.parametrize("forbid", [
    lambda impl: setattr(impl, "readonly", True),
    lambda impl: impl.set_throw_on_mutable_data_ptr(),
    lambda impl: impl.set_throw_on_immutable_data_ptr(),
], ids=["readonly", "throw on mutable", "throw on immutable"])
def test_swap_needs_two_writable_storages_st_12(forbid):
    plain, forbidden = filled(b"11111111"), filled(b"22222222")
    forbid(forbidden.impl)
    for first, second in ((plain, forbidden), (forbidden, plain)):
        with pytest.raises(RuntimeError):
            first.impl.swap_data_ptr(second.impl)
    assert read(plain) == b"11111111"


def test_storage_that_is_cloned_while_it_is_swapped_st_12():
    """Materializing one side may run Python code or let other threads run, which lazily clone the other side."""

    class Cloning(CPUAllocator):
        target = lazily_cloned = None

        def allocate(self, nbytes):
            if self.target is not None:
                target, self.target = self.target, None
                self.lazily_cloned = target.lazy_clone()
            return super().allocate(nbytes)

    allocator = Cloning()
    first, second = filled(b"11111111"), filled(b"22222222", allocator)
    sharer = second.lazy_clone()
    allocator.target = first
    first.impl.swap_data_ptr(second.impl)
    for storage in (first, second):
        ctypes.memset(storage.mutable_data_ptr(), 0, 8)
    assert (read(allocator.lazily_cloned), read(sharer)) == (b"11111111", b"22222222")
    assert read(first) == read(second) == bytes(8)


def test_resizable_needs_an_allocator_st_13():
    storage = Storage.from_data_ptr(8, external([]))
    with pytest.raises(RuntimeError, match="For resizable storage, allocator must be provided"):
        storage.resizable = True
    assert storage.resizable is False
    storage.impl.allocator = CPUAllocator()
    storage.resizable = True
    with pytest.raises(RuntimeError, match="resizable"):
        storage.impl.allocator = None
    assert storage.resizable and storage.allocator is not None


def test_storage_outlives_the_allocator_it_was_made_with_st_13():
    storage = Storage(8, CPUAllocator(), resizable=True)
    storage.impl.allocator = CPUAllocator(4096)
    assert storage.resize_(16).data_ptr() % 4096 == 0
    storage.resizable = False
    storage.impl.allocator = None
    assert storage.clone().nbytes() == 16


@pytest.mark.parametrize("shared", [False, True])
def test_external_memory_is_adopted_st_14(shared):
    freed, storage = [], filled(b"12345678", resizable=True)
    sharers = [storage.lazy_clone() for _ in range(shared)]
    storage.impl.unique_storage_share_external_pointer(external(freed), 100)
    assert (storage.mutable_data_ptr(), storage.nbytes()) == (0x1000, 100)
    assert (storage.allocator, storage.resizable) == (None, False)
    assert [read(sharer) for sharer in sharers] == [b"12345678"] * shared
    storage.reset()
    assert freed == [0x1000]


def test_external_memory_needs_the_only_owner_st_14():
    storage = filled(b"12345678")
    owner, block = storage.weak().lock(), external([])
    with pytest.raises(RuntimeError, match="can only be called when use_count == 1, found 2"):
        storage.impl.unique_storage_share_external_pointer(block, 8)
    assert block.get() == 0x1000 and read(storage) == b"12345678"
    owner.reset()
    for nbytes, error in ((-1, ValueError), (1 << 64, OverflowError)):
        with pytest.raises(error):
            storage.impl.unique_storage_share_external_pointer(block, nbytes)
    assert block.get() == 0x1000 and read(storage) == b"12345678"


@pytest.mark.parametrize("shared", [False, True])
def test_released_data_has_a_text_of_its_own_st_15(shared):
    storage = filled(b"12345678")
    sharers = [storage.lazy_clone() for _ in range(shared)]
    before = CPUAllocator.bytes_in_use()
    storage.impl.release_data_and_set_meta_custom_data_ptr_error_msg("gone to disk")
    assert CPUAllocator.bytes_in_use() == before - 8 * (not shared)
    for access in (storage.data_ptr, storage.mutable_data_ptr, storage.clone, storage.lazy_clone):
        with pytest.raises(RuntimeError, match=r"^gone to disk$"):
            access()
    storage.impl.clear_meta_custom_data_ptr_error_msg()
    assert storage.data_ptr() == storage.mutable_data_ptr() == 0
    storage.set_data_ptr_noswap(CPUAllocator(zero_fill=True).allocate(8))
    assert read(storage) == bytes(8)
    assert [read(sharer) for sharer in sharers] == [b"12345678"] * shared


def test_materializer_stays_until_it_succeeds_st_16(failing_allocator):
    storage = filled(b"12345678", failing_allocator)
    clone = storage.lazy_clone()
    for _ in range(2):
        failing_allocator.fail_next()
        with pytest.raises(OutOfMemoryError):
            clone.mutable_data_ptr()
    address = clone.mutable_data_ptr()
    failing_allocator.fail_next()
    assert clone.mutable_data_ptr() == address != storage.data_ptr()


def test_second_lazy_clone_keeps_the_one_materializer_st_16():
    storage = filled(b"12345678")
    clones = [storage.lazy_clone() for _ in range(3)]
    ctypes.memset(storage.mutable_data_ptr(), 0, 8)
    assert [read(clone) for clone in clones] == [b"12345678"] * 3


def test_readonly_is_refused_for_writing_and_stays():
    storage = filled(b"12345678")
    storage.readonly = True
    for write in (
        storage.mutable_data_ptr,
        lambda: storage.set_data_ptr(DataPtr()),
        lambda: setattr(storage, "readonly", False),
    ):
        with pytest.raises(RuntimeError, match="read-only"):
            write()
    storage.readonly = True
    assert storage.readonly and read(storage) == b"12345678"


def test_deleter_that_raises_is_reported_and_not_propagated(unraisable):
    def fail(address):
        raise KeyError(address)

    storage = Storage.from_data_ptr(8, DataPtr.from_callable(0x1000, fail))
    storage.set_data_ptr_noswap(DataPtr.from_callable(0x2000, fail))
    storage.impl.unique_storage_share_external_pointer(DataPtr.from_callable(0x3000, fail), 8)
    storage.impl.reset()
    storage.set_data_ptr_noswap(DataPtr.from_callable(0x4000, fail))
    storage.reset()
    assert [error.args for error in unraisable] == [(0x1000,), (0x2000,), (0x3000,), (0x4000,)]


def test_deleter_that_raises_does_not_disturb_an_error_under_way(unraisable):
    def fail(address):
        raise KeyError(address)

    def work():
        storage = Storage.from_data_ptr(8, DataPtr.from_callable(0x1000, fail))
        raise OSError(storage.nbytes())

    with pytest.raises(OSError, match="8") as caught:
        work()
    assert unraisable == []
    del caught
    assert [error.args for error in unraisable] == [(0x1000,)]


def test_deleter_may_look_at_its_owner():
    seen = []
    storage = Storage(8)
    storage.set_data_ptr_noswap(DataPtr.from_callable(0x1000, lambda address: seen.append(storage.data_ptr())))
    storage.set_data_ptr_noswap(CPUAllocator().allocate(8))
    assert seen == [storage.data_ptr()]
