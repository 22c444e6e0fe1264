"""Storages and their handles."""

from copy import copy

from tensix.core import Storage

from .native import loops

KIB, MIB = 1 << 10, 1 << 20


def touched(nbytes, **options):
    """Return a storage whose pages are all there."""
    storage = Storage(nbytes, **options)
    loops.touch(storage.mutable_data_ptr(), nbytes)
    return storage


class Handle:
    """What does not depend on the size."""

    def setup(self):
        self.storage = touched(64)

    def time_make_destroy_empty(self):
        Storage()

    def time_copy_destroy(self):
        copy(self.storage)

    def time_weak_copy_destroy(self):
        self.storage.weak()

    def time_data_ptr(self):
        self.storage.data_ptr()

    def time_mutable_data_ptr(self):
        self.storage.mutable_data_ptr()


class Bytes:
    """What moves bytes."""

    params = (64, 64 * KIB, 4 * MIB)  # only bookkeeping; within the L2 cache; beyond it
    param_names = ("nbytes",)

    def setup(self, nbytes):
        self.storage = touched(nbytes, resizable=True)
        self.time_clone(nbytes)

    def time_clone(self, nbytes):
        self.storage.clone()

    def time_resize_there_and_back(self, nbytes):
        self.storage.resize_(2 * nbytes)
        self.storage.resize_(nbytes)
