"""The public .pxd from another project's Cython: counts without the GIL, subclasses, misuse."""

import gc
import threading
import weakref

import pytest

import tensix
from tensix import explain
from tensix.core import (
    CPUAllocator,
    DataPtr,
    IntrusivePtr,
    IntrusiveTarget,
    Storage,
    WeakIntrusivePtr,
    get_allocator,
    make_intrusive,
    raw,
    set_allocator,
    use_allocator,
)
from tensix.memory import CachingAllocator, GuardAdaptor, LimitingAdaptor, StatisticsAdaptor


class Node(IntrusiveTarget):
    pass


@pytest.fixture
def strong():
    return make_intrusive(Node)


@pytest.fixture
def watch(strong):
    """A Python weak reference, which tells when the target object is gone."""
    return weakref.ref(strong.get())


def in_a_thread(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    thread.join()


def test_null_is_accepted_everywhere_ip_43_wp_13(counting):
    assert counting.counts_of_null() == (False, 0, 0)


def test_steal_from_new_gives_the_first_owner_ip_37(counting):
    pointer = counting.steal(counting.Plain())
    assert type(pointer) is IntrusivePtr
    assert pointer.is_uniquely_owned()


@pytest.mark.parametrize("kind", ["owned", "expired"])
def test_steal_from_new_refuses_what_has_or_had_an_owner_ip_4(counting, strong, kind):
    target = strong.get()
    if kind == "expired":
        strong.reset()
    with pytest.raises(RuntimeError, match="counts are in use"):
        counting.steal(target)


def test_steal_from_new_refuses_null(counting):
    with pytest.raises(TypeError, match="None"):
        counting.steal(None)


def test_counts_are_those_of_the_handles_ip_2_wp_6(counting, strong):
    weak = WeakIntrusivePtr(strong)
    assert counting.counts(strong.get()) == (strong.use_count(), strong.weak_use_count()) == (1, 2)
    strong.reset()
    assert counting.counts(weak.unsafe_get_target()) == (0, 1)
    assert counting.counts(Node()) == (0, 0)


@pytest.mark.parametrize("name", ["incref_and_decref", "weak_incref_and_decref", "lock_and_decref"])
def test_loops_leave_the_counts_as_they_were_ip_43_wp_13(counting, strong, name):
    getattr(counting, name)(strong.get(), 10_000)
    assert counting.counts(strong.get()) == (1, 1)


def test_eight_threads_without_the_gil_leave_the_counts_as_they_were_ip_7(counting, strong):
    loops = [counting.incref_and_decref, counting.weak_incref_and_decref, counting.lock_and_decref]
    threads = [threading.Thread(target=loops[i % 3], args=(strong.get(), 100_000)) for i in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(1000):
        strong.copy()
    for thread in threads:
        thread.join()
    assert counting.counts(strong.get()) == (1, 1)


def test_c_counts_keep_the_target_alive_ip_43(counting, strong, watch):
    counting.take_strong(strong.get(), 3)
    strong.reset()
    assert raw.use_count(watch()) == 3
    counting.drop_strong(watch(), 2)
    assert watch() is not None
    counting.drop_strong(watch())
    assert watch() is None


def test_c_weak_counts_keep_the_object_ip_11_wp_13(counting, strong, watch):
    counting.take_weak(strong.get(), 2)
    strong.reset()
    counting.drop_weak(watch())
    assert counting.counts(watch()) == (0, 1)
    counting.drop_weak(watch())
    assert watch() is None


def test_a_count_of_c_code_can_be_reclaimed_in_python_ip_35_wp_10(counting, strong):
    target = strong.get()
    counting.take_strong(target)
    counting.take_weak(target)
    second, weak = IntrusivePtr.reclaim(target), WeakIntrusivePtr.reclaim(target)
    assert (second.use_count(), weak.weak_use_count()) == (2, 2)


def test_lock_fails_for_ever_after_death_ip_3(counting, strong):
    weak = WeakIntrusivePtr(strong)
    assert counting.lock_and_decref(strong.get(), 10) == 10
    assert counting.lock_weak(weak) == strong
    strong.reset()
    assert counting.lock_and_decref(weak.unsafe_get_target(), 10) == 0
    assert not counting.lock_weak(weak)


def test_events_without_weak_handles_ip_8_ip_10(counting):
    events = []
    make_intrusive(counting.Recorder, events).reset()
    assert events == ["destroy", "__dealloc__"]


def test_events_with_weak_handles_ip_9_ip_10_ip_11(counting):
    events = []
    pointer = make_intrusive(counting.Recorder, events)
    weak = WeakIntrusivePtr(pointer)
    pointer.reset()
    assert events == ["release_resources"]
    weak.reset()
    assert events == ["release_resources", "destroy", "__dealloc__"]


@pytest.mark.parametrize("weak_count", [0, 1])
def test_events_of_a_last_decref_without_the_gil_ip_8_ip_9(counting, weak_count):
    events = []
    pointer = make_intrusive(counting.Recorder, events)
    target = pointer.release()
    counting.take_weak(target, weak_count)
    counting.drop_strong(target)
    assert events == (["release_resources"] if weak_count else ["destroy"])
    counting.drop_weak(target, weak_count)
    del target
    assert events == ["release_resources"] * weak_count + ["destroy", "__dealloc__"]


def test_a_target_that_nobody_owned_is_only_deallocated(counting):
    events = []
    counting.Recorder(events)
    assert events == ["__dealloc__"]


@pytest.mark.parametrize("weak_count", [0, 1])
def test_a_last_decref_without_the_gil_runs_python_code_ip_9(counting, weak_count):
    events = []

    class PythonRecorder(counting.Recorder):
        def release_resources(self):
            events.append(("release_resources", raw.use_count(self)))

        def __del__(self):
            events.append("__del__")

    pointer = make_intrusive(PythonRecorder, [])
    target = pointer.release()
    counting.take_weak(target, weak_count)
    in_a_thread(counting.drop_strong, target)
    in_a_thread(counting.drop_weak, target, weak_count)
    del target
    assert events == [("release_resources", 0)] * weak_count + ["__del__"]


def test_release_resources_that_raises_without_the_gil_is_reported(counting, unraisable):
    class Failing(IntrusiveTarget):
        def release_resources(self):
            raise LookupError("in release_resources")

    pointer = make_intrusive(Failing)
    watch = weakref.ref(pointer.get())
    weak = WeakIntrusivePtr(pointer)
    counting.drop_strong(pointer.release())
    assert [repr(error) for error in unraisable] == [repr(LookupError("in release_resources"))]
    weak.reset()
    unraisable.clear()  # the report's traceback holds the target
    assert watch() is None


def test_a_storage_dies_by_a_decref_without_the_gil(counting):
    freed = []
    storage = Storage.from_data_ptr(8, DataPtr.from_callable(0x1000, freed.append))
    counting.drop_strong(storage.unsafe_release_storage_impl())
    assert freed == [0x1000]


MISUSE = pytest.mark.parametrize(
    ("name", "function"),
    [
        ("take_strong", "incref"),
        ("drop_strong", "decref"),
        ("take_weak", "weak_incref"),
        ("drop_weak", "weak_decref"),
    ],
)


@MISUSE
@pytest.mark.parametrize("kind", ["unowned", "expired"])
def test_counting_what_nobody_owns_is_reported_and_changes_nothing_ip_12(
    counting, unraisable, strong, name, function, kind
):
    target = strong.get()
    strong.reset()
    target = Node() if kind == "unowned" else target
    getattr(counting, name)(target, 3)
    assert [type(error) for error in unraisable] == [RuntimeError] * 3
    assert f"cannot {function} " in str(unraisable[0])
    assert counting.counts(target) == (0, 0)
    if kind == "unowned":
        assert counting.steal(target).is_uniquely_owned()
    else:
        with pytest.raises(RuntimeError, match="expired"):
            counting.steal(target)


def test_dropping_the_strong_sides_weak_unit_is_reported(counting, unraisable, strong):
    counting.drop_weak(strong.get())
    assert [type(error) for error in unraisable] == [RuntimeError]
    assert counting.counts(strong.get()) == (1, 1)


def test_increments_of_an_expired_target_with_weak_handles_ip_12(counting, unraisable, strong):
    weak = WeakIntrusivePtr(strong)
    strong.reset()
    counting.take_strong(weak.unsafe_get_target())
    assert [type(error) for error in unraisable] == [RuntimeError]
    assert counting.counts(weak.unsafe_get_target()) == (0, 1)
    assert weak.expired()


def test_an_allocator_written_in_cython(counting):
    allocator = counting.CountingAllocator()
    storage = Storage(100, allocator, resizable=True)
    storage.resize_(200)
    storage.lazy_clone().mutable_data_ptr()
    assert allocator.sizes == [100, 200, 200]
    assert storage.allocator is allocator
    assert counting.bytes_of(storage) == 200


def test_an_allocator_may_write_the_fields_that_it_knows(counting):
    """The others are tensix's: what was in the struct before is none of its business."""
    allocator = counting.FieldAllocator()
    for _ in range(3):
        storage = Storage(100, allocator)
        copies = storage.clone(), storage.lazy_clone(), Storage.from_data_ptr(8, allocator.allocate(8))
        assert len({copy.mutable_data_ptr() for copy in copies}) == 3
        del storage, copies


@pytest.mark.parametrize("adaptor", [None, CachingAllocator, StatisticsAdaptor, LimitingAdaptor, GuardAdaptor])
@pytest.mark.parametrize("size", [8, 1 << 20])
def test_an_allocator_that_gives_null_is_refused(counting, adaptor, size):
    allocator = counting.NullAllocator()
    if adaptor is not None:
        allocator = adaptor(allocator, 1 << 30) if adaptor is LimitingAdaptor else adaptor(allocator)
    for request in (
        lambda: allocator.allocate(size),
        lambda: Storage(size, allocator),
        lambda: Storage(0, allocator, resizable=True).resize_(size),
    ):
        with pytest.raises(RuntimeError, match=r"NullAllocator\.allocate\(\) returned a null address"):
            request()
    with use_allocator(allocator), pytest.raises(RuntimeError, match="returned a null address"):
        tensix.ones(size) + tensix.ones(size)


def test_null_is_refused_without_the_gil(counting, unraisable):
    allocator, before = counting.NullAllocator(), get_allocator("cpu")
    set_allocator("cpu", allocator, priority=255)
    try:
        assert counting.allocate_without_gil(8) == (-1, False)
    finally:
        set_allocator("cpu", before, priority=255)
    assert allocator.contexts == 1  # c_allocate() was asked, and says why
    assert ["returned a null address for 8 bytes" in str(error) for error in unraisable] == [True]


@pytest.mark.parametrize("make", [CPUAllocator, CachingAllocator, lambda: StatisticsAdaptor(CPUAllocator())])
def test_an_allocator_may_put_its_own_deleter_into_a_block_of_ours(counting, make):
    allocator = counting.WrappingAllocator(make())
    storage = Storage(100, allocator)
    block = allocator.allocate(8)
    assert counting.wrapped_block_count() == 2
    for chain in (explain(storage), explain(block)):
        assert "context that tensix does not know" in str(chain)
    block.clear()
    assert counting.wrapped_block_count() == 1
    del storage
    assert counting.wrapped_block_count() == 0


@pytest.mark.parametrize(("name", "in_python"), [("Link", False), ("Link", True), ("Plain", True)])
def test_cycles_through_cython_subclasses_are_collected(counting, name, in_python):
    cls = getattr(counting, name)
    pointer = make_intrusive(type("Derived", (cls,), {}) if in_python else cls)
    watch = weakref.ref(pointer.get())
    pointer.get().next = pointer
    del pointer
    gc.collect()
    assert watch() is None


def test_targets_with_c_fields_only_take_no_part_in_collection(counting):
    assert not gc.is_tracked(counting.Plain())
    assert gc.is_tracked(counting.Link())


def test_many_targets_are_born_and_die_ip_8(counting):
    class Derived(counting.Plain):
        pass

    for cls in (counting.Plain, counting.Link, Derived, Node, IntrusiveTarget):
        pointers = [make_intrusive(cls) for _ in range(200)]
        assert {pointer.use_count() for pointer in pointers} == {1}
        assert len({pointer.get() for pointer in pointers}) == 200


def test_fields_are_zero_at_birth_whatever_lived_there_before(counting):
    for _ in range(200):
        pointer = make_intrusive(counting.Plain)
        assert pointer.get().value == 0
        pointer.get().value = -1


def test_wrong_types_are_refused(counting):
    for function in (counting.counts, counting.take_strong, counting.drop_weak, counting.steal):
        with pytest.raises(TypeError):
            function(object())
