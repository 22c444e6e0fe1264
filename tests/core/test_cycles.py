"""Python's collector frees strong cycles that handles alone own, and leaves those alone that anybody else needs."""

import gc
import weakref

import pytest

from tensix import core
from tensix.core import IntrusivePtr, IntrusiveTarget, WeakIntrusivePtr, make_intrusive, raw


class Node(IntrusiveTarget):
    pass


@pytest.fixture(autouse=True)
def collector_on_demand():
    """Have the collector run only where a test asks for it."""
    gc.disable()
    yield
    gc.enable()


def watch_all(pointers):
    return [weakref.ref(pointer.get()) for pointer in pointers]


def are_gone(watches):
    return [watch() is None for watch in watches]


def itself():
    pointer = make_intrusive(Node)
    pointer.get().me = pointer.copy()
    return [pointer]


def through_its_only_handle():
    pointer = make_intrusive(Node)
    pointer.get().me = pointer
    return [pointer]


def ring(count):
    pointers = [make_intrusive(Node) for _ in range(count)]
    for index, pointer in enumerate(pointers):
        pointer.get().next = pointers[(index + 1) % count].copy()
    return pointers


def doubly_linked():
    pointers = ring(5)
    for index, pointer in enumerate(pointers):
        pointer.get().previous = pointers[index - 1].copy()
    return pointers


def many_handles():
    first, second = pointers = ring(2)
    first.get().more = [second.copy() for _ in range(10)]
    second.get().more = {"key": (first.copy(), first.copy())}
    return pointers


def with_bare_references():
    first, second = pointers = ring(2)
    first.get().bare = second.get()
    second.get().bare = first.get()
    return pointers


def with_weak_handles_inside():
    pointers = ring(3)
    for pointer in pointers:
        pointer.get().weak = WeakIntrusivePtr(pointers[0])
    return pointers


def with_a_tail():
    pointers = ring(2)
    tail = make_intrusive(Node)
    pointers[0].get().tail = tail.copy()
    return [*pointers, tail]


CYCLES = pytest.mark.parametrize(
    "make",
    [
        itself,
        through_its_only_handle,
        lambda: ring(2),
        lambda: ring(3),
        lambda: ring(1000),
        doubly_linked,
        many_handles,
        with_bare_references,
        with_a_tail,
    ],
)


@CYCLES
def test_a_cycle_owned_by_handles_alone_is_collected(make):
    watches = watch_all(make())
    assert not any(are_gone(watches))
    gc.collect()
    assert all(are_gone(watches))


@CYCLES
def test_a_cycle_with_an_outside_handle_stays(make):
    pointers = make()
    watches = watch_all(pointers)
    outside = pointers[0].copy()
    pointers.clear()
    gc.collect()
    assert outside.get() is watches[0]()
    assert not any(are_gone(watches))
    outside.reset()
    gc.collect()
    assert all(are_gone(watches))


@CYCLES
def test_a_cycle_with_a_raw_count_stays(make):
    pointers = make()
    watches = watch_all(pointers)
    raw.incref(pointers[0].get())
    pointers.clear()
    gc.collect()
    assert not any(are_gone(watches))
    raw.decref(watches[0]())
    gc.collect()
    assert all(are_gone(watches))


def test_a_cycle_with_a_released_count_stays():
    pointers = ring(2)
    watches = watch_all(pointers)
    pointers[0].release()
    pointers.clear()
    gc.collect()
    assert not any(are_gone(watches))
    IntrusivePtr.reclaim(watches[0]())
    gc.collect()
    assert all(are_gone(watches))


def test_a_cycle_with_an_outside_bare_reference_stays_and_is_whole():
    pointers = ring(3)
    watches = watch_all(pointers)
    bare = pointers[0].get()
    pointers.clear()
    gc.collect()
    assert not any(are_gone(watches))
    assert raw.use_count(bare) == 1
    assert bare.next.get().next.get().next.get() is bare
    del bare
    gc.collect()
    assert all(are_gone(watches))


