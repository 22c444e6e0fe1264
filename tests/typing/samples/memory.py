"""What a type checker knows about counts, blocks, allocators and storages."""

import copy
import ctypes
from typing import Any, assert_type

from tensix import Explanation, explain, memory
from tensix.core import (
    Allocator,
    CPUAllocator,
    DataPtr,
    Device,
    IntrusivePtr,
    IntrusiveTarget,
    MemoryReporter,
    OutOfMemoryError,
    Stat,
    Storage,
    StorageImpl,
    WeakIntrusivePtr,
    cow,
    format_size,
    get_allocator,
    make_intrusive,
    make_storage_impl,
    raw,
    set_allocator,
    use_allocator,
)
from tensix.testing import DeleteTracker, FailingAllocator, FakeAllocator, assert_no_leaks


class Node(IntrusiveTarget):
    def __init__(self, name: str, *, weight: int = 1) -> None:
        self.name = name
        self.weight = weight

    def release_resources(self) -> None:
        self.name = ""


class Counting(Allocator):
    def __init__(self) -> None:
        self.count = 0

    def allocate(self, nbytes: int) -> DataPtr:
        self.count += 1
        return CPUAllocator().allocate(nbytes)


class Peak(MemoryReporter):
    peak = 0

    def report_memory_usage(self, address: int, nbytes: int, total_allocated: int, device: Device) -> None:
        self.peak = max(self.peak, total_allocated)


# a pointer knows its target's class, and make_intrusive() the constructor's parameters
node = make_intrusive(Node, "a", weight=2)
assert_type(node, "IntrusivePtr[Node]")
assert_type(node.get(), Node | None)
assert_type(node.copy().move(), "IntrusivePtr[Node]")
assert_type(IntrusivePtr(node), "IntrusivePtr[Node]")
assert_type(IntrusivePtr.reclaim(node.copy().release()), "IntrusivePtr[Node]")
assert_type(WeakIntrusivePtr(node).lock(), "IntrusivePtr[Node]")
with node.copy() as target:
    assert_type(target.name, str)
    assert_type(raw.make_weak(target), Node)
    assert_type(raw.use_count(target), int)
assert_type(node.unique(), bool)
some: IntrusivePtr = node.copy()  # any target, without a parameter
assert_type(some.get(), IntrusiveTarget | None)

# blocks and allocators
block = DataPtr.from_callable(0, print, "cpu")
assert_type(block.get(), int)
assert_type(DataPtr(0, deleter=ctypes.CFUNCTYPE(None, ctypes.c_void_p)(0)).device, Device)
assert_type(CPUAllocator(alignment=128, zero_fill=True).numa_node, int | None)
assert_type(CPUAllocator.bytes_in_use(), int)
set_allocator("cpu", get_allocator("cpu"), priority=0)
with use_allocator(Counting()) as allocator:
    assert_type(allocator, Allocator)
with Peak() as reporter:
    assert_type(reporter, Peak)
assert_type(OutOfMemoryError(1, 64, 0).limit, int | None)

# storages
storage = Storage(64, Counting(), resizable=True)
assert_type(storage.resize_(128), Storage)
assert_type(storage.impl, StorageImpl | None)
assert_type(storage.allocator, Allocator | None)
assert_type(storage.set_data_ptr(block), DataPtr)
assert_type(storage.weak(), "WeakIntrusivePtr[StorageImpl]")
assert_type(Storage.from_impl(make_intrusive(StorageImpl, 8)), Storage)
assert_type(cow.lazy_clone_storage(Storage(8)), Storage | None)
assert_type(make_storage_impl(8, device=Device("cpu")), Storage)

# seeing and testing
explanation = explain(storage)
assert_type(explanation, Explanation)
assert_type(explanation.to_dict(), dict[str, Any])
assert_type(explanation.svg(), str)
with assert_no_leaks():
    pass
with use_allocator(FailingAllocator(CPUAllocator(), fail_at=2)) as failing:
    assert_type(failing.allocate(8), DataPtr)
assert_type(FakeAllocator(64, capacity=1 << 40).blocks, dict[int, int])
assert_type(DeleteTracker().calls, list[int])
assert_type(DataPtr(0, 0, DeleteTracker()), DataPtr)
assert_type(copy.deepcopy(Storage(8)), Storage)

assert_type(Stat().current, int)
assert_type(format_size(1), str)

# scopes that show memory give themselves, and a profiled function keeps its parameters
with memory.statistics(this_thread=True) as counted:
    assert_type(counted, memory.statistics)
assert_type(counted.peak_bytes, int)
with memory.record(depth=8) as recording, memory.copies() as copied:
    assert_type(memory.snapshot(holders=False), memory.Snapshot)
assert_type(recording.snapshot(), memory.Snapshot)
assert_type([row.place for row in copied.rows], list[memory.Frame])


@memory.profile(quiet=True)
def work(nbytes: int) -> str:
    return str(Storage(nbytes))


assert_type(work(8), str)
assert_type(work.last_profile.rows[0].peak_bytes, int)
assert_type(memory.CallSites().capture(), int)
assert_type(memory.CallSites(through=["pytest"]).place(0), memory.Frame)
