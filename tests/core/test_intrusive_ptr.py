"""Strong handles: making, copying, moving, giving out and taking back. Ids such as ip_23 name a c10 fact."""

import copy
import weakref

import pytest

from tensix.core import IntrusivePtr, IntrusiveTarget, WeakIntrusivePtr, make_intrusive, raw


class Node(IntrusiveTarget):
    pass


class NodePtr(IntrusivePtr):
    """A further pointer class, as intrusive_ptr<Derived> is to intrusive_ptr<Base>."""


@pytest.fixture
def strong():
    return make_intrusive(Node)


@pytest.fixture
def watch(strong):
    """A Python weak reference, which tells when the target object is gone."""
    return weakref.ref(strong.get())


def moved_from():
    pointer = make_intrusive(Node)
    pointer.move()
    return pointer


def after_reset():
    pointer = make_intrusive(Node)
    pointer.reset()
    return pointer


NULLS = pytest.mark.parametrize("make_null", [IntrusivePtr, NodePtr, moved_from, after_reset])


@NULLS
def test_null_answers_every_query_ip_20_ip_23_ip_27_ip_30_ip_31(make_null):
    null = make_null()
    assert null.get() is None
    assert (null.use_count(), null.weak_use_count()) == (0, 0)
    assert [null.unique(), null.is_uniquely_owned(), null.defined(), bool(null)] == [False] * 4
    assert "null" in repr(null)


@NULLS
def test_null_accepts_every_operation_ip_28_ip_34(make_null):
    null = make_null()
    null.reset()
    assert null.release() is None
    assert not null.copy()
    assert not null.move()
    assert not IntrusivePtr(null)
    assert WeakIntrusivePtr(null).unsafe_get_target() is None


@NULLS
def test_null_cannot_be_entered(make_null):
    with pytest.raises(RuntimeError, match="null"), make_null():
        pass


def test_make_intrusive_passes_arguments_on_ip_40():
    class Pair(IntrusiveTarget):
        def __init__(self, first, *, second):
            self.values = first, second

    pointer = make_intrusive(Pair, 1, second=2)
    assert pointer.get().values == (1, 2)
    assert (pointer.use_count(), pointer.weak_use_count()) == (1, 1)
    assert pointer.unique()
    assert pointer.is_uniquely_owned()
    assert pointer.defined()


def test_constructor_that_raises_leaks_nothing_ip_40():
    made = []

    class Failing(IntrusiveTarget):
        def __init__(self):
            made.append(weakref.ref(self))
            raise LookupError("no")

    with pytest.raises(LookupError):
        make_intrusive(Failing)
    assert made[0]() is None


@pytest.mark.parametrize("cls", [int, Node(), None, "Node", IntrusivePtr])
def test_make_intrusive_refuses_other_classes(cls):
    with pytest.raises(TypeError, match="IntrusiveTarget"):
        make_intrusive(cls)


@pytest.mark.parametrize("wrong", [1, "x", Node(), WeakIntrusivePtr()])
def test_pointer_is_made_of_pointers_only(wrong):
    with pytest.raises(TypeError, match="IntrusivePtr"):
        IntrusivePtr(wrong)


@pytest.mark.parametrize("duplicate", [IntrusivePtr.copy, copy.copy, IntrusivePtr, NodePtr])
def test_copy_adds_a_count_ip_25_ip_26(strong, duplicate):
    twin = duplicate(strong)
    assert twin.get() is strong.get()
    assert strong.use_count() == 2
    assert not strong.unique()
    del twin
    assert strong.use_count() == 1


def test_copy_keeps_the_pointer_class_ip_26(strong):
    derived = NodePtr(strong)
    assert type(derived.copy()) is NodePtr
    assert type(derived.move()) is NodePtr
    assert type(IntrusivePtr(derived)) is IntrusivePtr


def test_assigning_a_pointer_to_itself_changes_nothing_ip_25(strong):
    strong.__init__(strong)
    assert strong.use_count() == 1
    strong.swap(strong)
    assert strong.use_count() == 1


def test_initialising_again_drops_the_old_target_ip_25(strong, watch):
    other = make_intrusive(Node)
    strong.__init__(other)
    assert watch() is None
    assert strong == other
    assert other.use_count() == 2


def test_move_takes_the_target_over_ip_23_ip_24(strong):
    target = strong.get()
    heir = strong.move()
    assert heir.get() is target
    assert heir.use_count() == 1
    assert not strong.defined()


def test_rebinding_destroys_the_old_target_at_once_ip_24(strong, watch):
    holder = [strong.move()]
    holder[0] = make_intrusive(Node).move()
    assert watch() is None


def test_reset_drops_the_target_ip_28(strong, watch):
    twin = strong.copy()
    strong.reset()
    assert watch() is twin.get()
    assert twin.unique()
    twin.reset()
    assert watch() is None


