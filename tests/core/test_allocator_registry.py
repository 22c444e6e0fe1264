"""Which allocator serves a request: registrations with priorities, and scopes."""

import asyncio
import gc
import sys
import threading
import weakref

import pytest

from tensix.core import Allocator, CPUAllocator, Storage, StorageImpl, get_allocator, set_allocator, use_allocator

pytestmark = pytest.mark.usefixtures("no_leak")


class Named(CPUAllocator):
    """A CPU allocator that can be weakly referenced and told from others."""


def test_a_cpu_allocator_is_registered_at_import_al_10_ca_6():
    assert type(get_allocator("cpu").upstream) is CPUAllocator  # of tensix.memory's, which keeps large blocks
    assert get_allocator() is get_allocator("cpu") is Storage(8).allocator


def test_device_without_allocator_is_an_error_al_9(device_without_allocator):
    with pytest.raises(RuntimeError, match=f"Allocator for {device_without_allocator} is not set"):
        get_allocator(device_without_allocator)
    with pytest.raises(RuntimeError):
        Storage.create_legacy(device_without_allocator)


@pytest.mark.parametrize(
    "first, second, replaced", [(0, 0, True), (3, 3, True), (3, 4, True), (3, 2, False), (255, 0, False)]
)
def test_priority_decides_and_ties_go_to_the_newest_al_8(device_without_allocator, first, second, replaced):
    old, new = CPUAllocator(), CPUAllocator()
    set_allocator(device_without_allocator, old, priority=first)
    set_allocator(device_without_allocator, new, priority=second)
    assert get_allocator(device_without_allocator) is (new if replaced else old)


def test_ignored_registration_keeps_the_stored_priority_al_8(device_without_allocator):
    high, low, middle = CPUAllocator(), CPUAllocator(), CPUAllocator()
    for allocator, priority in ((high, 5), (low, 1), (middle, 3)):
        set_allocator(device_without_allocator, allocator, priority)
    assert get_allocator(device_without_allocator) is high


def test_registration_is_taken_back_unless_a_higher_priority_holds_it(device_without_allocator):
    set_allocator(device_without_allocator, CPUAllocator(), priority=2)
    set_allocator(device_without_allocator, None, priority=1)
    assert get_allocator(device_without_allocator) is not None
    set_allocator(device_without_allocator, None, priority=2)
    with pytest.raises(RuntimeError, match="is not set"):
        get_allocator(device_without_allocator)


def test_registering_twice_is_harmless_al_8(cpu_allocator):
    mine = CPUAllocator(128)
    set_allocator("cpu", mine)
    set_allocator("cpu", mine)
    assert get_allocator("cpu") is mine is Storage(8).allocator


@pytest.mark.parametrize(
    "arguments, error",
    [
        (("cpu", None), TypeError),
        (("cpu", "malloc"), TypeError),
        (("cpu", CPUAllocator(), -1), ValueError),
        (("cpu", CPUAllocator(), 256), ValueError),
        (("abacus", CPUAllocator()), ValueError),
        ((3, CPUAllocator()), ValueError),
    ],
)
def test_bad_registration_changes_nothing(arguments, error):
    registered = get_allocator("cpu")
    with pytest.raises(error):
        set_allocator(*arguments)
    assert get_allocator("cpu") is registered


def test_registry_keeps_alive_and_blocks_outlive_their_registration(cpu_allocator):
    set_allocator("cpu", Named())
    seen = weakref.ref(get_allocator("cpu"))
    storage = Storage(100)
    set_allocator("cpu", cpu_allocator)
    gc.collect()
    assert storage.allocator is seen()
    assert storage.clone().allocator is seen()
    storage.reset()
    gc.collect()
    assert seen() is None


def test_scope_wins_over_the_registry(cpu_allocator):
    inside, registered = CPUAllocator(), CPUAllocator()
    with use_allocator(inside) as entered:
        set_allocator("cpu", registered)
        assert entered is inside is get_allocator("cpu")
        assert [made.allocator for made in (Storage(8), Storage.create_legacy())] == [inside, inside]
        assert StorageImpl(8).data_ptr() != 0
    assert get_allocator("cpu") is registered


