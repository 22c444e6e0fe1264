"""Copy-on-write: what is shared, when it is copied, and what a failure leaves."""

import ctypes

import pytest

from tensix.core import CPUAllocator, DataPtr, OutOfMemoryError, Storage, cow, get_allocator, use_allocator

pytestmark = pytest.mark.usefixtures("no_leak")


def read(storage):
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


def write(storage, content):
    ctypes.memmove(storage.mutable_data_ptr(), content, len(content))


def filled(content, allocator=None, **options):
    storage = Storage(len(content), allocator, **options)
    write(storage, content)
    return storage


def counted_block(freed, nbytes=8):
    """Return a simple block whose C deleter notes each call."""

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def free(address):
        freed.append(address)
        allocator.raw_deallocate(address)

    allocator = CPUAllocator()
    address = allocator.raw_allocate(nbytes)
    ctypes.memset(address, ord("x"), nbytes)
    return DataPtr(address, address, free)


def test_source_is_wrapped_in_place_cw_9():
    storage = filled(b"12345678", CPUAllocator(128), resizable=True)
    address, deleter = storage.data_ptr(), storage.data_ptr_object().get_deleter()
    clone = cow.lazy_clone_storage(storage)
    assert storage.data_ptr() == clone.data_ptr() == address
    assert storage.impl is not clone.impl and not storage.is_alias_of(clone)
    look = storage.data_ptr_object()
    assert look.get_context() == clone.data_ptr_object().get_context() != address
    assert look.get_deleter() == clone.data_ptr_object().get_deleter() != deleter
    assert (clone.nbytes(), clone.allocator, clone.resizable) == (8, storage.allocator, True)


def test_clones_of_clones_share_one_context_cw_1_cw_10():
    storage = filled(b"12345678")
    clones = [storage.lazy_clone()]
    for _ in range(5):
        clones.append(clones[-1].lazy_clone())
    assert len({shared.data_ptr_object().get_context() for shared in (storage, *clones)}) == 1
    write(clones[2], b"rewrites")
    assert [read(shared) for shared in (storage, *clones)].count(b"12345678") == 6


def test_is_cow_is_a_question_of_the_deleter_cw_8():
    storage = Storage(8)
    assert not storage.is_cow() and not cow.is_cow_data_ptr(storage.data_ptr_object())
    clone = storage.lazy_clone()
    for shared in (storage, clone):
        assert shared.is_cow() and cow.is_cow_data_ptr(shared.data_ptr_object())
    assert not cow.is_cow_data_ptr(DataPtr())


def test_simple_or_not_cw_7():
    """With an allocator its opinion counts, else whether data and context are the same."""

    class Never(CPUAllocator):
        def is_simple_data_ptr(self, data_ptr):
            return False

    assert cow.has_simple_data_ptr(Storage(8)) is True
    assert cow.has_simple_data_ptr(Storage(8, Never())) is False
    assert cow.has_simple_data_ptr(Storage.from_data_ptr(8, DataPtr(0x1000, 0x1000))) is True
    assert cow.has_simple_data_ptr(Storage.from_data_ptr(8, DataPtr(0x1000, 0x2000))) is False
    shared = Storage(8)
    clone = shared.lazy_clone()
    assert cow.has_simple_data_ptr(shared) is cow.has_simple_data_ptr(clone) is False


def test_other_contexts_are_not_shared_cw_11():
    content = ctypes.create_string_buffer(b"1234567")
    storage = Storage.from_data_ptr(8, DataPtr.from_callable(ctypes.addressof(content), id))
    assert cow.lazy_clone_storage(storage) is None
    assert not storage.is_cow()
    copy = storage.lazy_clone()
    assert not copy.is_cow() and read(copy) == read(storage) and copy.data_ptr() != storage.data_ptr()


def test_nothing_can_be_shared_cw_12():
    for storage in (Storage(0), Storage.from_data_ptr(0, DataPtr()), Storage.create_legacy()):
        clone = cow.lazy_clone_storage(storage)
        assert clone.is_cow() and storage.is_cow()
        assert clone.mutable_data_ptr() == storage.mutable_data_ptr() == 0
        assert not clone.is_cow() and not storage.is_cow()


def test_not_last_sharer_copies_cw_15():
    storage = filled(b"12345678", CPUAllocator(256))
    first, second = storage.lazy_clone(), storage.lazy_clone()
    address = storage.data_ptr()
    write(first, b"rewrites")
    assert not first.is_cow() and first.data_ptr() != address and first.data_ptr() % 256 == 0
    assert storage.is_cow() and second.is_cow()
    assert storage.data_ptr() == second.data_ptr() == address
    assert (read(storage), read(first), read(second)) == (b"12345678", b"rewrites", b"12345678")


@pytest.mark.parametrize("survivor", [0, 1, 2])
@pytest.mark.parametrize("how", ["drop", "write"])
def test_last_sharer_takes_block_back_cw_14(survivor, how):
    sharers = [filled(b"12345678")]
    context = sharers[0].data_ptr_object().get_context()
    sharers += [sharers[0].lazy_clone(), sharers[0].lazy_clone()]
    last = sharers.pop(survivor)
    address, before = last.data_ptr(), CPUAllocator.bytes_in_use()
    for other in sharers:
        if how == "drop":
            other.reset()
        else:
            other.mutable_data_ptr()
    assert last.is_cow() and last.data_ptr() == address
    assert last.mutable_data_ptr() == address and not last.is_cow()
    assert last.data_ptr_object().get_context() == context
    assert read(last) == b"12345678"
    assert CPUAllocator.bytes_in_use() == before + (0 if how == "drop" else 16)


