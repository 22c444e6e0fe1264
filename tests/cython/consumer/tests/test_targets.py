"""Counts from compiled code, with and without the GIL."""

import sys
import threading

import pytest
from tensix_consumer import targets

import tensix
from tensix.core import WeakIntrusivePtr, make_intrusive


@pytest.fixture
def unraisable(monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reported.append(str(report.exc_value)))
    return reported


def test_a_subclass_is_destroyed_once():
    before = targets.destroyed_count()
    pointer = targets.make_buffer()
    assert type(pointer) is tensix.IntrusivePtr
    assert isinstance(pointer.get(), tensix.IntrusiveTarget)
    assert targets.count(pointer.get()) == pointer.use_count() == 1
    pointer.reset()
    assert targets.destroyed_count() - before == 1


def test_release_resources_is_called_while_weak_handles_are_left():
    released = []
    pointer = make_intrusive(targets.Listed, released)
    weak = WeakIntrusivePtr(pointer)
    pointer.reset()
    assert released == [0]
    assert not targets.try_lock(weak.unsafe_get_target())
    weak.reset()
    assert released == [0]


def test_threads_count_without_the_gil():
    pointer = targets.make_buffer()
    threads = [
        threading.Thread(target=targets.incref_and_decref, args=(pointer.get(), 100_000)) for _ in range(8)
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pointer.use_count() == 1


def test_a_target_dies_in_a_thread_without_the_gil():
    before = targets.destroyed_count()
    target = targets.make_buffer().release()
    targets.drop_in_foreign_threads(target, 8)
    assert targets.count(target) == 0
    assert targets.destroyed_count() - before == 1


def test_none_is_a_null_pointer():
    targets.take(None)
    targets.drop(None)
    targets.incref_and_decref(None, 10)
    assert (targets.count(None), targets.try_lock(None)) == (0, False)


def test_misuse_is_reported_and_changes_nothing(unraisable):
    pointer = targets.make_buffer()
    target = pointer.get()
    pointer.reset()
    targets.take(target)
    targets.drop(target)
    assert ["incref" in unraisable[0], "decref" in unraisable[1]] == [True, True]
    assert targets.count(target) == 0


def test_a_dead_target_gets_no_first_owner():
    target = targets.make_buffer().get()
    with pytest.raises(RuntimeError, match="expired"):
        targets.steal(target)


@pytest.mark.parametrize("wrong", [None, 3, "text"])
def test_what_is_no_target_gets_no_owner(wrong):
    with pytest.raises(TypeError):
        targets.steal(wrong)


def test_wrong_types_are_refused():
    with pytest.raises(TypeError, match="IntrusiveTarget"):
        targets.count(tensix.ones(2))


def test_holders_count_without_the_gil():
    pointer = targets.make_buffer()
    assert targets.counts_of_holders(pointer.get()) == [0, 2, 3, 2, 2, 2, 2, 0]
    assert pointer.use_count() == 1
    assert targets.counts_of_holders(None) == [0] * 8


def test_a_holder_gives_its_count_back():
    before = targets.destroyed_count()
    keeper = targets.Keeper(targets.make_buffer().release())
    assert targets.count(keeper.get()) == 1
    del keeper
    assert targets.destroyed_count() - before == 1


def test_a_holder_can_be_emptied():
    before = targets.destroyed_count()
    keeper = targets.Keeper(targets.make_buffer().release())
    keeper.reset()
    assert keeper.get() is None and targets.destroyed_count() - before == 1
    keeper.reset()
    del keeper
    assert targets.destroyed_count() - before == 1
    assert targets.Keeper(None).get() is None


def test_a_holder_is_emptied_in_a_thread_without_the_gil():
    released = []
    keeper = targets.Keeper(make_intrusive(targets.Listed, released).release())
    weak = WeakIntrusivePtr.reclaim_copy(keeper.get())
    targets.reset_in_a_foreign_thread(keeper)
    assert released == [0] and weak.expired() and keeper.get() is None
