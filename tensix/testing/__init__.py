"""Doubles and checks for tests, ours and other people's: leaks, allocators that fail or invent, deleters that count."""

from tensix._support.loaded_later import loaded_later
from tensix.tensors.names_elsewhere import advice
from tensix.testing.delete_tracker import DeleteTracker
from tensix.testing.failing_allocator import FailingAllocator
from tensix.testing.fake_allocator import FakeAllocator
from tensix.testing.leaks import assert_no_leaks

__all__ = ["DeleteTracker", "FailingAllocator", "FakeAllocator", "assert_no_leaks"]

__getattr__, __dir__ = loaded_later(__name__, {}, advice)
