"""Reports of allocations, frees and failures."""

import ctypes
import threading

import pytest

from tensix.core import CPUAllocator, MemoryReporter, OutOfMemoryError, Storage

pytestmark = pytest.mark.usefixtures("no_leak")


class Recorder(MemoryReporter):
    """Keep every report."""

    def __init__(self):
        self.usage, self.failures = [], []

    def report_memory_usage(self, address, nbytes, total_allocated, device):
        self.usage.append((address, nbytes, total_allocated, device))

    def report_out_of_memory(self, nbytes, total_allocated, device):
        self.failures.append((nbytes, total_allocated, device))


def test_allocation_and_free_are_reported_with_totals_al_11_ca_1_ca_2_ca_14(cpu):
    before = CPUAllocator.bytes_in_use()
    with Recorder() as recorder:
        first, second = Storage(100), Storage(28)
        addresses = first.data_ptr(), second.data_ptr()
        first.reset()
    assert recorder.usage == [
        (addresses[0], 100, before + 100, cpu),
        (addresses[1], 28, before + 128, cpu),
        (addresses[0], -100, before + 28, cpu),
    ]
    assert recorder.failures == []


def test_nothing_is_not_reported_ca_3_ca_14():
    with Recorder() as recorder:
        Storage(0).reset()
        CPUAllocator().allocate(0).clear()
    assert recorder.usage == []


@pytest.mark.parametrize("options", [{"huge_pages": True}, {"junk_fill": True}, {"alignment": 4096}], ids=str)
def test_sizes_are_those_asked_for_ca_14(options):
    with Recorder() as recorder:
        CPUAllocator(**options).allocate(3_000_001).clear()
    assert [nbytes for _, nbytes, _, _ in recorder.usage] == [3_000_001, -3_000_001]


def test_raw_blocks_are_reported_ca_4():
    with Recorder() as recorder:
        address = CPUAllocator().raw_allocate(10)
        CPUAllocator().raw_deallocate(address)
    assert [event[:2] for event in recorder.usage] == [(address, 10), (address, -10)]


def test_failure_is_reported_then_raised_al_11_ca_1(cpu):
    with Recorder() as recorder, pytest.raises(OutOfMemoryError):
        Storage(1 << 62)
    assert recorder.failures == [(1 << 62, CPUAllocator.bytes_in_use(), cpu)]
    assert recorder.usage == []


def test_block_is_readable_while_its_free_is_reported():
    class Reader(MemoryReporter):
        seen = b""

        def report_memory_usage(self, address, nbytes, total_allocated, device):
            if nbytes < 0:
                self.seen = ctypes.string_at(address, -nbytes)

    storage = Storage(4)
    ctypes.memmove(storage.mutable_data_ptr(), b"last", 4)
    with Reader() as reader:
        storage.reset()
    assert reader.seen == b"last"


def test_all_listeners_hear_inside_their_scope_only_al_11():
    outer, inner = Recorder(), Recorder()
    Storage(1)
    with outer as entered:
        with inner:
            Storage(8).reset()
        Storage(16).reset()
    Storage(32)
    assert entered is outer
    assert [event[1] for event in outer.usage] == [8, -8, 16, -16]
    assert [event[1] for event in inner.usage] == [8, -8]


def test_listener_entered_twice_hears_twice():
    recorder = Recorder()
    with recorder:
        with recorder:
            Storage(8).reset()
        Storage(4).reset()
    assert [event[1] for event in recorder.usage] == [8, 8, -8, -8, 4, -4]


def test_other_threads_are_heard_al_11():
    """PyTorch's per-thread reporter missed worker threads."""
    with Recorder() as recorder:
        thread = threading.Thread(target=lambda: Storage(123).reset())
        thread.start()
        thread.join()
    assert [event[1] for event in recorder.usage] == [123, -123]


def test_what_a_report_raises_is_reported_and_not_propagated(unraisable):
    class Broken(MemoryReporter):
        def report_memory_usage(self, address, nbytes, total_allocated, device):
            raise KeyError(nbytes)

        def report_out_of_memory(self, nbytes, total_allocated, device):
            raise KeyError("failure")

    with Broken(), Recorder() as recorder:
        Storage(8).reset()
        with pytest.raises(OutOfMemoryError):
            Storage(1 << 62)
    assert [error.args for error in unraisable] == [(8,), (-8,), ("failure",)]
    assert len(recorder.usage) == 2 and len(recorder.failures) == 1


def test_allocations_of_a_report_are_not_reported():
    class Allocating(Recorder):
        def report_memory_usage(self, *event):
            super().report_memory_usage(*event)
            if len(self.usage) < 10:  # an end, should they be reported after all
                Storage(1000).reset()

    with Allocating() as recorder:
        Storage(8).reset()
        Storage(9).reset()
    assert [event[1] for event in recorder.usage] == [8, -8, 9, -9]


def test_listener_may_leave_during_a_report():
    class Leaving(Recorder):
        def report_memory_usage(self, *event):
            super().report_memory_usage(*event)
            self.__exit__(None, None, None)

    with Leaving() as first, Recorder() as second:
        Storage(8).reset()
    assert [event[1] for event in first.usage] == [8]
    assert [event[1] for event in second.usage] == [8, -8]


def test_default_reports_do_nothing():
    with MemoryReporter(), pytest.raises(OutOfMemoryError):
        assert Storage(8).clone().nbytes() == 8
        Storage(1 << 62)