@pytest.mark.parametrize("first_is_null", [False, True])
@pytest.mark.parametrize("second_is_null", [False, True])
def test_swap_exchanges_targets_ip_29(first_is_null, second_is_null):
    first = IntrusivePtr() if first_is_null else make_intrusive(Node)
    second = IntrusivePtr() if second_is_null else make_intrusive(Node)
    targets = first.get(), second.get()
    first.swap(second)
    assert (second.get(), first.get()) == targets
    assert (first.use_count(), second.use_count()) == (int(not second_is_null), int(not first_is_null))


@pytest.mark.parametrize("wrong", [None, 1, WeakIntrusivePtr()])
def test_swap_needs_a_pointer(strong, wrong):
    with pytest.raises(TypeError):
        strong.swap(wrong)
    assert strong.use_count() == 1


def test_unique_ignores_weak_handles_is_uniquely_owned_does_not_ip_32_ip_33(strong):
    weak = WeakIntrusivePtr(strong)
    assert strong.unique()
    assert not strong.is_uniquely_owned()
    weak.reset()
    assert strong.is_uniquely_owned()
    twin = strong.copy()
    assert not strong.unique()
    assert not twin.is_uniquely_owned()


def test_weak_use_count_is_weak_handles_plus_one_ip_31(strong):
    weak = [WeakIntrusivePtr(strong) for _ in range(3)]
    assert strong.weak_use_count() == 4
    weak.clear()
    assert strong.weak_use_count() == 1


def test_release_and_reclaim_change_no_count_ip_34_ip_35(strong, watch):
    target = strong.release()
    assert not strong.defined()
    assert raw.use_count(target) == 1
    again = IntrusivePtr.reclaim(target)
    assert again.use_count() == 1
    del target
    again.reset()
    assert watch() is None


def test_released_target_outlives_bare_references_ip_34(strong, watch):
    strong.release()
    assert watch() is not None
    IntrusivePtr.reclaim(watch())
    assert watch() is None


@pytest.mark.parametrize("take", [IntrusivePtr.reclaim_copy, IntrusivePtr.unsafe_reclaim_from_nonowning])
def test_reclaim_copy_leaves_the_caller_its_count_ip_36_ip_38(strong, take):
    twin = take(strong.get())
    assert twin == strong
    assert strong.use_count() == 2
    twin.reset()
    assert strong.use_count() == 1


TAKERS = [IntrusivePtr.reclaim, IntrusivePtr.reclaim_copy, IntrusivePtr.unsafe_reclaim_from_nonowning]
GIVERS = [IntrusivePtr.unsafe_steal_from_new, IntrusivePtr.unsafe_adapt_non_heap_allocated]


@pytest.mark.parametrize("take", TAKERS)
def test_taking_null_gives_null_ip_35(take):
    assert not take(None)


@pytest.mark.parametrize("take", TAKERS)
def test_a_target_without_owner_cannot_be_taken_ip_35_ip_38(take):
    unowned = Node()
    with pytest.raises(RuntimeError, match="no owner"):
        take(unowned)
    assert raw.use_count(unowned) == 0


@pytest.mark.parametrize("take", TAKERS + GIVERS)
def test_an_expired_target_cannot_be_owned_again_ip_3_ip_12(strong, take):
    target = strong.get()
    strong.reset()
    with pytest.raises(RuntimeError, match="expired"):
        take(target)
    assert raw.use_count(target) == 0


@pytest.mark.parametrize("take", TAKERS + GIVERS)
@pytest.mark.parametrize("wrong", [1, "x", object(), IntrusivePtr(), WeakIntrusivePtr()])
def test_foreign_objects_cannot_be_taken(take, wrong):
    with pytest.raises(TypeError):
        take(wrong)


@pytest.mark.parametrize("give", [*GIVERS, make_intrusive])
def test_the_first_owner_is_not_made_of_none(give):
    with pytest.raises(TypeError):
        give(None)


def test_reclaiming_twice_is_refused_ip_35(strong):
    target = strong.release()
    again = IntrusivePtr.reclaim(target)
    with pytest.raises(RuntimeError, match="only once"):
        IntrusivePtr.reclaim(target)
    assert again.use_count() == 1


def test_reclaiming_what_a_handle_holds_is_refused_ip_35(strong):
    with pytest.raises(RuntimeError, match="belongs to a handle"):
        IntrusivePtr.reclaim(strong.get())
    assert strong.use_count() == 1


def test_steal_from_new_gives_the_first_owner_ip_37():
    target = Node()
    pointer = IntrusivePtr.unsafe_steal_from_new(target)
    assert pointer.get() is target
    assert pointer.is_uniquely_owned()


@pytest.mark.parametrize("give", GIVERS)
def test_the_first_owner_is_made_once_ip_4_ip_37(strong, give):
    with pytest.raises(RuntimeError, match="counts are in use"):
        give(strong.get())
    assert strong.use_count() == 1
