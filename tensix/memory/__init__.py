"""Allocators to choose and to watch."""

from tensix.core import set_allocator
from tensix.memory.caching_allocator import CachingAllocator, CachingStats
from tensix.memory.call_site import CallSites, Frame

__all__ = ["CachingAllocator", "CachingStats", "CallSites", "Frame"]

set_allocator("cpu", CachingAllocator())
