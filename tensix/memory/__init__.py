"""Allocators to choose and to watch, and memory to be seen."""

import os
from importlib import import_module
from typing import TYPE_CHECKING

from tensix._support.loaded_later import loaded_later
from tensix.core import set_allocator
from tensix.memory.caching_allocator import CachingAllocator, CachingStats

if TYPE_CHECKING:
    from tensix.memory import cluster
    from tensix.memory.adaptors import (
        Adaptor,
        AlignmentAdaptor,
        FailureCallbackAdaptor,
        GuardAdaptor,
        LimitingAdaptor,
        LoggingAdaptor,
        StatisticsAdaptor,
        TrackedBlock,
        TrackingAdaptor,
    )
    from tensix.memory.call_site import CallSites, Frame
    from tensix.memory.counters import (
        max_memory_allocated,
        memory_allocated,
        memory_reserved,
        memory_summary,
        reset_peak_memory_stats,
    )
    from tensix.memory.function_allocators import CallbackAllocator, FunctionAllocator
    from tensix.memory.numpy_scope import serve_numpy
    from tensix.memory.page_allocators import HugePageAllocator, MappedAllocator
    from tensix.memory.resident_memory import ResidentParts, resident
    from tensix.memory.shared_memory_allocator import SharedMemoryAllocator
    from tensix.memory.statistics_scope import statistics
    from tensix.memory.torch_scope import serve_torch
    from tensix.profiling.advice import Advice
    from tensix.profiling.profiler import CopyRow, Profile, ProfileRow, copies, profile
    from tensix.profiling.recorder import mark, record, snapshot
    from tensix.profiling.snapshot_file import Snapshot, load_snapshot

__all__ = [
    "Adaptor", "Advice", "AlignmentAdaptor", "CachingAllocator", "CachingStats", "CallSites", "CallbackAllocator",
    "CopyRow", "FailureCallbackAdaptor", "Frame", "FunctionAllocator", "GuardAdaptor", "HugePageAllocator",
    "LimitingAdaptor", "LoggingAdaptor", "MappedAllocator", "Profile", "ProfileRow", "ResidentParts",
    "SharedMemoryAllocator", "Snapshot", "StatisticsAdaptor", "TrackedBlock", "TrackingAdaptor", "cluster", "copies",
    "load_snapshot", "mark", "max_memory_allocated", "memory_allocated", "memory_reserved", "memory_summary", "profile",
    "record", "reset_peak_memory_stats", "resident", "serve_numpy", "serve_torch", "snapshot", "statistics",
]

# Name -> the module that has it: no program uses all of them, and most use none.
LOADED_LATER = {
    "Adaptor": "adaptors",
    "Advice": ".profiling.advice",
    "AlignmentAdaptor": "adaptors",
    "CallSites": "call_site",
    "CallbackAllocator": "function_allocators",
    "CopyRow": ".profiling.profiler",
    "FailureCallbackAdaptor": "adaptors",
    "Frame": "call_site",
    "FunctionAllocator": "function_allocators",
    "GuardAdaptor": "adaptors",
    "HugePageAllocator": "page_allocators",
    "LimitingAdaptor": "adaptors",
    "LoggingAdaptor": "adaptors",
    "MappedAllocator": "page_allocators",
    "Profile": ".profiling.profiler",
    "ProfileRow": ".profiling.profiler",
    "ResidentParts": "resident_memory",
    "SharedMemoryAllocator": "shared_memory_allocator",
    "Snapshot": ".profiling.snapshot_file",
    "StatisticsAdaptor": "adaptors",
    "TrackedBlock": "adaptors",
    "TrackingAdaptor": "adaptors",
    "cluster": None,
    "copies": ".profiling.profiler",
    "load_snapshot": ".profiling.snapshot_file",
    "mark": ".profiling.recorder",
    "max_memory_allocated": "counters",
    "memory_allocated": "counters",
    "memory_reserved": "counters",
    "memory_summary": "counters",
    "profile": ".profiling.profiler",
    "record": ".profiling.recorder",
    "reset_peak_memory_stats": "counters",
    "resident": "resident_memory",
    "serve_numpy": "numpy_scope",
    "serve_torch": "torch_scope",
    "snapshot": ".profiling.recorder",
    "statistics": "statistics_scope",
}
if not TYPE_CHECKING:  # a checker that knew of __getattr__ would take any name for one of the package
    __getattr__, __dir__ = loaded_later(__name__, LOADED_LATER)

set_allocator("cpu", CachingAllocator())
if os.environ.get("TENSIX_LEAKS") == "1":
    import_module("tensix.profiling.profiler").watch_leaks()
