"""Allocators to choose and to watch."""

from tensix.core import set_allocator
from tensix.memory import leaks as _leaks  # noqa: F401  begins to watch if the environment says so
from tensix.memory.adaptor import Adaptor
from tensix.memory.caching_allocator import CachingAllocator, CachingStats
from tensix.memory.call_site import CallSites, Frame
from tensix.memory.copies import CopyRow, copies
from tensix.memory.profile import Profile, ProfileRow, profile
from tensix.memory.recorder import record, snapshot
from tensix.memory.snapshot import Snapshot, load_snapshot
from tensix.memory.statistics import statistics
from tensix.memory.statistics_adaptor import StatisticsAdaptor

__all__ = [
    "Adaptor", "CachingAllocator", "CachingStats", "CallSites", "CopyRow", "Frame", "Profile", "ProfileRow", "Snapshot",
    "StatisticsAdaptor", "copies", "load_snapshot", "profile", "record", "snapshot", "statistics",
]  # fmt: skip

set_allocator("cpu", CachingAllocator())
