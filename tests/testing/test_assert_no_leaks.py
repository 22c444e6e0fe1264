"""Leaks are found, named by class, size and cycle; what is given back in time is none."""

import collections
import copy
import gc
import threading

import pytest

import tensix
from tensix import Allocator, CPUAllocator, DataPtr, IntrusiveTarget, Storage, WeakIntrusivePtr, make_intrusive, raw
from tensix.testing import assert_no_leaks, cycles


class Node(IntrusiveTarget):
    pass


class Slotted(IntrusiveTarget):
    __slots__ = ("next",)


def text_of_leak(function):
    """Return what assert_no_leaks() says of a function."""
    with pytest.raises(AssertionError) as caught:
        assert_no_leaks()(function)()
    return str(caught.value)


def test_what_is_given_back_is_no_leak():
    @assert_no_leaks()
    def work():
        x = tensix.rand(30, 40)
        y = x[0] + x.T[:30, 0].sum()
        copy.deepcopy([x, x[1:]])
        strong = make_intrusive(Node)
        strong.get().me = WeakIntrusivePtr(strong)
        tensix.sparse_coo_tensor(tensix.tensor([[0]]), tensix.ones(1), (3,))
        return float(y.sum())

    for _ in range(3):
        work()


def test_many_targets_come_and_go():
    x = tensix.ones(3)
    with assert_no_leaks():
        for _ in range(5000):
            x + 1


def test_tensors_and_storages_are_named_with_their_sizes():
    kept = []
    text = text_of_leak(lambda: kept.extend([tensix.ones(3, 4), tensix.ones(3, 4)[0]]))
    assert text == (
        "4 targets that were made here are still alive:\n"
        "    2 StorageImpl, 96 bytes: use_count 1; use_count 1\n"
        "    2 TensorImpl: float32 (3, 4), use_count 1; float32 (4,), use_count 1"
    )


def test_a_name_keeps_its_tensor():
    with pytest.raises(AssertionError, match="1 TensorImpl: float32"), assert_no_leaks():
        x = tensix.ones(3)
    assert x.shape == (3,)


@pytest.mark.parametrize("cls", [Node, Slotted])
def test_a_lost_count_is_named(cls):
    def lose():
        with make_intrusive(cls) as target:
            raw.incref(target)

    text = text_of_leak(lose)
    assert text == f"1 target that was made here is still alive:\n    1 {cls.__name__}: use_count 1"


def test_a_lost_weak_count_is_named():
    def lose():
        with make_intrusive(Node) as target:
            raw.make_weak(target)

    assert "1 Node: expired, kept by weak counts that no handle holds" in text_of_leak(lose)


def test_weak_handles_and_bare_references_keep_nothing():
    kept = []
    with assert_no_leaks():
        strong = make_intrusive(Node)
        kept += [WeakIntrusivePtr(strong), strong.get(), tensix.ones(3).impl]
        strong.reset()


@pytest.mark.parametrize("cls", [Node, Slotted])
@pytest.mark.parametrize("is_lost", [False, True])
def test_cycles_are_collected_or_named(cls, is_lost):
    def ring():
        first, second = make_intrusive(cls), make_intrusive(cls)
        first.get().next, second.get().next = second.copy(), {"back": [first.copy()]}
        if is_lost:
            raw.incref(first.get())

    if not is_lost:
        assert_no_leaks()(ring)()
        return
    name = cls.__name__
    assert f"2 {name}: " in (text := text_of_leak(ring))
    one, other = f"{name}.next -> ", f"{name}.next['back'] -> list -> "
    ways = f"{one}{other}{name}", f"{other}{one}{name}"
    assert text.endswith(tuple(f"cycles of strong pointers:\n    {way}" for way in ways))  # from either of the two


class Hoarding(Allocator):
    """An allocator that keeps its own storages."""

    def __init__(self):
        self.upstream, self.kept = CPUAllocator(), []

    def allocate(self, nbytes):
        return self.upstream.allocate(nbytes)


def hoard():
    allocator = Hoarding()
    allocator.kept.append(Storage(100, allocator))
    return allocator.kept[0]


def closure_that_leads_back():
    storage = Storage(8)

    def free(address):
        assert storage

    storage.set_data_ptr(DataPtr.from_callable(0x1000, free))
    return storage


def gradient_that_leads_back():
    x = tensix.ones(3)
    x.impl.autograd_meta = x
    return x


