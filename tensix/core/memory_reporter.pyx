"""Reports of every allocation, free and failure, from all threads, to whoever listens.

With nobody listening a report costs one load and one branch. The facts are those of PyTorch's
``c10/core/Allocator.h``, whose process-wide reporter (the per-thread one missed worker threads) is the one kept.
"""
from libc.stdint cimport int8_t, int64_t, uintptr_t
from tensix.core.device cimport Device_get
from tensix.core.python_reference cimport may_run_python

__all__ = ["MemoryReporter"]

cdef extern from *:
    """
    #if defined(_MSC_VER) && !defined(__clang__)
    static __declspec(thread) int tx_inside_report = 0;
    #else
    static _Thread_local int tx_inside_report = 0;
    #endif
    """
    int tx_inside_report  # a reporter that allocates is not told about its own allocations

cdef tuple LISTENERS = ()  # replaced whole under the GIL, so that a report walks over one state of it
reporter_count = 0


cdef class MemoryReporter:
    """Listen to allocations while used as a context manager; subclass it and override the reports.

    Notes
    -----
    Thread-safety: reports come from whatever thread allocates or frees, with the GIL held and before the next
    thing happens there. What a report raises goes to `sys.unraisablehook`. Allocations made inside a report are
    not reported.

    Examples
    --------
    >>> from tensix.core import MemoryReporter, Storage
    >>> class Printer(MemoryReporter):
    ...     def report_memory_usage(self, address, nbytes, total_allocated, device):
    ...         print(nbytes)
    >>> with Printer():
    ...     Storage(100).reset()
    100
    -100
    """

    def report_memory_usage(self, address, nbytes, total_allocated, device):
        """Take one event: `nbytes` bytes were allocated at `address`, or freed if negative.

        Parameters
        ----------
        address : int
            Of the block; when freed, it is still mapped but about to go.
        nbytes : int
            Positive for an allocation, negative for a free; never 0.
        total_allocated : int
            Bytes that the allocators of this device type had given out just after the event.
        device : Device
            Where the block is.
        """

    def report_out_of_memory(self, nbytes, total_allocated, device):
        """Take one failure: `nbytes` bytes could not be had.

        Parameters
        ----------
        nbytes : int
            Bytes asked for.
        total_allocated : int
            Bytes that the allocators of this device type had given out then.
        device : Device
            Where the block was to be.
        """

    def __enter__(self):
        global LISTENERS, reporter_count
        LISTENERS = LISTENERS + (self,)
        reporter_count = len(LISTENERS)
        return self

    def __exit__(self, *exc_info):
        global LISTENERS, reporter_count
        remaining = list(LISTENERS)
        for position in reversed(range(len(remaining))):
            if remaining[position] is self:
                del remaining[position]
                break
        LISTENERS = tuple(remaining)
        reporter_count = len(LISTENERS)


cdef void report_memory_usage(void* data, int64_t nbytes, int64_t total, int8_t device_type) noexcept nogil:
    """Tell every listener; callers look at `reporter_count` first."""
    if may_run_python():
        with gil:
            tell_all("report_memory_usage", (<uintptr_t>data, nbytes, total, Device_get(device_type, -1)))


cdef void report_out_of_memory(size_t nbytes, int64_t total, int8_t device_type) noexcept nogil:
    if may_run_python():
        with gil:
            tell_all("report_out_of_memory", (nbytes, total, Device_get(device_type, -1)))


cdef int tell_all(str report, tuple facts) noexcept:
    global tx_inside_report
    if tx_inside_report:
        return 0
    tx_inside_report = 1
    for listener in LISTENERS:
        tell(listener, report, facts)
    tx_inside_report = 0
    return 0


cdef int tell(MemoryReporter listener, str report, tuple facts) noexcept:
    getattr(listener, report)(*facts)  # noexcept: Cython hands what it raises to sys.unraisablehook
    return 0