def test_storage_can_be_shared_again_after_it_took_the_block_back_cw_14():
    storage = filled(b"12345678")
    for _ in range(3):
        clone = storage.lazy_clone()
        clone.reset()
        write(storage, b"12345678")
    assert read(storage.lazy_clone()) == b"12345678"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_original_deleter_runs_once_at_the_end_cw_2_cw_3_cw_5_cw_6(order):
    freed = []
    storage = Storage.from_data_ptr(8, counted_block(freed))
    address = storage.data_ptr()
    sharers = [storage, storage.lazy_clone(), storage.lazy_clone()]
    for index in order[:2]:
        sharers[index].reset()
        assert freed == [] and read(sharers[order[2]]) == b"xxxxxxxx"
    sharers[order[2]].reset()
    assert freed == [address]


def test_original_deleter_survives_taking_the_block_back_cw_3_cw_14():
    freed = []
    storage = Storage.from_data_ptr(8, counted_block(freed))
    storage.lazy_clone().reset()
    address = storage.mutable_data_ptr()
    assert freed == []
    storage.reset()
    assert freed == [address]


def test_deleter_that_raises_in_a_shared_context_is_reported_cw_6(unraisable):
    class Raising(CPUAllocator):
        def is_simple_data_ptr(self, data_ptr):
            return True

    def fail(address):
        raise KeyError(address)

    storage = Storage.from_data_ptr(8, DataPtr.from_callable(0x1000, fail), Raising())
    clone = storage.lazy_clone()
    storage.reset()
    assert unraisable == []
    clone.reset()
    assert [error.args for error in unraisable] == [(0x1000,)]


def test_copy_without_an_allocator_comes_from_the_default_one_cw_15():
    storage = Storage.from_data_ptr(8, counted_block([]))
    clone = storage.lazy_clone()
    with use_allocator(CPUAllocator(4096)):
        assert clone.mutable_data_ptr() % 4096 == 0
    assert clone.allocator is None and read(clone) == b"xxxxxxxx"


def test_materialize_by_name_cw_13_cw_15():
    storage = filled(b"12345678")
    with pytest.raises(RuntimeError, match="not copy-on-write"):
        cow.materialize_cow_storage(storage)
    clone = storage.lazy_clone()
    cow.materialize_cow_storage(clone)
    assert not clone.is_cow() and clone.data_ptr() != storage.data_ptr() and read(clone) == b"12345678"
    with pytest.raises(RuntimeError, match="not copy-on-write"):
        cow.materialize_cow_storage(clone)


@pytest.mark.parametrize("function", [cow.lazy_clone_storage, cow.has_simple_data_ptr, cow.materialize_cow_storage])
def test_null_storage_is_refused(function):
    storage = Storage(8)
    storage.reset()
    with pytest.raises(RuntimeError, match="null"):
        function(storage)
    with pytest.raises(TypeError):
        function(None)


@pytest.mark.parametrize("attempts", [1, 3])
def test_failing_allocation_leaves_a_valid_share_cw_17(failing_allocator, attempts):
    storage = filled(b"12345678", failing_allocator)
    clone, address = storage.lazy_clone(), storage.data_ptr()
    for _ in range(attempts):
        for sharer in (storage, clone):
            failing_allocator.fail_next()
            with pytest.raises(OutOfMemoryError):
                sharer.mutable_data_ptr()
            assert sharer.is_cow() and sharer.data_ptr() == address and read(sharer) == b"12345678"
    clone.reset()
    assert storage.mutable_data_ptr() == address and not storage.is_cow()


def test_failing_copy_leaves_a_valid_share_cw_17():
    class Uncopyable(CPUAllocator):
        def copy_data(self, dst, src, nbytes):
            raise KeyError("copy")

    storage = filled(b"12345678", Uncopyable())
    clone, before = storage.lazy_clone(), CPUAllocator.bytes_in_use()
    with pytest.raises(KeyError):
        clone.mutable_data_ptr()
    assert CPUAllocator.bytes_in_use() == before
    assert clone.is_cow() and read(clone) == read(storage) == b"12345678"


def test_sharers_survive_a_failed_materialization_of_one_that_goes_cw_17(failing_allocator):
    storage = filled(b"12345678", failing_allocator)
    clone = storage.lazy_clone()
    failing_allocator.fail_next()
    with pytest.raises(OutOfMemoryError):
        clone.mutable_data_ptr()
    storage.reset()
    assert read(clone) == b"12345678"
    write(clone, b"rewrites")
    assert read(clone) == b"rewrites"


def test_lazy_clone_allocates_no_bytes_cw_9_cw_19(failing_allocator):
    storage = filled(b"12345678", failing_allocator)
    failing_allocator.fail_next()
    clones = [storage.lazy_clone() for _ in range(100)]
    assert {clone.data_ptr() for clone in clones} == {storage.data_ptr()}
    assert storage.allocator is clones[0].allocator is not get_allocator("cpu")
