"""Doubles and checks for tests, ours and other people's: leaks, allocators that fail or invent, deleters that count."""

from tensix.tensors.names_elsewhere import advice
from tensix.testing.delete_tracker import DeleteTracker
from tensix.testing.failing_allocator import FailingAllocator
from tensix.testing.fake_allocator import FakeAllocator
from tensix.testing.leaks import assert_no_leaks

__all__ = ["DeleteTracker", "FailingAllocator", "FakeAllocator", "assert_no_leaks"]


def __dir__():
    return sorted(__all__)  # what a shell offers: not the modules of which the names are


def __getattr__(name):
    raise AttributeError(advice(__name__, name) or f"module {__name__!r} has no attribute {name!r}")
