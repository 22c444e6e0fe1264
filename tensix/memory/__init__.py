"""Allocators to choose and to watch."""

from tensix.core import set_allocator
from tensix.memory.caching_allocator import CachingAllocator, CachingStats

__all__ = ["CachingAllocator", "CachingStats"]

set_allocator("cpu", CachingAllocator())
