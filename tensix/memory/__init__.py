"""Allocators to choose and to watch."""

from tensix.core import set_allocator
from tensix.memory.adaptor import Adaptor
from tensix.memory.caching_allocator import CachingAllocator, CachingStats
from tensix.memory.shared_memory_allocator import SharedMemoryAllocator
from tensix.memory.statistics_adaptor import StatisticsAdaptor

__all__ = ["Adaptor", "CachingAllocator", "CachingStats", "SharedMemoryAllocator", "StatisticsAdaptor"]

set_allocator("cpu", CachingAllocator())
