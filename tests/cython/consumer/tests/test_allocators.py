"""An allocator in C serves tensors."""

import pytest
from tensix_consumer.allocators import CountingAllocator, live_block_count

import tensix


def test_tensors_of_a_scope_come_from_it():
    allocator, before = CountingAllocator(), live_block_count()
    with tensix.use_allocator(allocator):
        x = tensix.ones(3, 4)
    assert x.allocator is allocator
    assert (allocator.allocations, live_block_count() - before) == (1, 1)
    del x
    assert live_block_count() == before


def test_its_blocks_are_shared_copy_on_write():
    allocator, before = CountingAllocator(), live_block_count()
    storage = tensix.Storage(64, allocator)
    clone = storage.lazy_clone()
    assert clone.data_ptr() == storage.data_ptr()
    assert clone.mutable_data_ptr() != storage.data_ptr()
    assert (allocator.allocations, live_block_count() - before) == (2, 2)
    del storage, clone
    assert live_block_count() == before


def test_python_asks_it_too():
    allocator, before = CountingAllocator(), live_block_count()
    block = allocator.allocate(10)
    assert (bool(block), live_block_count() - before) == (True, 1)
    block.clear()
    assert live_block_count() == before
    assert not allocator.allocate(0)


def test_a_python_subclass_can_leave_allocate_to_it():
    class Named(CountingAllocator):
        def allocate(self, nbytes):
            self.asked = nbytes
            return super().allocate(nbytes)

    allocator = Named()
    block = allocator.allocate(10)
    assert (allocator.asked, allocator.allocations) == (10, 1)
    block.clear()
    storage = tensix.Storage(20, allocator)
    assert (allocator.asked, allocator.allocations, storage.nbytes()) == (20, 2, 20)


def test_its_error_arrives():
    allocator = CountingAllocator(limit=100)
    with pytest.raises(tensix.OutOfMemoryError, match="limit 100"):
        tensix.Storage(101, allocator)
    with pytest.raises(tensix.OutOfMemoryError, match="limit 100"):
        allocator.allocate(101)
