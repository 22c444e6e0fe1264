"""Eight threads at the same storages: contents right, nothing lost, nothing freed twice."""

import ctypes
import random
import sys
import threading

import pytest

from tensix.core import CPUAllocator, DataPtr, OutOfMemoryError, Storage

pytestmark = pytest.mark.usefixtures("no_leak", "frequent_switches")

THREADS = 8
SIZES = [8, 200_000]  # the larger one takes long enough to copy for others to run meanwhile


@pytest.fixture
def frequent_switches():
    """Let threads take turns more often than usual."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def run_together(work):
    """Call `work(index)` on every thread at once; return the results, or raise what one of them raised."""
    barrier, results, errors = threading.Barrier(THREADS), [None] * THREADS, []

    def run(index):
        barrier.wait()
        try:
            results[index] = work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors.pop()
    return results


def filled(mark, nbytes, allocator=None):
    storage = Storage(nbytes, allocator)
    fill(storage, mark)
    return storage


def fill(storage, mark):
    ctypes.memset(storage.mutable_data_ptr(), mark, storage.nbytes())


def holds(storage, mark):
    """Return whether every byte is `mark`."""
    return ctypes.string_at(storage.data_ptr(), storage.nbytes()) == bytes([mark]) * storage.nbytes()


@pytest.mark.parametrize("nbytes", SIZES)
def test_all_clone_one_storage_and_write_their_clones_cw_10_cw_19(nbytes):
    storage = filled(100, nbytes)

    def work(index):
        right = True
        for _ in range(10):
            clone = storage.lazy_clone()
            right &= holds(clone, 100)
            fill(clone, index)
            right &= holds(clone, index)
        return right

    assert all(run_together(work))
    address = storage.data_ptr()
    assert holds(storage, 100)
    assert storage.mutable_data_ptr() == address and not storage.is_cow()


@pytest.mark.parametrize("nbytes", SIZES)
def test_all_sharers_are_written_at_once_cw_4_cw_15(nbytes):
    for _ in range(10):
        sharers = [filled(100, nbytes)]
        sharers += [sharers[0].lazy_clone() for _ in range(THREADS - 1)]
        addresses = run_together(lambda index, sharers=sharers: sharers[index].mutable_data_ptr())
        assert len(set(addresses)) == THREADS
        assert all(holds(sharer, 100) and not sharer.is_cow() for sharer in sharers)


@pytest.mark.parametrize("nbytes", SIZES)
def test_one_sharer_is_materialized_by_all_cw_15(nbytes):
    for _ in range(10):
        storage = filled(100, nbytes)
        clone = storage.lazy_clone()
        addresses = run_together(lambda index, clone=clone: clone.mutable_data_ptr())
        assert set(addresses) == {clone.data_ptr()} != {storage.data_ptr()}
        assert holds(clone, 100) and holds(storage, 100)
        assert not clone.is_cow() and storage.is_cow()


@pytest.mark.parametrize("nbytes", SIZES)
def test_sharers_are_dropped_while_others_copy_cw_3_cw_4(nbytes):
    for _ in range(10):
        sharers = [filled(100, nbytes)]
        sharers += [sharers[0].lazy_clone() for _ in range(THREADS - 1)]

        def work(index, sharers=sharers):
            if index % 2:
                sharers[index].reset()
                return True
            fill(sharers[index], index)
            return holds(sharers[index], index)

        assert all(run_together(work))


def test_deleter_runs_once_whichever_is_last_cw_3_cw_5():
    class Anything(CPUAllocator):
        def is_simple_data_ptr(self, data_ptr):
            return True

    freed = []
    for round_number in range(1, 31):
        block = DataPtr.from_callable(round_number, freed.append)
        sharers = [Storage.from_data_ptr(8, block, Anything())]
        sharers += [sharers[0].lazy_clone() for _ in range(THREADS - 1)]
        run_together(lambda index, sharers=sharers: sharers[index].reset())
        assert freed == list(range(1, round_number + 1))


def test_allocations_that_fail_here_and_there_lose_nothing_cw_17():
    class Moody(CPUAllocator):
        calls = 0

        def allocate(self, nbytes):
            self.calls += 1
            if self.calls % 3 == 0:
                raise OutOfMemoryError(nbytes, self.alignment, 0)
            return super().allocate(nbytes)

    for _ in range(10):
        storage = filled(100, 50_000, Moody())
        clones = [storage.lazy_clone() for _ in range(THREADS)]

        def work(index, clones=clones):
            while True:
                try:
                    fill(clones[index], index)
                    return holds(clones[index], index)
                except OutOfMemoryError:
                    if not (clones[index].is_cow() and holds(clones[index], 100)):
                        return False

        assert all(run_together(work)) and holds(storage, 100)


def test_everything_at_once():
    """Clone, clone lazily, write, share and drop at random; a private storage holds what its thread wrote last."""
    source = filled(100, 20_000)

    def work(index):
        dice, right = random.Random(index), True
        own, mark = source.lazy_clone(), 100
        for _ in range(200):
            action = dice.randrange(6)
            if action == 0:
                own, mark = source.lazy_clone(), 100
            elif action == 1:
                own = own.lazy_clone()
            elif action == 2:
                own = own.clone()
            elif action == 3:
                mark = dice.randrange(100)
                fill(own, mark)
            elif action == 4:
                own = own.share()
            else:
                own.lazy_clone().mutable_data_ptr()
            right &= holds(own, mark)
        return right

    assert all(run_together(work)) and holds(source, 100)


def test_threads_share_one_refcounted_block_st_23():
    freed = []
    storage = Storage.from_data_ptr(8, DataPtr.from_callable(0x1000, freed.append))

    def work(index):
        aliases = [storage.share() for _ in range(50)]
        return all(alias.is_alias_of(storage) and alias.data_ptr() == 0x1000 for alias in aliases)

    assert all(run_together(work)) and freed == []
    storage.reset()
    assert freed == [0x1000]
