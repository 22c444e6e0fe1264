"""Allocators to choose and to watch, and memory to be seen."""

import os
from importlib import import_module
from typing import TYPE_CHECKING

from tensix.core import set_allocator
from tensix.core.loaded_later import loaded_later
from tensix.memory.caching_allocator import CachingAllocator, CachingStats

if TYPE_CHECKING:
    from tensix.memory.adaptor import Adaptor
    from tensix.memory.alignment_adaptor import AlignmentAdaptor
    from tensix.memory.call_site import CallSites, Frame
    from tensix.memory.failure_callback_adaptor import FailureCallbackAdaptor
    from tensix.memory.function_allocators import CallbackAllocator, FunctionAllocator
    from tensix.memory.guard_adaptor import GuardAdaptor
    from tensix.memory.limiting_adaptor import LimitingAdaptor
    from tensix.memory.logging_adaptor import LoggingAdaptor
    from tensix.memory.page_allocators import HugePageAllocator, MappedAllocator
    from tensix.memory.profiler import CopyRow, Profile, ProfileRow, copies, profile
    from tensix.memory.recorder import record, snapshot
    from tensix.memory.shared_memory_allocator import SharedMemoryAllocator
    from tensix.memory.snapshot_file import Snapshot, load_snapshot
    from tensix.memory.statistics_adaptor import StatisticsAdaptor
    from tensix.memory.statistics_scope import statistics
    from tensix.memory.tracking_adaptor import TrackedBlock, TrackingAdaptor

__all__ = [
    "Adaptor",
    "AlignmentAdaptor",
    "CachingAllocator",
    "CachingStats",
    "CallSites",
    "CallbackAllocator",
    "CopyRow",
    "FailureCallbackAdaptor",
    "Frame",
    "FunctionAllocator",
    "GuardAdaptor",
    "HugePageAllocator",
    "LimitingAdaptor",
    "LoggingAdaptor",
    "MappedAllocator",
    "Profile",
    "ProfileRow",
    "SharedMemoryAllocator",
    "Snapshot",
    "StatisticsAdaptor",
    "TrackedBlock",
    "TrackingAdaptor",
    "copies",
    "load_snapshot",
    "profile",
    "record",
    "snapshot",
    "statistics",
]

# Name -> the module that has it: nobody uses all of them, and most programs none.
LOADED_LATER = {
    "Adaptor": "adaptor",
    "AlignmentAdaptor": "alignment_adaptor",
    "CallSites": "call_site",
    "CallbackAllocator": "function_allocators",
    "CopyRow": "profiler",
    "FailureCallbackAdaptor": "failure_callback_adaptor",
    "Frame": "call_site",
    "FunctionAllocator": "function_allocators",
    "GuardAdaptor": "guard_adaptor",
    "HugePageAllocator": "page_allocators",
    "LimitingAdaptor": "limiting_adaptor",
    "LoggingAdaptor": "logging_adaptor",
    "MappedAllocator": "page_allocators",
    "Profile": "profiler",
    "ProfileRow": "profiler",
    "SharedMemoryAllocator": "shared_memory_allocator",
    "Snapshot": "snapshot_file",
    "StatisticsAdaptor": "statistics_adaptor",
    "TrackedBlock": "tracking_adaptor",
    "TrackingAdaptor": "tracking_adaptor",
    "copies": "profiler",
    "load_snapshot": "snapshot_file",
    "profile": "profiler",
    "record": "recorder",
    "snapshot": "recorder",
    "statistics": "statistics_scope",
}
if not TYPE_CHECKING:  # a checker that knew of __getattr__ would take any name for one of the package
    __getattr__, __dir__ = loaded_later(__name__, LOADED_LATER)

set_allocator("cpu", CachingAllocator())
if os.environ.get("TENSIX_LEAKS") == "1":
    import_module("tensix.memory.profiler").watch_leaks()
