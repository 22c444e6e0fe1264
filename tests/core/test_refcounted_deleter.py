"""Reference-counted blocks: several storages over the same bytes, each write seen by all."""

import copy
import ctypes

import pytest

from tensix.core import CPUAllocator, DataPtr, OutOfMemoryError, Storage

pytestmark = pytest.mark.usefixtures("no_leak")


def read(storage):
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


def write(storage, content):
    ctypes.memmove(storage.mutable_data_ptr(), content, len(content))


def filled(content, allocator=None, resizable=False):
    storage = Storage(len(content), allocator, resizable)
    write(storage, content)
    return storage


def external(freed, address=0x1000):
    return DataPtr.from_callable(address, freed.append)


def test_applying_is_idempotent_and_keeps_the_address_st_23():
    storage = filled(b"12345678")
    address = storage.data_ptr()
    contexts = []
    for _ in range(3):
        storage.maybe_apply_refcounted_deleter()
        contexts.append(storage.data_ptr_object().get_context())
    assert len(set(contexts)) == 1 and contexts[0] != address
    assert storage.mutable_data_ptr() == address and read(storage) == b"12345678"
    assert not storage.is_cow()


def test_aliases_are_storages_of_their_own_over_the_same_bytes_st_21_st_23():
    storage = filled(b"12345678", CPUAllocator(), resizable=True)
    alias = storage.share()
    assert alias.impl is not storage.impl and alias != storage
    assert (alias.nbytes(), alias.allocator, alias.resizable) == (8, storage.allocator, False)
    assert storage.unique() and alias.unique()
    assert storage.is_alias_of(alias) and alias.is_alias_of(storage)
    write(alias, b"rewrites")
    assert read(storage) == b"rewrites"
    write(storage, b"12345678")
    assert read(alias) == b"12345678"


def test_different_blocks_are_no_aliases_st_21():
    first, second, plain = filled(b"12345678"), filled(b"12345678"), filled(b"12345678")
    aliases = first.share(), second.share(), first.share().share()
    assert not first.is_alias_of(second) and not aliases[0].is_alias_of(aliases[1])
    assert aliases[0].is_alias_of(aliases[2]) and not plain.is_alias_of(first)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_block_lives_as_long_as_one_of_them_st_23(order):
    freed = []
    storage = Storage.from_data_ptr(8, external(freed))
    sharers = [storage, storage.share(), storage.share()]
    for index in order[:2]:
        sharers[index].reset()
        assert freed == []
    sharers[order[2]].reset()
    assert freed == [0x1000]


def test_unshared_refcounted_block_is_freed_once_st_23():
    freed = []
    storage = Storage.from_data_ptr(8, external(freed))
    storage.maybe_apply_refcounted_deleter()
    twin = copy.copy(storage)
    storage.reset()
    assert freed == []
    twin.reset()
    assert freed == [0x1000]


def test_deleter_that_raises_is_reported(unraisable):
    def fail(address):
        raise KeyError(address)

    storage = Storage.from_data_ptr(8, DataPtr.from_callable(0x1000, fail))
    storage.share().reset()
    assert unraisable == []
    storage.reset()
    assert [error.args for error in unraisable] == [(0x1000,)]


def test_cow_share_is_materialized_first_st_23_cw_15():
    storage = filled(b"12345678")
    clone = storage.lazy_clone()
    alias = clone.share()
    write(alias, b"rewrites")
    assert read(clone) == b"rewrites" and read(storage) == b"12345678"
    assert not clone.is_cow() and not alias.is_cow()


def test_failing_materialization_shares_nothing_cw_17(failing_allocator):
    storage = filled(b"12345678", failing_allocator)
    clone = storage.lazy_clone()
    for attempt in (clone.share, clone.maybe_apply_refcounted_deleter):
        failing_allocator.fail_next()
        with pytest.raises(OutOfMemoryError):
            attempt()
        assert clone.is_cow() and read(clone) == read(storage) == b"12345678"


@pytest.mark.parametrize("readonly", [False, True])
def test_alias_stays_one_when_it_is_lazily_cloned_st_21(readonly):
    storage = filled(b"12345678")
    storage.readonly = readonly
    alias = storage.share()
    clone = alias.lazy_clone()
    assert alias.readonly is readonly and not clone.readonly
    write(clone, b"rewrites")
    assert read(alias) == read(storage) == b"12345678"
    assert alias.is_alias_of(storage) and not clone.is_alias_of(alias)


def test_alias_of_a_readonly_storage_is_readonly():
    storage = filled(b"12345678")
    storage.readonly = True
    alias = storage.share()
    with pytest.raises(RuntimeError, match="read-only"):
        alias.mutable_data_ptr()
    assert read(alias) == b"12345678"


def test_alias_of_a_readonly_sharer_never_sees_the_writes_of_others():
    storage = filled(b"12345678")
    clone = storage.lazy_clone()
    clone.readonly = True
    alias = clone.share()
    write(storage, b"rewrites")
    assert read(alias) == read(clone) == b"12345678"
    assert alias.is_alias_of(clone)


def test_resizing_leaves_the_alias_behind():
    storage = filled(b"12345678", resizable=True)
    alias = storage.share()
    write(storage.resize_(4), b"abcd")
    assert read(storage) == b"abcd" and read(alias) == b"12345678"
    assert not storage.is_alias_of(alias)


def test_alias_is_not_resizable():
    alias = filled(b"12345678", resizable=True).share()
    with pytest.raises(RuntimeError, match="not resizable"):
        alias.resize_(4)
    assert read(alias) == b"12345678"


def test_nothing_can_be_shared():
    storage = Storage(0)
    alias = storage.share()
    assert alias.nbytes() == alias.data_ptr() == 0 and alias.is_alias_of(storage)
