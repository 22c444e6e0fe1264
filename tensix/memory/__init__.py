"""Allocators to choose and to watch, and memory to be seen."""

import os
from importlib import import_module

from tensix.core import set_allocator
from tensix.memory.adaptor import Adaptor
from tensix.memory.alignment_adaptor import AlignmentAdaptor
from tensix.memory.caching_allocator import CachingAllocator, CachingStats
from tensix.memory.call_site import CallSites, Frame
from tensix.memory.callback_allocator import CallbackAllocator
from tensix.memory.copies import CopyRow, copies
from tensix.memory.failure_callback_adaptor import FailureCallbackAdaptor
from tensix.memory.function_allocator import FunctionAllocator
from tensix.memory.guard_adaptor import GuardAdaptor
from tensix.memory.huge_page_allocator import HugePageAllocator
from tensix.memory.limiting_adaptor import LimitingAdaptor
from tensix.memory.logging_adaptor import LoggingAdaptor
from tensix.memory.mapped_allocator import MappedAllocator
from tensix.memory.profile import Profile, ProfileRow, profile
from tensix.memory.recorder import record, snapshot
from tensix.memory.shared_memory_allocator import SharedMemoryAllocator
from tensix.memory.snapshot import Snapshot, load_snapshot
from tensix.memory.statistics import statistics
from tensix.memory.statistics_adaptor import StatisticsAdaptor
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

set_allocator("cpu", CachingAllocator())
if os.environ.get("TENSIX_LEAKS") == "1":
    import_module("tensix.memory.leaks").watch()  # loaded by nobody else, so that it costs nothing when it is off
