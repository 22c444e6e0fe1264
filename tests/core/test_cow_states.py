"""Copy-on-write beside other states: read-only, reference-counted blocks, and code that runs in between."""

import ctypes

import pytest

from tensix.core import CPUAllocator, DataPtr, Storage, cow

pytestmark = pytest.mark.usefixtures("no_leak")


def read(storage):
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


def write(storage, content):
    ctypes.memmove(storage.mutable_data_ptr(), content, len(content))


def filled(content, allocator=None):
    storage = Storage(len(content), allocator)
    write(storage, content)
    return storage


@pytest.mark.parametrize("block", ["plain", "external"])
def test_last_sharer_of_readonly_memory_copies_too(block):
    content = ctypes.create_string_buffer(b"1234567")
    storage = filled(b"1234567\0")
    if block == "external":
        storage = Storage.from_data_ptr(8, DataPtr.from_callable(ctypes.addressof(content), id))
    storage.readonly = True
    clone, address = storage.lazy_clone(), storage.data_ptr()
    assert clone.is_cow() and clone.data_ptr() == address and not clone.readonly
    with pytest.raises(RuntimeError, match="read-only"):
        storage.mutable_data_ptr()
    with pytest.raises(RuntimeError, match="read-only"):
        cow.materialize_cow_storage(storage)
    storage.reset()
    write(clone, b"8")
    assert clone.data_ptr() != address and read(clone) == b"8234567\0"


def test_sharer_made_readonly_keeps_its_bytes():
    storage = filled(b"12345678")
    clone = storage.lazy_clone()
    clone.readonly = True
    write(storage, b"rewrites")
    assert read(clone) == b"12345678"
    grandchild = clone.lazy_clone()
    write(grandchild, b"rewrites")
    assert read(clone) == b"12345678"


@pytest.mark.parametrize("readonly", [False, True])
def test_lazy_clone_of_a_refcounted_block_is_isolated(readonly):
    storage = filled(b"12345678")
    alias = storage.share()
    storage.readonly = readonly
    clone = storage.lazy_clone()
    write(alias, b"rewrites")
    assert (read(storage), read(clone)) == (b"rewrites", b"12345678")
    assert storage.is_alias_of(alias) and not storage.is_alias_of(clone)


def test_allocator_that_clones_while_it_is_asked_what_is_simple_cw_1():
    """Asking may run Python code or let other threads run: the block is shared by then, and must not be nested."""

    others = []

    class Cloning(CPUAllocator):
        target = None

        def is_simple_data_ptr(self, data_ptr):
            simple = super().is_simple_data_ptr(data_ptr)
            if self.target is not None:
                target, self.target = self.target, None
                others.append(target.lazy_clone())
            return simple

    allocator = Cloning()
    storage = filled(b"12345678", allocator)
    allocator.target = storage
    clone, other = storage.lazy_clone(), others.pop()
    write(storage, b"rewrites")
    write(other, b"OVERRIDE")
    assert (read(storage), read(other), read(clone)) == (b"rewrites", b"OVERRIDE", b"12345678")


def test_allocator_that_materializes_the_storage_it_copies_for():
    class Impatient(CPUAllocator):
        target = None

        def allocate(self, nbytes):
            if self.target is not None:
                target, self.target = self.target, None
                write(target, b"rewrites")
            return super().allocate(nbytes)

    allocator = Impatient()
    storage = filled(b"12345678", allocator)
    clone = storage.lazy_clone()
    allocator.target = clone
    clone.mutable_data_ptr()
    assert (read(clone), read(storage)) == (b"rewrites", b"12345678")


@pytest.mark.parametrize("dropped", [(0,), (1,), (0, 1)])
def test_allocator_that_drops_the_sharers_it_copies_for(dropped):
    class Careless(CPUAllocator):
        targets = ()

        def allocate(self, nbytes):
            for target in self.targets:
                target.reset()
            self.targets = ()
            return super().allocate(nbytes)

    allocator = Careless()
    sharers = [filled(b"12345678", allocator)]
    sharers.append(sharers[0].lazy_clone())
    allocator.targets = [sharers[index] for index in dropped]
    sharers[1].mutable_data_ptr()
    assert [bool(sharer) for sharer in sharers] == [index not in dropped for index in range(2)]
    assert all(read(sharer) == b"12345678" for sharer in sharers if sharer)


def test_block_replaced_while_it_is_copied_stays_replaced():
    class Replacing(CPUAllocator):
        target = None

        def allocate(self, nbytes):
            if self.target is not None:
                target, self.target = self.target, None
                target.set_data_ptr_noswap(CPUAllocator(zero_fill=True).allocate(nbytes))
            return super().allocate(nbytes)

    allocator = Replacing()
    storage = filled(b"12345678", allocator)
    clone = storage.lazy_clone()
    allocator.target = clone
    clone.mutable_data_ptr()
    assert (read(clone), read(storage), clone.is_cow()) == (bytes(8), b"12345678", False)
