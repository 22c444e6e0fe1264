"""Weak handles: they watch a target and keep none of it alive but the object. Ids such as wp_8 name a c10 fact."""

import copy
import gc
import weakref

import pytest

from tensix.core import IntrusivePtr, IntrusiveTarget, WeakIntrusivePtr, make_intrusive, raw


class Node(IntrusiveTarget):
    pass


@pytest.fixture
def strong():
    return make_intrusive(Node)


@pytest.fixture
def watch(strong):
    """A Python weak reference, which tells when the target object is gone.

    Python's collector clears it before, if the target is dead and it looks for cycles: so it waits.
    """
    gc.disable()
    yield weakref.ref(strong.get())
    gc.enable()


@pytest.fixture
def weak(strong):
    return WeakIntrusivePtr(strong)


@pytest.fixture
def expired(strong, weak):
    strong.reset()
    return weak


def of_null():
    return WeakIntrusivePtr(IntrusivePtr())


def moved_from():
    pointer = WeakIntrusivePtr(make_intrusive(Node))
    pointer.move()
    return pointer


def after_reset():
    pointer = WeakIntrusivePtr(make_intrusive(Node))
    pointer.reset()
    return pointer


@pytest.mark.parametrize("make_null", [WeakIntrusivePtr, of_null, moved_from, after_reset])
def test_null_answers_everything_wp_1_wp_3(make_null):
    null = make_null()
    assert null.expired()
    assert not null.lock().defined()
    assert (null.use_count(), null.weak_use_count()) == (0, 0)
    assert null.unsafe_get_target() is None
    assert null.release() is None
    assert null.copy() == null.move() == null
    null.reset()


@pytest.mark.parametrize("wrong", [1, "x", Node(), WeakIntrusivePtr()])
def test_weak_pointer_watches_strong_pointers_only(wrong):
    with pytest.raises(TypeError, match="IntrusivePtr"):
        WeakIntrusivePtr(wrong)


def test_weak_pointer_of_a_derived_pointer_class_wp_1():
    class NodePtr(IntrusivePtr):
        pass

    derived = NodePtr(make_intrusive(Node))
    weak = WeakIntrusivePtr(derived)
    assert weak.lock() == derived
    assert type(weak.lock()) is IntrusivePtr


def test_watching_adds_a_weak_count_only_wp_5_wp_6(strong, weak):
    assert (weak.use_count(), weak.weak_use_count()) == (1, 2)
    twin = strong.copy()
    assert (weak.use_count(), weak.weak_use_count()) == (2, 2)
    second = WeakIntrusivePtr(twin)
    assert (second.use_count(), second.weak_use_count()) == (2, 3)


def test_counts_after_death_wp_5_wp_6_wp_7(strong, weak):
    second = weak.copy()
    strong.reset()
    assert weak.expired()
    assert (weak.use_count(), weak.weak_use_count()) == (0, 2)
    second.reset()
    assert weak.weak_use_count() == 1


def test_initialising_again_watches_the_new_target_wp_2(strong, weak):
    other = make_intrusive(Node)
    weak.__init__(other)
    assert weak.lock() == other
    assert (strong.weak_use_count(), other.weak_use_count()) == (1, 2)
    weak.__init__(other)
    assert other.weak_use_count() == 2


@pytest.mark.parametrize("duplicate", [WeakIntrusivePtr.copy, copy.copy])
def test_copy_adds_a_weak_count_wp_1(weak, duplicate):
    twin = duplicate(weak)
    assert twin == weak
    assert weak.weak_use_count() == 3
    del twin
    assert weak.weak_use_count() == 2


def test_copy_works_after_expiry_wp_6(expired):
    twin = expired.copy()
    assert twin == expired
    assert twin.weak_use_count() == 2


def test_move_takes_over_wp_3(strong, weak):
    heir = weak.move()
    assert heir.lock() == strong
    assert heir.weak_use_count() == 2
    assert weak.unsafe_get_target() is None


def test_copy_and_move_keep_the_class():
    class NodeWatcher(WeakIntrusivePtr):
        pass

    strong = make_intrusive(Node)
    watcher = NodeWatcher(strong)
    assert type(watcher.copy()) is NodeWatcher
    assert type(watcher.move()) is NodeWatcher


def test_self_assignment_changes_nothing_wp_4(strong, weak):
    weak.swap(weak)
    assert weak.weak_use_count() == 2
    assert weak.lock() == strong


