"""Blocks of elements, apart from the storages that hold them."""

import ctypes
import gc

import pytest

from tensix import CPUAllocator, Storage, TypedStorage, TypeMeta, register_type
from tensix.tensors.element_allocator import ElementAllocator


class Item:
    """Count how many are alive."""

    alive = 0

    def __init__(self):
        Item.alive += 1

    def __del__(self):
        Item.alive -= 1


META = register_type(Item)


@pytest.fixture
def allocator():
    """Return an allocator of items, and check that what it gave out is given back."""
    gc.collect()
    before = CPUAllocator.bytes_in_use()
    yield ElementAllocator(META)
    gc.collect()
    assert (Item.alive, CPUAllocator.bytes_in_use()) == (0, before)


def test_block_owns_its_elements(allocator):
    block = allocator.allocate(24)
    assert Item.alive == 3 and block.get() != block.get_context() and str(block.device) == "cpu"
    assert not allocator.is_simple_data_ptr(block) and allocator.raw_deleter() == 0
    twin = allocator.clone(block.get() + 8, 16)
    block.clear()
    assert Item.alive == 2 and twin.get()
    del twin
    assert Item.alive == 0


def test_block_may_move(allocator):
    storage = Storage.from_data_ptr(16, allocator.allocate(16), allocator)
    items = TypedStorage.from_storage(storage)
    block = storage.set_data_ptr(allocator.allocate(8))
    assert Item.alive == 3 and len(items) == 1
    del block
    assert Item.alive == 1


def test_freed_without_the_gil(allocator):
    """As ctypes calls functions; the block's deleter takes the GIL itself."""
    block = allocator.allocate(80)
    free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(block.get_deleter())
    assert Item.alive == 10
    free(block.release_context())
    assert Item.alive == 0


def test_copy_data_assigns(allocator):
    one, two = allocator.allocate(24), allocator.allocate(24)
    allocator.copy_data(two.get(), one.get(), 16)
    assert Item.alive == 4
    one.clear()
    assert Item.alive == 3


@pytest.mark.parametrize("nbytes, error", [(9, ValueError), (-8, ValueError), (2**64, OverflowError), (8.0, TypeError)])
def test_sizes_that_are_none(allocator, nbytes, error):
    for ask in (allocator.allocate, lambda size: allocator.clone(4096, size)):
        with pytest.raises(error):
            ask(nbytes)


def test_addresses_that_are_none(allocator):
    block = allocator.allocate(8)
    for copy in (lambda: allocator.clone(0, 8), lambda: allocator.copy_data(0, block.get(), 8),
                 lambda: allocator.copy_data(block.get(), 0, 8)):
        with pytest.raises(RuntimeError, match="null address"):
            copy()
    assert allocator.clone(0, 0).get_context() and Item.alive == 1


def test_allocators_that_are_none(allocator):
    for upstream in (5, "cpu", CPUAllocator):
        with pytest.raises(TypeError):
            TypedStorage(Item, 1, upstream)
    for arguments in ((None,), ("int8",), (META, 5), ()):
        with pytest.raises(TypeError):
            ElementAllocator(*arguments)
    with pytest.raises(TypeError, match="plain memory"):
        ElementAllocator(META, allocator)
    with pytest.raises(RuntimeError, match="filled once"):
        allocator.__init__(META)
    with pytest.raises(RuntimeError, match="null"):
        ElementAllocator.__new__(ElementAllocator).allocate(8)
    with pytest.raises(ValueError, match="whole number"):
        ElementAllocator(TypeMeta()).allocate(8)


class Elsewhere(CPUAllocator):
    """Label its blocks with another device."""

    def allocate(self, nbytes):
        block = super().allocate(nbytes)
        block.unsafe_set_device("cuda")
        return block


def test_memory_of_another_device_is_refused(allocator):
    with pytest.raises(ValueError, match="main memory"):
        ElementAllocator(META, Elsewhere()).allocate(8)
