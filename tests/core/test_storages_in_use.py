"""Storages that operations work on: what is refused meanwhile, and what is kept until they end."""

import ctypes

import numpy as np
import pytest
from tensix.core.memory_facts import facts_of_storage

import tensix
from tensix.core import CPUAllocator, DataPtr, Storage


class Watching(tensix.Allocator):
    """Call a function once while memory is allocated or copied, and say what was freed."""

    def __init__(self):
        self.upstream = CPUAllocator()
        self.while_allocating = self.while_copying = None
        self.freed = []

    def allocate(self, nbytes):
        function, self.while_allocating = self.while_allocating, None
        if function is not None:
            function()
        block = self.upstream.allocate(nbytes)
        return DataPtr.from_callable(block.get(), lambda address, block=block: self.freed.append(address))

    def is_simple_data_ptr(self, data_ptr):
        return True  # the context is nothing but the block

    def copy_data(self, dst, src, nbytes):
        function, self.while_copying = self.while_copying, None
        if function is not None:
            function(src)
        ctypes.memmove(dst, src, nbytes)


@pytest.fixture
def watching():
    return Watching()


@pytest.fixture
def storage(watching):
    made = Storage(64, watching, resizable=True)
    ctypes.memset(made.mutable_data_ptr(), 1, 64)
    return made


def tensor_of(storage):
    return tensix.Tensor.from_storage(storage, 0, (16,), (1,), "float32")


def exchange(storage):
    storage.set_data_ptr_noswap(CPUAllocator().allocate(64))


def swap(storage):
    other = Storage(64)
    storage.impl.swap_data_ptr(other.impl)


@pytest.mark.parametrize("change", [
    lambda storage: storage.resize_(8), exchange, swap, lambda storage: storage.impl.reset(),
    lambda storage: storage.set_data_ptr(DataPtr()), lambda storage: storage.impl.release_resources(),
])  # fmt: skip
def test_block_stays_while_it_is_copied(storage, watching, change):
    refused = []

    def try_it(src):
        try:
            change(storage)
        except RuntimeError as error:
            refused.append(str(error))

    watching.while_copying = try_it
    clone = storage.clone()
    assert ctypes.string_at(clone.data_ptr(), 64) == b"\1" * 64
    assert len(refused) == 1 and "an operation that has not ended" in refused[0]
    change(storage)  # allowed again


def test_share_that_is_given_up_stays_until_it_is_copied(storage, watching):
    """The storage gets its own bytes, and the others' share goes, while a clone reads what both had."""
    shared, address = storage.lazy_clone(), storage.data_ptr()
    read = []

    def write(src):
        storage.mutable_data_ptr()
        shared.reset()
        assert storage.data_ptr() != address == src and address not in watching.freed
        read.append(ctypes.string_at(src, 64))

    watching.while_copying = write
    clone = storage.clone()
    assert read == [b"\1" * 64] == [ctypes.string_at(clone.data_ptr(), 64)]
    assert watching.freed == [address]


EXPORTS = {"array": np.asarray, "buffer": memoryview, "dlpack": lambda x: x.__dlpack__()}


@pytest.fixture(params=EXPORTS.values(), ids=EXPORTS)
def export(request):
    return request.param


def test_exports_made_while_a_storage_is_resized(storage, watching, export):
    looks = []
    x = tensor_of(storage)
    watching.while_allocating = lambda: looks.append(export(x))
    with pytest.raises(RuntimeError, match="uses it"):
        storage.resize_(128)
    assert storage.nbytes() == 64 and len(looks) == 1 and facts_of_storage(storage.impl)["exports"] == 1
    watching.while_allocating = None
    looks.clear()
    assert storage.resize_(128).nbytes() == 128


def test_exports_made_while_a_storage_is_resized_and_copied(storage, watching, export):
    looks = []
    x = tensor_of(storage)
    watching.while_copying = lambda src: looks.append(export(x))
    with pytest.raises(RuntimeError, match="uses it"):
        storage.resize_(128)
    assert len(looks) == 1


@pytest.mark.parametrize("change", ["set_data_ptr", "swap_data_ptr"])
def test_exports_made_while_a_share_is_copied(storage, watching, export, change):
    """Before its block is exchanged a copy-on-write storage gets its own bytes, for which others may wait."""
    looks, keep = [], storage.lazy_clone()
    x = tensor_of(storage)
    address = storage.data_ptr()
    watching.while_copying = lambda src: looks.append(export(x))
    with pytest.raises(RuntimeError, match="uses it"):
        if change == "set_data_ptr":
            storage.set_data_ptr(CPUAllocator().allocate(64))
        else:
            swap(storage)
    assert keep.data_ptr() == address and len(looks) == 1
    if isinstance(looks[0], np.ndarray):
        assert looks[0].ctypes.data == storage.data_ptr()


def test_size_that_is_recorded_while_a_share_is_copied(storage, watching):
    """The bytes that are copied are as many as the storage then says that it has."""
    keep = storage.lazy_clone()
    storage.impl.set_nbytes(8)
    watching.while_copying = lambda src: storage.impl.set_nbytes(64)
    storage.mutable_data_ptr()
    assert ctypes.string_at(storage.data_ptr(), 64) == ctypes.string_at(keep.data_ptr(), 64)