def test_swap_exchanges_targets(strong, weak):
    null = WeakIntrusivePtr()
    null.swap(weak)
    assert null.lock() == strong
    assert weak.unsafe_get_target() is None
    assert null.weak_use_count() == 2


@pytest.mark.parametrize("wrong", [None, 1, IntrusivePtr()])
def test_swap_needs_a_weak_pointer(weak, wrong):
    with pytest.raises(TypeError):
        weak.swap(wrong)


def test_lock_adds_a_strong_count_and_stays_wp_8(strong, weak):
    locked = weak.lock()
    assert locked == strong
    assert strong.use_count() == 2
    assert weak.weak_use_count() == 2


def test_a_locked_pointer_keeps_the_target_alive_wp_8(strong, weak):
    locked = weak.lock()
    strong.reset()
    assert not weak.expired()
    locked.reset()
    assert weak.expired()


def test_lock_gives_null_for_ever_after_death_ip_3_wp_8(expired):
    assert not expired.lock().defined()
    assert not expired.lock().defined()
    assert expired.use_count() == 0


def test_the_object_stays_until_the_last_weak_handle_goes_wp_9(watch, expired):
    twin = expired.copy()
    expired.reset()
    assert watch() is not None
    twin.reset()
    assert watch() is None


def test_reset_of_a_living_target_frees_nothing_wp_9(strong, watch, weak):
    weak.reset()
    assert watch() is strong.get()
    assert strong.weak_use_count() == 1


def test_unsafe_get_target_works_when_dead_wp_12(watch, expired):
    assert expired.unsafe_get_target() is watch()
    assert raw.use_count(expired.unsafe_get_target()) == 0


def test_release_and_reclaim_change_no_count_wp_10(strong, weak):
    target = weak.release()
    assert target is strong.get()
    assert weak.unsafe_get_target() is None
    assert strong.weak_use_count() == 2
    again = WeakIntrusivePtr.reclaim(target)
    assert again.weak_use_count() == 2
    assert again.lock() == strong


def test_release_and_reclaim_work_after_expiry_wp_10(watch, expired):
    again = WeakIntrusivePtr.reclaim(expired.release())
    assert again.weak_use_count() == 1
    again.reset()
    assert watch() is None


def test_reclaim_copy_leaves_the_caller_its_count_wp_10(strong, weak):
    target = weak.release()
    twin = WeakIntrusivePtr.reclaim_copy(target)
    assert twin.weak_use_count() == 3
    twin.reset()
    assert WeakIntrusivePtr.reclaim(target).weak_use_count() == 2
    assert strong.weak_use_count() == 1


TAKERS = pytest.mark.parametrize("take", [WeakIntrusivePtr.reclaim, WeakIntrusivePtr.reclaim_copy])


@TAKERS
def test_taking_null_gives_null_wp_10(take):
    assert take(None) == WeakIntrusivePtr()


@TAKERS
def test_a_target_without_counts_cannot_be_watched_wp_10(take):
    unowned = Node()
    with pytest.raises(RuntimeError, match=r"belongs to a handle|no owner"):
        take(unowned)
    assert raw.use_count(unowned) == 0


@TAKERS
def test_a_dead_target_cannot_be_watched_wp_10(strong, take):
    target = strong.get()
    strong.reset()
    with pytest.raises(RuntimeError, match="expired"):
        take(target)


@TAKERS
@pytest.mark.parametrize("wrong", [1, "x", object(), IntrusivePtr(), WeakIntrusivePtr()])
def test_foreign_objects_cannot_be_watched(take, wrong):
    with pytest.raises(TypeError):
        take(wrong)


def test_reclaim_needs_a_weak_count_besides_the_strong_side_wp_10(strong):
    with pytest.raises(RuntimeError, match="every one belongs to a handle"):
        WeakIntrusivePtr.reclaim(strong.get())
    assert strong.weak_use_count() == 1


def test_reclaiming_twice_is_refused_wp_10(strong, weak):
    target = weak.release()
    again = WeakIntrusivePtr.reclaim(target)
    with pytest.raises(RuntimeError, match="only once"):
        WeakIntrusivePtr.reclaim(target).release()
    assert again.weak_use_count() == 2


def test_reclaiming_what_a_weak_handle_holds_is_refused_wp_10(strong, weak):
    with pytest.raises(RuntimeError, match="only once"):
        WeakIntrusivePtr.reclaim(strong.get()).release()
    assert weak.weak_use_count() == 2
