"""What an adaptor adds to an allocation and its free; the plain one does nothing but hand on."""

from tensix.core import Storage
from tensix.memory import (
    Adaptor,
    AlignmentAdaptor,
    CachingAllocator,
    GuardAdaptor,
    LimitingAdaptor,
    StatisticsAdaptor,
    TrackingAdaptor,
)

NBYTES = 1024

ADAPTORS = {
    "none": lambda upstream: upstream,
    "plain": Adaptor,
    "alignment": lambda upstream: AlignmentAdaptor(upstream, 4096),
    "guard": GuardAdaptor,
    "limiting": lambda upstream: LimitingAdaptor(upstream, "1GiB"),
    "statistics": StatisticsAdaptor,
    "tracking": TrackingAdaptor,
    "limiting over guard": lambda upstream: LimitingAdaptor(GuardAdaptor(upstream), "1GiB"),
}


class Adapted:
    """One block at a time, so that the cache below always has it."""

    params = tuple(ADAPTORS)
    param_names = ("adaptor",)

    def setup(self, adaptor):
        self.allocator = ADAPTORS[adaptor](CachingAllocator())
        Storage(NBYTES, self.allocator)

    def time_allocate_free(self, adaptor):
        Storage(NBYTES, self.allocator)
