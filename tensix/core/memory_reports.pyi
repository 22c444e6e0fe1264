from typing import Self

from tensix.core.device import Device

__all__ = ["MemoryReporter", "max_memory_allocated", "memory_allocated", "reset_peak_memory_stats"]

class MemoryReporter:
    """Listen to allocations while used as a context manager; subclass it and override the reports."""
    def report_memory_usage(self, address: int, nbytes: int, total_allocated: int, device: Device) -> None:
        """Take one event: `nbytes` bytes were allocated at `address`, or freed if negative."""
    def report_out_of_memory(self, nbytes: int, total_allocated: int, device: Device) -> None:
        """Take one failure: `nbytes` bytes could not be allocated."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...

def memory_allocated(device: str | Device = "cpu") -> int: """Return how many bytes are in use."""
def max_memory_allocated(device: str | Device = "cpu") -> int:
    """Return the most bytes that were in use at one time, since the process began or `reset_peak_memory_stats`."""
def reset_peak_memory_stats(device: str | Device = "cpu") -> None: """Let the peak begin again at what is in use now."""
