"""Birth and death of targets: what the counts say, and what runs when. Ids such as ip_9 name a c10 fact."""

import copy
import pickle
import weakref

import pytest

from tensix.core import IntrusivePtr, IntrusiveTarget, WeakIntrusivePtr, make_intrusive, raw


class Node(IntrusiveTarget):
    pass


class SlottedNode(IntrusiveTarget):
    __slots__ = ("__weakref__", "value")


class Recorder(IntrusiveTarget):
    """Write down what happens to it."""

    def __init__(self, events):
        self.events = events

    def release_resources(self):
        self.events.append("release_resources")

    def __del__(self):
        self.events.append("__del__")


def test_newborn_has_no_counts_ip_4():
    unowned = Node()
    assert raw.use_count(unowned) == 0
    watch = weakref.ref(unowned)
    del unowned
    assert watch() is None


def test_first_handle_makes_both_counts_one_ip_1_ip_2():
    pointer = make_intrusive(IntrusiveTarget)
    assert (pointer.use_count(), pointer.weak_use_count()) == (1, 1)


def test_the_two_counts_do_not_disturb_each_other_ip_1():
    pointer = make_intrusive(Node)
    copies = [pointer.copy() for _ in range(1000)]
    weak = [WeakIntrusivePtr(pointer) for _ in range(500)]
    assert (pointer.use_count(), pointer.weak_use_count()) == (1001, 501)
    copies.clear()
    assert (pointer.use_count(), pointer.weak_use_count()) == (1, 501)
    weak.clear()
    assert (pointer.use_count(), pointer.weak_use_count()) == (1, 1)


@pytest.mark.parametrize("keeps_its_pointer", [False, True])
def test_constructor_that_owns_itself_is_refused_ip_4(keeps_its_pointer):
    class Selfish(IntrusiveTarget):
        def __init__(self, kept):
            pointer = IntrusivePtr.unsafe_steal_from_new(self)
            if keeps_its_pointer:
                kept.append(pointer)

    kept = []
    with pytest.raises(RuntimeError, match="constructor"):
        make_intrusive(Selfish, kept)
    assert [pointer.use_count() for pointer in kept] == [1] * keeps_its_pointer


@pytest.mark.parametrize("cls", [IntrusiveTarget, Node, SlottedNode, Recorder])
def test_a_copied_target_starts_without_owners_ip_5(cls):
    pointer = make_intrusive(cls, []) if cls is Recorder else make_intrusive(cls)
    twin = copy.copy(pointer.get())
    assert type(twin) is cls
    assert twin is not pointer.get()
    assert raw.use_count(twin) == 0
    assert pointer.use_count() == 1
    assert IntrusivePtr.unsafe_steal_from_new(twin).unique()


def test_a_copied_target_has_the_attributes_ip_5():
    node = Node()
    node.value = [1]
    assert copy.copy(node).value is node.value
    slotted = SlottedNode()
    slotted.value = [2]
    assert copy.copy(slotted).value is slotted.value


@pytest.mark.parametrize("make", [Node, lambda: make_intrusive(Node), lambda: WeakIntrusivePtr(make_intrusive(Node))])
@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.deepcopy])
def test_counts_and_addresses_are_never_pickled(make, duplicate):
    with pytest.raises(TypeError, match="pickle"):
        duplicate(make())


def test_without_weak_handles_only_the_destructor_runs_ip_8_ip_10():
    events = []
    make_intrusive(Recorder, events).reset()
    assert events == ["__del__"]


def test_a_shared_target_without_weak_handles_skips_release_resources_ip_9():
    events = []
    pointer = make_intrusive(Recorder, events)
    twin = pointer.copy()
    pointer.reset()
    assert events == []
    twin.reset()
    assert events == ["__del__"]


def test_weak_handles_that_went_earlier_do_not_matter_ip_9():
    events = []
    pointer = make_intrusive(Recorder, events)
    WeakIntrusivePtr(pointer).reset()
    pointer.reset()
    assert events == ["__del__"]


@pytest.mark.parametrize("weak_count", [1, 3])
def test_with_weak_handles_resources_go_first_the_object_last_ip_9_ip_11(weak_count):
    events = []
    pointer = make_intrusive(Recorder, events)
    weak = [WeakIntrusivePtr(pointer) for _ in range(weak_count)]
    pointer.reset()
    assert events == ["release_resources"]
    while weak:
        assert events == ["release_resources"]
        weak.pop().reset()
    assert events == ["release_resources", "__del__"]


