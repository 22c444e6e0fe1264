"""One handle, one target, eight threads: counts come out right and nothing is freed twice."""

import sys
import threading
import weakref

import pytest

from tensix.core import DataPtr, IntrusivePtr, IntrusiveTarget, Storage, WeakIntrusivePtr, make_intrusive, raw

THREADS = 8
ROUNDS = 4000


class Node(IntrusiveTarget):
    pass


@pytest.fixture(autouse=True)
def frequent_switches():
    """Have the interpreter change threads as often as it can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def in_all_threads(work):
    """Run work(index) in every thread, started together; raise what any of them raised."""
    errors = []
    barrier = threading.Barrier(THREADS)

    def run(index):
        try:
            barrier.wait()
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def copy_and_drop(strong, weak):
    twin = strong.copy()
    assert twin.use_count() >= 2
    twin.reset()


def copy_and_move(strong, weak):
    heir = IntrusivePtr(strong).move()
    assert heir == strong
    del heir


def lock_and_drop(strong, weak):
    assert weak.lock() == strong


def watch_and_forget(strong, weak):
    twin = WeakIntrusivePtr(strong)
    twin.copy().move().reset()
    assert not twin.expired()


def count_by_hand(strong, weak):
    target = strong.get()
    raw.incref(target)
    raw.make_weak(target)
    raw.weak_decref(target)
    raw.decref(target)


def release_and_reclaim(strong, weak):
    IntrusivePtr.reclaim(strong.copy().release())


@pytest.mark.parametrize(
    "step", [copy_and_drop, copy_and_move, lock_and_drop, watch_and_forget, count_by_hand, release_and_reclaim]
)
def test_counts_are_right_after_one_kind_of_work(step):
    strong = make_intrusive(Node)
    weak = WeakIntrusivePtr(strong)

    def work(index):
        for _ in range(ROUNDS):
            step(strong, weak)

    in_all_threads(work)
    assert (strong.use_count(), strong.weak_use_count()) == (1, 2)


def test_counts_are_right_after_all_kinds_of_work_at_once():
    strong = make_intrusive(Node)
    watch = weakref.ref(strong.get())
    weak = WeakIntrusivePtr(strong)
    steps = [copy_and_drop, copy_and_move, lock_and_drop, watch_and_forget, count_by_hand, release_and_reclaim]

    def work(index):
        for number in range(ROUNDS):
            steps[(index + number) % len(steps)](strong, weak)

    in_all_threads(work)
    assert (strong.use_count(), strong.weak_use_count()) == (1, 2)
    weak.reset()
    strong.reset()
    assert watch() is None


def test_one_handle_reset_and_filled_by_all():
    shared = IntrusivePtr()
    watches = [[] for _ in range(THREADS)]

    def work(index):
        for _ in range(ROUNDS):
            mine = make_intrusive(Node)
            watches[index].append(weakref.ref(mine.get()))
            shared.swap(mine)
            shared.copy().reset()
            shared.reset()

    in_all_threads(work)
    shared.reset()
    assert all(watch() is None for each in watches for watch in each)


def test_two_handles_swapped_by_all_lose_nothing():
    first, second = make_intrusive(Node), make_intrusive(Node)
    targets = {first.get(), second.get()}

    def work(index):
        for _ in range(ROUNDS):
            first.swap(second)

    in_all_threads(work)
    assert {first.get(), second.get()} == targets
    assert first.is_uniquely_owned()
    assert second.is_uniquely_owned()


def test_one_weak_handle_used_and_reset_by_all():
    strong = make_intrusive(Node)
    shared = WeakIntrusivePtr(strong)

    def work(index):
        for _ in range(ROUNDS):
            shared.swap(WeakIntrusivePtr(strong))
            shared.lock()
            shared.copy()
            shared.reset()

    in_all_threads(work)
    assert strong.is_uniquely_owned()


def test_a_dying_target_is_locked_or_not_but_never_both():
    for _ in range(100):
        strong = make_intrusive(Node)
        watch = weakref.ref(strong.get())
        weak = [WeakIntrusivePtr(strong) for _ in range(THREADS)]
        last = [strong.move()]

        def work(index, weak=weak, last=last):
            if index == 0:
                last.pop().reset()
            locked = weak[index].lock()
            assert (locked.use_count() > 0) == locked.defined()
            locked.reset()
            weak[index].reset()

        in_all_threads(work)
        assert watch() is None


def test_release_resources_runs_once_whichever_drops_last():
    calls = []

    class Recorder(IntrusiveTarget):
        def release_resources(self):
            calls.append("release_resources")

        def __del__(self):
            calls.append("__del__")

    strong = make_intrusive(Recorder)
    copies = [strong.copy() for _ in range(THREADS)]
    weak = [WeakIntrusivePtr(strong) for _ in range(THREADS)]
    strong.reset()

    def work(index):
        copies[index].reset()
        weak[index].lock().reset()
        weak[index].reset()

    in_all_threads(work)
    assert calls.count("__del__") == 1
    assert calls.count("release_resources") <= 1  # not at all if the weak handles were gone first


def test_a_storage_shared_by_all_is_freed_once():
    freed = []
    storage = Storage.from_data_ptr(8, DataPtr.from_callable(0x1000, freed.append))
    pointer = IntrusivePtr.reclaim(storage.unsafe_release_storage_impl())

    def work(index):
        for _ in range(ROUNDS):
            twin = Storage.from_impl(pointer)
            assert twin.data_ptr() == 0x1000
            twin.reset()

    in_all_threads(work)
    assert pointer.unique()
    assert freed == []
    pointer.reset()
    assert freed == [0x1000]