def test_weak_handles_outside_expire_and_keep_only_the_husk():
    pointers = ring(3)
    watches = watch_all(pointers)
    weak = WeakIntrusivePtr(pointers[0])
    pointers.clear()
    assert not weak.expired()
    gc.collect()
    assert weak.expired()
    assert not weak.lock().defined()
    assert weak.weak_use_count() == 1
    assert isinstance(weak.unsafe_get_target(), Node)
    assert all(are_gone(watches))  # Python's own weak references go when the collector has found the cycle


def test_a_weak_handle_that_was_locked_before_the_collection_saves_the_cycle():
    pointers = ring(2)
    watches = watch_all(pointers)
    strong = WeakIntrusivePtr(pointers[0]).lock()
    pointers.clear()
    gc.collect()
    assert not any(are_gone(watches))
    assert strong.get().next.get().next == strong


def test_weak_handles_inside_a_cycle_do_not_keep_it():
    watches = watch_all(with_weak_handles_inside())
    gc.collect()
    assert all(are_gone(watches))


@pytest.mark.parametrize("is_watched", [False, True])
def test_release_resources_runs_once_if_the_cycle_is_watched(is_watched):
    calls = []

    class Recorder(IntrusiveTarget):
        def release_resources(self):
            calls.append(raw.use_count(self))

    pointer = make_intrusive(Recorder)
    pointer.get().me = pointer.copy()
    weak = WeakIntrusivePtr(pointer if is_watched else None)
    pointer.reset()
    assert calls == []
    gc.collect()
    assert calls == [0] * is_watched
    assert weak.expired()
    weak.reset()
    assert calls == [0] * is_watched


def test_del_sees_a_whole_target_in_a_collected_cycle():
    class Closing(IntrusiveTarget):
        def __del__(self):
            self.closed.append(True)

    closed = []
    pointer = make_intrusive(Closing)
    pointer.get().closed = closed
    pointer.get().me = pointer.copy()
    weak = WeakIntrusivePtr(pointer)
    pointer.reset()
    gc.collect()
    assert weak.expired()
    assert closed == [True]


def test_release_resources_can_break_a_cycle_without_the_collector():
    class Breaking(IntrusiveTarget):
        def release_resources(self):
            self.next = None

    first, second = make_intrusive(Breaking), make_intrusive(Breaking)
    watches = watch_all([first, second])
    first.get().next = second.copy()
    second.get().parent = WeakIntrusivePtr(first)
    second.reset()
    first.reset()
    assert all(are_gone(watches))


def test_a_finalizer_that_resurrects_saves_the_cycle():
    saved = []

    class Survivor(IntrusiveTarget):
        def __del__(self):
            saved.append(self.me.copy())

    pointer = make_intrusive(Survivor)
    watch = weakref.ref(pointer.get())
    pointer.get().me = pointer.copy()
    pointer.reset()
    gc.collect()
    assert saved[0].use_count() == 2
    assert saved[0].get().me == saved[0]
    saved.clear()
    gc.collect()
    assert watch() is None


def subclass_of_storage_impl():
    class Tagged(core.StorageImpl):
        pass

    return make_intrusive(Tagged, 16)


def slotted():
    class Slotted(IntrusiveTarget):
        __slots__ = ("__weakref__", "me")

    return make_intrusive(Slotted)


@pytest.mark.parametrize("make", [subclass_of_storage_impl, slotted])
def test_cycles_through_other_subclasses_are_collected(make):
    pointer = make()
    watch = weakref.ref(pointer.get())
    pointer.get().me = pointer
    del pointer
    gc.collect()
    assert watch() is None


def test_plain_targets_and_storages_take_no_part_in_collection():
    assert not gc.is_tracked(IntrusiveTarget())
    assert not gc.is_tracked(core.Storage(16).impl)


def test_a_collected_cycle_runs_deleters_once():
    freed = []
    pointers = ring(2)
    pointers[0].get().storage = core.Storage.from_data_ptr(8, core.DataPtr.from_callable(0x1000, freed.append))
    pointers.clear()
    gc.collect()
    assert freed == [0x1000]
