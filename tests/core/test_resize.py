"""Changing a storage's size: contents, refusals and failures half-way."""

import ctypes

import pytest

from tensix.core import CPUAllocator, DataPtr, OutOfMemoryError, Storage

pytestmark = pytest.mark.usefixtures("no_leak")


def read(storage):
    return ctypes.string_at(storage.data_ptr(), storage.nbytes())


def filled(content, allocator=None, resizable=True):
    storage = Storage(len(content), allocator, resizable)
    ctypes.memmove(storage.mutable_data_ptr(), content, len(content))
    return storage


@pytest.mark.parametrize("nbytes", [0, 1, 7, 8, 9, 64, 100_000, 3 << 20])
def test_first_bytes_are_kept(nbytes):
    storage = filled(b"12345678", CPUAllocator(zero_fill=True))
    assert storage.resize_(nbytes) is storage
    assert storage.nbytes() == nbytes
    assert read(storage) == (b"12345678" + bytes(max(0, nbytes - 8)))[:nbytes]
    assert bool(storage.data_ptr()) is (nbytes > 0)


def test_growing_from_nothing_and_back():
    storage = Storage(0, resizable=True)
    for nbytes in (5, 0, 0, 7, 0):
        ctypes.memset(storage.resize_(nbytes).mutable_data_ptr(), 1, nbytes)
        assert read(storage) == b"\x01" * nbytes
    assert storage.data_ptr() == 0


def test_same_size_changes_nothing():
    storage = filled(b"12345678")
    clone, address = storage.lazy_clone(), storage.data_ptr()
    clone.resize_(8)
    assert clone.data_ptr() == address and clone.is_cow()


def test_bytes_in_use_follow_the_size():
    before = CPUAllocator.bytes_in_use()
    storage = Storage(100, resizable=True)
    for nbytes in (1000, 10, 0, 64):
        storage.resize_(nbytes)
        assert CPUAllocator.bytes_in_use() == before + nbytes


def test_all_handles_see_the_new_size_st_18():
    storage = filled(b"12345678")
    twin = Storage.from_impl(storage.weak().lock())
    storage.resize_(4)
    assert twin.nbytes() == 4 and read(twin) == b"1234"


@pytest.mark.parametrize("nbytes", [4, 100])
def test_sharers_keep_their_bytes_cw_15(nbytes):
    storage = filled(b"12345678")
    clone, address = storage.lazy_clone(), storage.data_ptr()
    storage.resize_(nbytes)
    assert read(storage)[:4] == b"1234" and not storage.is_cow()
    assert read(clone) == b"12345678"
    assert clone.data_ptr() == clone.mutable_data_ptr() == address
    assert storage.lazy_clone().is_cow()


def test_lazy_clone_of_a_resizable_storage_is_resizable_cw_9():
    storage = filled(b"12345678")
    clone = storage.lazy_clone().resize_(2)
    assert (read(clone), read(storage)) == (b"12", b"12345678")


@pytest.mark.parametrize("nbytes, error", [(-1, ValueError), (1 << 64, OverflowError), (1 << 63, OutOfMemoryError),
                                           (1 << 62, OutOfMemoryError), (2.5, TypeError), (None, TypeError)])
def test_impossible_size_changes_nothing(nbytes, error):
    storage = filled(b"12345678")
    address = storage.data_ptr()
    with pytest.raises(error):
        storage.resize_(nbytes)
    assert read(storage) == b"12345678" and storage.data_ptr() == address


def forbid_reading(storage):
    storage.impl.set_throw_on_immutable_data_ptr()


def make_readonly(storage):
    storage.readonly = True


def make_fixed(storage):
    storage.resizable = False


@pytest.mark.parametrize(
    "forbid, text",
    [(make_readonly, "read-only"), (make_fixed, "not resizable"), (forbid_reading, "invalid")],
)
@pytest.mark.parametrize("nbytes", [4, 16])
def test_forbidden_resize_changes_nothing_st_2_st_13(forbid, text, nbytes):
    storage = filled(b"12345678")
    address = storage.data_ptr()
    forbid(storage)
    with pytest.raises(RuntimeError, match=text):
        storage.resize_(nbytes)
    assert storage.nbytes() == 8 and storage.data_ptr_object().get() == address


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("nbytes", [4, 16])
def test_failing_allocation_changes_nothing_cw_17(failing_allocator, shared, nbytes):
    storage = filled(b"12345678", failing_allocator)
    sharers = [storage.lazy_clone() for _ in range(shared)]
    failing_allocator.fail_next()
    with pytest.raises(OutOfMemoryError):
        storage.resize_(nbytes)
    assert read(storage) == b"12345678" and storage.is_cow() is shared
    assert read(storage.resize_(nbytes))[:4] == b"1234"
    assert [read(sharer) for sharer in sharers] == [b"12345678"] * shared


@pytest.mark.parametrize("shared", [False, True])
def test_failing_copy_changes_nothing_and_frees_the_new_block(shared):
    class Uncopyable(CPUAllocator):
        def copy_data(self, dst, src, nbytes):
            raise KeyError("copy")

    storage = filled(b"12345678", Uncopyable())
    sharers = [storage.lazy_clone() for _ in range(shared)]
    before = CPUAllocator.bytes_in_use()
    with pytest.raises(KeyError):
        storage.resize_(100)
    assert CPUAllocator.bytes_in_use() == before
    assert read(storage) == b"12345678" and storage.is_cow() is shared
    del sharers


def test_block_from_elsewhere_is_freed_by_its_own_deleter():
    freed, content = [], ctypes.create_string_buffer(b"elsewhere")
    address = ctypes.addressof(content)
    block = DataPtr.from_callable(address, freed.append)
    storage = Storage.from_data_ptr(9, block, CPUAllocator(), resizable=True)
    storage.resize_(4)
    assert freed == [address] and read(storage) == b"else"


def test_allocator_may_be_replaced_while_it_allocates():
    class Retiring(CPUAllocator):
        storage = None

        def allocate(self, nbytes):
            if self.storage is not None:
                self.storage.impl.allocator, self.storage = CPUAllocator(), None
            return super().allocate(nbytes)

    storage = filled(b"12345678", Retiring())
    storage.allocator.storage = storage
    assert read(storage.resize_(4)) == b"1234"
    assert type(storage.allocator) is CPUAllocator


def test_storage_may_be_given_up_while_it_is_resized():
    class Careless(CPUAllocator):
        storage = None

        def allocate(self, nbytes):
            if self.storage is not None:
                self.storage.reset()
                self.storage = None
            return super().allocate(nbytes)

    storage = filled(b"12345678", Careless())
    storage.allocator.storage = storage
    storage.resize_(16)
    assert not storage
