"""Handles as values: comparison, hash, text, and pointer classes whose null has a stand-in."""

import operator

import pytest

from tensix.core import IntrusivePtr, IntrusiveTarget, WeakIntrusivePtr, make_intrusive, raw


class Node(IntrusiveTarget):
    pass


class NodePtr(IntrusivePtr):
    """A further pointer class, as intrusive_ptr<Derived> is to intrusive_ptr<Base>."""


class DefaultPtr(IntrusivePtr):
    """A pointer class whose null has a stand-in, as Tensor has its undefined singleton."""

    stand_in = Node()

    @classmethod
    def singleton(cls):
        return cls.stand_in


def weak_of(strong):
    return WeakIntrusivePtr(strong)


HANDLES = pytest.mark.parametrize("handle_of", [IntrusivePtr.copy, NodePtr, weak_of])
NULLS = pytest.mark.parametrize("null", [IntrusivePtr(), NodePtr(), DefaultPtr(), WeakIntrusivePtr()])


@HANDLES
def test_equal_handles_have_one_target_and_one_hash_ip_26_ip_41_ip_42_wp_11(handle_of):
    strong, other = make_intrusive(Node), make_intrusive(Node)
    first, second, third = handle_of(strong), handle_of(strong), handle_of(other)
    assert first == second
    assert hash(first) == hash(second)
    assert first != third
    assert len({first, second, third}) == 2


def test_comparison_works_across_pointer_classes_ip_26_ip_41():
    strong = make_intrusive(Node)
    assert strong == NodePtr(strong)
    assert NodePtr(strong) == strong
    assert hash(strong) == hash(NodePtr(strong))


@HANDLES
def test_order_is_that_of_addresses_ip_41_wp_11(handle_of):
    pointers = [make_intrusive(Node) for _ in range(5)]
    handles = [handle_of(pointer) for pointer in pointers]
    by_address = sorted(handles, key=lambda handle: id(pointers[handles.index(handle)].get()))
    assert sorted(handles) == by_address
    assert by_address[0] < by_address[1]
    assert by_address[1] > by_address[0]
    assert not by_address[0] < by_address[0]


@NULLS
def test_nulls_are_equal_hash_equal_and_come_first_ip_41_ip_42_wp_11(null):
    fresh = type(null)()
    assert null == fresh
    assert hash(null) == hash(fresh)
    assert operator.eq(null, None)
    assert not operator.ne(null, None)
    pointer = make_intrusive(Node)
    handle = WeakIntrusivePtr(pointer) if isinstance(null, WeakIntrusivePtr) else pointer
    assert null < handle
    assert not handle < null
    assert operator.ne(handle, None)


@pytest.mark.parametrize("handle", [IntrusivePtr(), WeakIntrusivePtr()])
@pytest.mark.parametrize("stranger", [0, "x", object(), Node()])
def test_strangers_are_unequal_and_unordered(handle, stranger):
    assert handle != stranger
    for compare in (operator.lt, operator.gt):
        with pytest.raises(TypeError):
            compare(handle, stranger)


def test_weak_and_strong_handles_are_of_two_kinds():
    strong = make_intrusive(Node)
    assert strong != WeakIntrusivePtr(strong)


def test_weak_hash_and_equality_survive_expiry_wp_11():
    strong = make_intrusive(Node)
    weak = WeakIntrusivePtr(strong)
    table = {weak: "found"}
    twin = weak.copy()
    strong.reset()
    assert weak.expired()
    assert table[weak] == "found"
    assert table[twin] == "found"


def test_repr_tells_class_and_counts():
    strong = make_intrusive(Node)
    weak = WeakIntrusivePtr(strong)
    for handle in (strong, weak):
        assert "Node at 0x" in repr(handle)
        assert "use_count=1, weak_use_count=2" in repr(handle)
    strong.reset()
    assert "expired" in repr(weak)
    assert "null" in repr(WeakIntrusivePtr())


@pytest.mark.parametrize("make_null", [DefaultPtr, lambda: DefaultPtr(IntrusivePtr()), lambda: DefaultPtr().move()])
def test_null_of_a_pointer_class_is_its_singleton_ip_20_ip_21_ip_23(make_null):
    null = make_null()
    assert null.get() is DefaultPtr.stand_in
    assert null.release() is DefaultPtr.stand_in
    assert not null.defined()
    assert not null
    assert (null.use_count(), null.weak_use_count()) == (0, 0)


def test_null_becomes_the_null_of_the_destination_class_ip_21():
    assert IntrusivePtr(DefaultPtr()).get() is None
    assert DefaultPtr(IntrusivePtr()).get() is DefaultPtr.stand_in


TAKERS = ["reclaim", "reclaim_copy", "unsafe_reclaim_from_nonowning", "unsafe_steal_from_new"]


@pytest.mark.parametrize("take", TAKERS)
def test_the_singleton_is_never_counted_ip_21(take):
    null = getattr(DefaultPtr, take)(DefaultPtr.stand_in)
    assert not null.defined()
    assert raw.use_count(DefaultPtr.stand_in) == 0


def test_a_pointer_class_with_a_singleton_owns_as_others_do_ip_21():
    pointer = DefaultPtr(make_intrusive(Node))
    assert pointer.unique()
    assert pointer.copy().get() is not DefaultPtr.stand_in
    pointer.reset()
    assert pointer.get() is DefaultPtr.stand_in
