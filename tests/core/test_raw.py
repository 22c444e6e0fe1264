"""Counts on bare targets: what C code does, with each mistake caught. Ids such as ip_43 name a c10 fact."""

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
    """A Python weak reference, which tells when the target object is gone."""
    return weakref.ref(strong.get())


@pytest.fixture
def dead(strong):
    target = strong.get()
    strong.reset()
    return target


EVERY_FUNCTION = pytest.mark.parametrize("name", raw.__all__)


def test_incref_and_decref_ip_43(strong):
    target = strong.get()
    raw.incref(target)
    raw.incref(target)
    assert raw.use_count(target) == strong.use_count() == 3
    raw.decref(target)
    raw.decref(target)
    assert strong.is_uniquely_owned()


def test_a_raw_count_keeps_the_target_alive_ip_43(strong, watch):
    raw.incref(strong.get())
    strong.reset()
    assert watch() is not None
    assert raw.use_count(watch()) == 1
    raw.decref(watch())
    assert watch() is None


def test_a_raw_count_can_be_reclaimed_ip_35_ip_43(strong):
    raw.incref(strong.get())
    second = IntrusivePtr.reclaim(strong.get())
    assert second == strong
    assert strong.use_count() == 2


def test_a_released_count_can_be_dropped_ip_34_ip_43(strong, watch):
    raw.decref(strong.release())
    assert watch() is None


def test_make_weak_gives_an_owned_weak_count_ip_43_wp_13(strong):
    target = raw.make_weak(strong.get())
    assert target is strong.get()
    assert strong.weak_use_count() == 2
    weak = WeakIntrusivePtr.reclaim(target)
    assert weak.weak_use_count() == 2
    assert weak.lock() == strong


def test_weak_incref_and_weak_decref_wp_13(strong):
    target = strong.get()
    raw.weak_incref(target)
    assert strong.weak_use_count() == 2
    raw.weak_decref(target)
    assert strong.weak_use_count() == 1


def test_the_last_raw_weak_count_frees_a_dead_target_ip_11_wp_13(strong, watch):
    raw.make_weak(strong.get())
    strong.reset()
    assert watch() is not None
    raw.weak_incref(watch())
    raw.weak_decref(watch())
    assert watch() is not None
    raw.weak_decref(watch())
    assert watch() is None


def test_lock_adds_a_count_while_alive_wp_13(strong):
    target = raw.lock(strong.get())
    assert target is strong.get()
    assert strong.use_count() == 2
    raw.decref(target)
    assert strong.use_count() == 1


def test_lock_gives_none_when_dead_ip_3_wp_13(strong, watch):
    raw.make_weak(strong.get())
    strong.reset()
    assert raw.lock(watch()) is None
    assert raw.use_count(watch()) == 0
    raw.weak_decref(watch())


@EVERY_FUNCTION
def test_null_is_accepted_ip_43(name):
    assert not getattr(raw, name)(None)


@EVERY_FUNCTION
@pytest.mark.parametrize("wrong", [1, "x", object(), IntrusivePtr(), WeakIntrusivePtr()])
def test_foreign_objects_are_refused(name, wrong):
    with pytest.raises(TypeError):
        getattr(raw, name)(wrong)


CHANGERS = [name for name in raw.__all__ if name not in ("use_count", "lock")]


@pytest.mark.parametrize("name", CHANGERS)
def test_a_dead_target_is_refused_ip_12(dead, name):
    for _ in range(2):
        with pytest.raises(RuntimeError, match="expired"):
            getattr(raw, name)(dead)
    assert raw.use_count(dead) == 0
    assert raw.lock(dead) is None


@pytest.mark.parametrize("name", CHANGERS)
def test_a_newborn_target_is_refused_and_unharmed_ip_4(name):
    unowned = Node()
    with pytest.raises(RuntimeError):
        getattr(raw, name)(unowned)
    assert raw.lock(unowned) is None
    pointer = IntrusivePtr.unsafe_steal_from_new(unowned)
    assert pointer.is_uniquely_owned()


def test_decref_does_not_take_what_a_handle_holds(strong):
    with pytest.raises(RuntimeError, match="belongs to a handle"):
        raw.decref(strong.get())
    assert strong.use_count() == 1
    raw.incref(strong.get())
    raw.decref(strong.get())
    with pytest.raises(RuntimeError, match="belongs to a handle"):
        raw.decref(strong.get())
    assert strong.use_count() == 1


def test_weak_decref_does_not_take_the_strong_sides_unit(strong):
    with pytest.raises(RuntimeError, match="every one belongs to a handle"):
        raw.weak_decref(strong.get())
    assert strong.weak_use_count() == 1


def test_weak_decref_does_not_take_what_a_weak_handle_holds(strong):
    weak = WeakIntrusivePtr(strong)
    with pytest.raises(RuntimeError, match="weak count"):
        raw.weak_decref(strong.get())
    assert weak.weak_use_count() == 2