@pytest.mark.parametrize(
    "make, cycle",
    [
        (hoard, "StorageImpl.allocator -> Hoarding.kept -> list -> StorageImpl"),
        (closure_that_leads_back, "StorageImpl.deleter -> function -> StorageImpl"),
        (gradient_that_leads_back, "TensorImpl.autograd_meta -> TensorImpl"),
    ],
)
def test_cycles_that_the_collector_cannot_see_are_named(make, cycle):
    kept = []
    assert text_of_leak(lambda: kept.append(make())).splitlines()[-2:] == ["cycles of strong pointers:", f"    {cycle}"]
    held = kept.pop()  # now break the cycle, so that the test leaves nothing behind
    if make is hoard:
        held.allocator.kept.clear()
    elif make is closure_that_leads_back:
        held.set_data_ptr(DataPtr())
    else:
        held.impl.autograd_meta = None


def linked(count, is_closed):
    """Lose targets that own one another in a row, or in a ring."""
    nodes = [make_intrusive(Node) for _ in range(count)]
    for node, following in zip(nodes, nodes[1:] + nodes[: 1 if is_closed else 0], strict=False):
        node.get().next = following.copy()
    raw.incref(nodes[0].get())


@pytest.mark.parametrize("is_closed", [False, True])
def test_what_every_object_owns_is_asked_once(monkeypatch, is_closed):
    """It was asked again for every target: 26 s for 2,000."""
    asked = collections.Counter()

    def counted(owner):
        asked[id(owner)] += 1
        return owned_by(owner)

    owned_by = cycles.owned_by
    monkeypatch.setattr(cycles, "owned_by", counted)
    text = text_of_leak(lambda: linked(300, is_closed))
    assert "300 Node: " in text and ("cycles of strong pointers" in text) is is_closed
    assert len(asked) >= 300 and max(asked.values()) == 1


def test_many_cycles_are_counted_out():
    def lose():
        for _ in range(cycles.MAX_LINES + 5):
            linked(2, is_closed=True)

    lines = text_of_leak(lose).partition("cycles of strong pointers:\n")[2].splitlines()
    assert lines == ["    Node.next -> Node.next -> Node"] * cycles.MAX_LINES + ["    and more"]


def test_what_is_older_is_nobodys_business():
    with assert_no_leaks():
        pass
    older = tensix.ones(3)
    with assert_no_leaks():
        view = older.lazy_clone()
        del view


def test_scopes_nest_and_each_sees_its_own():
    kept = []
    with assert_no_leaks():
        with pytest.raises(AssertionError, match="1 Node"), assert_no_leaks():
            kept.append(make_intrusive(Node))
        kept.clear()


def test_an_exception_goes_through():
    with pytest.raises(LookupError, match="mine"), assert_no_leaks():
        x = tensix.ones(3)
        raise LookupError("mine", x)


def test_threads_are_watched_too():
    kept = []

    def work():
        for _ in range(500):
            tensix.ones(3) + 1
        kept.append(make_intrusive(Node))

    def start():
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert "8 Node: use_count 1; use_count 1; use_count 1; use_count 1; use_count 1; and 3 more" in text_of_leak(start)


def test_nothing_is_kept_afterwards():
    """Bare references would keep a subclass's __del__ from running."""
    gone = []

    class Closing(IntrusiveTarget):
        def __del__(self):
            gone.append(True)

    with assert_no_leaks():
        make_intrusive(Closing).reset()
        assert gone == [True]
    before = len(gc.get_objects())
    for _ in range(100):
        with assert_no_leaks():
            make_intrusive(Node)
    assert len(gc.get_objects()) < before + 50


async def coroutine():
    """Do nothing."""


def generator():
    yield


@pytest.mark.parametrize("function", [coroutine, generator])
def test_what_returns_before_its_body_runs_is_refused(function):
    with pytest.raises(TypeError, match="assert_no_leaks cannot decorate"):
        assert_no_leaks()(function)


def test_one_scope_entered_twice():
    scope = assert_no_leaks()
    kept = []
    with scope:
        with pytest.raises(AssertionError, match="1 StorageImpl, 10 bytes"), scope:
            kept.append(Storage(10))
        kept.clear()
    with pytest.raises(AssertionError, match="1 StorageImpl, 1 byte"), scope:
        kept.append(Storage(1))
