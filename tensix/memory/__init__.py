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
NAMES_OF_MODULES = {
    "adaptors": (
        "Adaptor", "AlignmentAdaptor", "FailureCallbackAdaptor", "GuardAdaptor", "LimitingAdaptor", "LoggingAdaptor",
        "StatisticsAdaptor", "TrackedBlock", "TrackingAdaptor",
    ),
    "call_site": ("CallSites", "Frame"),
    "counters": (
        "max_memory_allocated", "memory_allocated", "memory_reserved", "memory_summary", "reset_peak_memory_stats",
    ),
    "function_allocators": ("CallbackAllocator", "FunctionAllocator"),
    "numpy_scope": ("serve_numpy",),
    "page_allocators": ("HugePageAllocator", "MappedAllocator"),
    "resident_memory": ("ResidentParts", "resident"),
    "shared_memory_allocator": ("SharedMemoryAllocator",),
    "statistics_scope": ("statistics",),
    "torch_scope": ("serve_torch",),
    ".profiling.advice": ("Advice",),
    ".profiling.profiler": ("CopyRow", "Profile", "ProfileRow", "copies", "profile"),
    ".profiling.recorder": ("mark", "record", "snapshot"),
    ".profiling.snapshot_file": ("Snapshot", "load_snapshot"),
}
LOADED_LATER = {"cluster": None} | {name: module for module, names in NAMES_OF_MODULES.items() for name in names}
if not TYPE_CHECKING:  # a checker that knew of __getattr__ would take any name for one of the package
    __getattr__, __dir__ = loaded_later(__name__, LOADED_LATER)

set_allocator("cpu", CachingAllocator())
if os.environ.get("TENSIX_LEAKS") == "1":
    import_module("tensix.profiling.profiler").watch_leaks()