def test_scopes_nest_also_with_the_same_object():
    outside = get_allocator("cpu")
    outer, inner = use_allocator(CPUAllocator()), use_allocator(CPUAllocator())
    with outer, inner, outer:
        assert get_allocator() is outer.allocator
        outer.__exit__(None, None, None)
        assert get_allocator() is inner.allocator
        outer.__enter__()
    assert get_allocator() is outside


def test_scope_ends_with_an_exception():
    outside = get_allocator("cpu")
    with pytest.raises(KeyError), use_allocator(CPUAllocator()):
        raise KeyError
    assert get_allocator("cpu") is outside


def test_scope_serves_one_device_type(device_without_allocator):
    outside, other = get_allocator("cpu"), CPUAllocator()
    with use_allocator(other, device=device_without_allocator):
        assert get_allocator(device_without_allocator) is other
        assert get_allocator("cpu") is outside
    with pytest.raises(RuntimeError):
        get_allocator(device_without_allocator)


@pytest.mark.parametrize("wrong", [None, "cpu", CPUAllocator, Allocator])
def test_scope_needs_an_allocator(wrong):
    with pytest.raises(TypeError, match="use_allocator"):
        use_allocator(wrong)


def test_scope_is_seen_by_threads_that_inherit_the_context_only():
    outside, scoped, seen = get_allocator("cpu"), CPUAllocator(), []
    with use_allocator(scoped):
        thread = threading.Thread(target=lambda: seen.append(Storage(8).allocator))
        thread.start()
        thread.join()
    assert seen == [scoped if getattr(sys.flags, "thread_inherit_context", False) else outside]


def test_scope_is_not_seen_by_other_tasks():
    outside, mine = get_allocator("cpu"), [CPUAllocator(), CPUAllocator()]

    async def work(allocator, entered, other_entered):
        with use_allocator(allocator):
            entered.set()
            await other_entered.wait()
            return get_allocator("cpu")

    async def watch(*all_entered):
        for entered in all_entered:
            await entered.wait()
        return get_allocator("cpu")

    async def main():
        events = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(work(mine[0], *events), work(mine[1], *reversed(events)), watch(*events))

    assert asyncio.run(main()) == [*mine, outside]


def test_blocks_of_a_scope_outlive_it():
    with use_allocator(Named()):
        seen = weakref.ref(get_allocator("cpu"))
        storage = Storage(8)
    gc.collect()
    assert storage.allocator is seen()
    storage.reset()
    gc.collect()
    assert seen() is None


def test_scopes_left_in_another_order():
    outside, a, b = get_allocator("cpu"), CPUAllocator(alignment=128), CPUAllocator(alignment=256)
    first, second = use_allocator(a), use_allocator(b)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert get_allocator("cpu") is b
    second.__exit__(None, None, None)
    assert get_allocator("cpu") is outside


def test_one_scope_for_many_threads_and_tasks():
    allocator, together = CPUAllocator(alignment=128), threading.Barrier(4)
    scope, seen = use_allocator(allocator), []

    def work():
        with scope:
            together.wait(10)
            seen.append(get_allocator("cpu"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def task(seconds):
        with scope:
            await asyncio.sleep(seconds)
            seen.append(get_allocator("cpu"))

    async def main():
        await asyncio.gather(task(0.01), task(0.02), task(0))

    asyncio.run(main())
    assert seen == [allocator] * 7 and get_allocator("cpu") is not allocator


def test_a_scope_that_is_not_open_cannot_be_left():
    with pytest.raises(RuntimeError, match="did not enter"):
        use_allocator(CPUAllocator()).__exit__(None, None, None)


@pytest.mark.parametrize("other", [5, None])
def test_a_scope_whose_attribute_was_set_serves_nobody(other):
    scope = use_allocator(CPUAllocator())
    scope.allocator = other
    with scope, pytest.raises(TypeError, match="Allocator"):
        Storage(8)
    assert Storage(8).nbytes() == 8
