"""Lazy clones: sharing, the copy at the first write, and the last owner's way around it."""

from .storage import KIB, MIB, touched

# Sharing must cost the same at every size, so the largest is one that could not be copied unnoticed.
SHARED_SIZES = (64, 64 * KIB, 4 * MIB, 64 * MIB)
COPIED_SIZES = (64, 64 * KIB, 4 * MIB)  # only bookkeeping; within the L2 cache; beyond it


class Share:
    params = SHARED_SIZES
    param_names = ("nbytes",)

    def setup(self, nbytes):
        self.storage = touched(nbytes)
        self.storage.lazy_clone()  # the first one wraps the block in a counted context

    def time_lazy_clone(self, nbytes):
        self.storage.lazy_clone()

    def time_steal_by_last_owner(self, nbytes):
        """Wrap the block, drop the other sharer, and take the block back without copying."""
        self.storage.lazy_clone()
        self.storage.mutable_data_ptr()


class Copy:
    params = COPIED_SIZES
    param_names = ("nbytes",)

    def setup(self, nbytes):
        self.storage = touched(nbytes)
        self.time_materialize_by_copy(nbytes)  # the heap has grown: no fault of a first use is timed

    def time_materialize_by_copy(self, nbytes):
        self.storage.lazy_clone().mutable_data_ptr()
