"""What the tests of the memory core share."""

import gc

import pytest

from tensix.core import CPUAllocator, Device, get_allocator, set_allocator
from tensix.testing import FailingAllocator


@pytest.fixture
def failing_allocator():
    """Return an allocator that fails on demand."""
    return FailingAllocator(CPUAllocator())


@pytest.fixture
def cpu_allocator():
    """Return the registered CPU allocator, and register it again, at its priority of 0, after the test."""
    registered = get_allocator("cpu")
    yield registered
    set_allocator("cpu", registered, priority=0)
    assert get_allocator("cpu") is registered


@pytest.fixture
def device_without_allocator():
    """Give a device type for which nothing is registered, and take back what the test registers."""

    yield "fpga"
    set_allocator("fpga", None, priority=255)


@pytest.fixture
def no_leak():
    """Assert that the test gives back every byte it takes."""
    if CPUAllocator.bytes_in_use():
        gc.collect()
    before = CPUAllocator.bytes_in_use()
    yield
    if CPUAllocator.bytes_in_use() != before:
        gc.collect()
    assert CPUAllocator.bytes_in_use() == before


@pytest.fixture
def cpu():
    """Return the CPU device."""
    return Device("cpu")
