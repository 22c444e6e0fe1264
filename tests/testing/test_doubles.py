"""The allocators and the deleter for tests do what they say, no more and no less."""

import threading

import pytest

import tensix
from tensix import CPUAllocator, DataPtr, OutOfMemoryError, Storage, cow, get_allocator, use_allocator
from tensix.testing import DeleteTracker, FailingAllocator, FakeAllocator

# ---- FailingAllocator


def test_the_nth_allocation_fails_once():
    failing = FailingAllocator(CPUAllocator(), fail_at=3)
    outcomes = []
    for _ in range(6):
        try:
            outcomes.append(bool(failing.allocate(8)))
        except OutOfMemoryError as error:
            outcomes.append(error.nbytes)
    assert outcomes == [True, True, 8, True, True, True] and failing.calls == 6


def test_the_next_one_can_be_told_to_fail():
    failing = FailingAllocator()
    assert failing.upstream is get_allocator("cpu") and failing.fail_at is None
    storage = Storage(8, failing)
    failing.fail_next()
    with pytest.raises(OutOfMemoryError):
        storage.clone()
    assert storage.clone().nbytes() == 8


def test_blocks_are_upstreams():
    failing = FailingAllocator(CPUAllocator(alignment=4096))
    storage = Storage(8, failing)
    assert storage.data_ptr() % 4096 == 0 and storage.allocator is failing
    assert cow.has_simple_data_ptr(storage) and storage.lazy_clone().is_cow()
    assert not cow.has_simple_data_ptr(Storage(8, FailingAllocator(NeverSimple())))


class NeverSimple(CPUAllocator):
    def is_simple_data_ptr(self, data_ptr):
        return False


@pytest.mark.parametrize("fail_at", [0, -1])
def test_counting_begins_with_one(fail_at):
    with pytest.raises(ValueError, match="from 1"):
        FailingAllocator(fail_at=fail_at)


def test_an_operator_meets_it():
    x = tensix.ones(3)
    with use_allocator(FailingAllocator(fail_at=1)), pytest.raises(OutOfMemoryError, match="12 bytes"):
        x + x
    assert (x + x).tolist() == [2.0, 2.0, 2.0]


# ---- FakeAllocator


def test_records_say_who_got_what_and_gave_it_back():
    fake = FakeAllocator(alignment=4096)
    storages = [Storage(nbytes, fake) for nbytes in (1, 4097, 1 << 60)]
    addresses = [storage.data_ptr() for storage in storages]
    assert fake.allocated == [*zip(addresses, (1, 4097, 1 << 60), strict=True)] and fake.freed == []
    assert all(address % 4096 == 0 for address in addresses) and addresses == sorted(set(addresses))
    assert addresses[1] > addresses[0] + 1 and addresses[2] > addresses[1] + 4097
    storages.pop(1)
    assert fake.freed == fake.allocated[1:2] and set(fake.blocks) == {addresses[0], addresses[2]}
    assert Storage(0, fake).data_ptr() == 0 and len(fake.allocated) == 3


def test_bookkeeping_works_without_memory():
    fake = FakeAllocator()
    with use_allocator(fake):
        x = tensix.empty(1 << 20, 1 << 20)
    rows, clone = x[5:10], x.lazy_clone()
    assert rows.data_ptr() == x.data_ptr() + (5 << 22) and clone.data_ptr() == x.data_ptr() and clone.is_cow()
    target = clone.mutable_data_ptr()
    assert fake.copied == [(target, x.data_ptr(), 1 << 42)] and not clone.is_cow()
    del x, rows, clone
    assert fake.blocks == {} and len(fake.freed) == 2


def test_blocks_outlive_the_allocator():
    storage = Storage(8, FakeAllocator())
    fake = storage.allocator
    storage.set_data_ptr(DataPtr()).clear()
    assert fake.freed == fake.allocated


def test_the_capacity_is_a_bound():
    fake = FakeAllocator(capacity=100)
    kept = fake.allocate(60)
    with pytest.raises(OutOfMemoryError) as caught:
        fake.allocate(41)
    assert (caught.value.in_use, caught.value.limit) == (60, 100)
    kept.clear()
    assert fake.allocate(100)


def test_addresses_are_used_up_in_the_end():
    fake = FakeAllocator()
    with pytest.raises(OutOfMemoryError):
        Storage(1 << 63, fake)
    assert fake.allocated == []
    with pytest.raises(ValueError, match="power of two"):
        FakeAllocator(alignment=3)


def test_records_of_eight_threads_are_complete():
    fake = FakeAllocator()
    threads = [threading.Thread(target=lambda: [Storage(64, fake) for _ in range(200)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({address for address, _ in fake.allocated}) == 1600 and sorted(fake.freed) == sorted(fake.allocated)


# ---- DeleteTracker


def test_it_is_a_deleter_in_c_and_in_python():
    tracker = DeleteTracker()
    DataPtr(0x1000, 0x2000, tracker).clear()
    Storage.from_data_ptr(8, DataPtr.from_callable(0x3000, tracker)).reset()
    DataPtr.from_callable(0, tracker).clear()
    assert tracker.calls == [0x2000, 0x3000, 0]


def test_each_has_its_own_calls():
    one, other = DeleteTracker(), DeleteTracker()
    pointer = DataPtr(0x1000, 0x1000, one)
    assert pointer.cast_context(one) == 0x1000 and pointer.cast_context(other) == 0
    pointer.compare_exchange_deleter(one, other)
    del pointer
    assert (one.calls, other.calls) == ([], [0x1000])


def test_what_holds_memory_keeps_it():
    pointer = DataPtr(0x1000, 0x1000, DeleteTracker())
    assert pointer.cast_context(pointer.get_deleter()) == 0x1000
    pointer.clear()


def test_calls_of_eight_threads_are_complete():
    tracker = DeleteTracker()

    def work(first):
        for context in range(first, first + 100):
            DataPtr(0, context, tracker).clear()

    threads = [threading.Thread(target=work, args=(1 + 100 * index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(tracker.calls) == [*range(1, 801)]