def test_a_raw_weak_count_is_a_weak_handle_too_ip_9_ip_43():
    events = []
    pointer = make_intrusive(Recorder, events)
    target = raw.make_weak(pointer.get())
    pointer.reset()
    assert events == ["release_resources"]
    raw.weak_decref(target)
    del target
    assert events == ["release_resources", "__del__"]


def test_del_runs_with_the_last_bare_reference():
    events = []
    pointer = make_intrusive(Recorder, events)
    target = pointer.get()
    pointer.reset()
    assert events == []
    assert raw.use_count(target) == 0
    del target
    assert events == ["__del__"]


def test_release_resources_sees_a_target_that_cannot_be_owned_ip_3_ip_9():
    seen = []

    class Curious(IntrusiveTarget):
        def release_resources(self):
            seen.append(raw.lock(self))
            seen.append(weak.lock().defined())
            seen.append(weak.expired())

    pointer = make_intrusive(Curious)
    weak = WeakIntrusivePtr(pointer)
    pointer.reset()
    assert seen == [None, False, True]


def test_release_resources_may_drop_the_last_weak_handle_ip_9():
    class SelfWatcher(IntrusiveTarget):
        def release_resources(self):
            self.me.reset()

    pointer = make_intrusive(SelfWatcher)
    pointer.get().me = WeakIntrusivePtr(pointer)
    watch = weakref.ref(pointer.get())
    pointer.reset()
    assert watch() is None


def test_release_resources_that_drops_children_breaks_a_tree_with_weak_parents_ip_10():
    class Tree(IntrusiveTarget):
        def release_resources(self):
            self.child = None

    parent, child = make_intrusive(Tree), make_intrusive(Tree)
    watches = [weakref.ref(pointer.get()) for pointer in (parent, child)]
    child.get().parent = WeakIntrusivePtr(parent)
    parent.get().child = child.move()
    parent.reset()
    assert [watch() for watch in watches] == [None, None]


def test_release_resources_that_raises_is_reported_and_nothing_leaks(unraisable):
    class Failing(IntrusiveTarget):
        def release_resources(self):
            raise LookupError("in release_resources")

    pointer = make_intrusive(Failing)
    watch = weakref.ref(pointer.get())
    weak = WeakIntrusivePtr(pointer)
    pointer.reset()
    assert [repr(error) for error in unraisable] == [repr(LookupError("in release_resources"))]
    weak.reset()
    unraisable.clear()  # the report's traceback holds the target
    assert watch() is None


def test_identity_and_attributes_live_as_long_as_a_handle_ip_15():
    pointer = make_intrusive(Node)
    pointer.get().note = "kept"
    identity = id(pointer.get())
    assert (pointer.get().note, id(pointer.get())) == ("kept", identity)
    again = IntrusivePtr.reclaim(pointer.release())
    assert (again.get().note, id(again.get())) == ("kept", identity)


def test_context_manager_gives_the_target_and_resets():
    pointer = make_intrusive(Node)
    with pointer as target:
        assert target is pointer.get()
    assert not pointer.defined()
    assert raw.use_count(target) == 0


def test_context_manager_resets_after_an_exception():
    pointer = make_intrusive(Node)
    with pytest.raises(LookupError), pointer:
        raise LookupError
    assert not pointer.defined()


def test_adapted_target_never_dies_by_counting_ip_39():
    arena_owned = Node()
    watch = weakref.ref(arena_owned)
    pointer = IntrusivePtr.unsafe_adapt_non_heap_allocated(arena_owned)
    assert (pointer.use_count(), pointer.weak_use_count()) == (0x0FFFFFFF, 0x0FFFFFFF)
    pointer.copy().reset()
    pointer.reset()
    assert raw.use_count(arena_owned) == 0x0FFFFFFE
    del arena_owned  # the counts own no Python reference
    assert watch() is None


def test_adapted_target_takes_expected_decrefs_ip_39():
    target = Node()
    pointer = IntrusivePtr.unsafe_adapt_non_heap_allocated(target, 5)
    assert pointer.use_count() == 0x0FFFFFFF + 5
    for _ in range(5):
        raw.decref(target)
    assert pointer.use_count() == 0x0FFFFFFF


@pytest.mark.parametrize("expected_decrefs", [-1, 2**31 + 1, 2**32, "many"])
def test_adapting_refuses_impossible_decrefs_ip_39(expected_decrefs):
    target = Node()
    with pytest.raises((ValueError, OverflowError, TypeError)):
        IntrusivePtr.unsafe_adapt_non_heap_allocated(target, expected_decrefs)
    assert raw.use_count(target) == 0
