"""Allocators to choose and to watch."""

from tensix.core import set_allocator
from tensix.memory.adaptor import Adaptor
from tensix.memory.caching_allocator import CachingAllocator, CachingStats
from tensix.memory.call_site import CallSites, Frame
from tensix.memory.statistics import statistics
from tensix.memory.statistics_adaptor import StatisticsAdaptor

__all__ = ["Adaptor", "CachingAllocator", "CachingStats", "CallSites", "Frame", "StatisticsAdaptor", "statistics"]

set_allocator("cpu", CachingAllocator())
