"""Blocks of the default allocator that come and go at one size, as a program's temporaries do."""

import threading

from tensix.core import Storage

from .native import loops

KIB, MIB = 1 << 10, 1 << 20

SIZES = (
    64,  # the smallest aligned block: all cost is bookkeeping
    1 * KIB,  # about where glibc's thread cache and NumPy's small-block cache end
    64 * KIB,  # fits the L2 cache; the largest power of two here below glibc's first mmap threshold of 128 KiB
    1 * MIB,  # mapped on first use; glibc then raises its threshold and later blocks come from the heap
    4 * MIB,  # from here NumPy asks for huge pages, two of them
    32 * MIB,  # where glibc's mmap threshold stops rising: from here each block is mapped and faulted in each time
    64 * MIB,  # as above, and larger than most caches
)


class Recurring:
    """The setup uses a block once, so that the heap has grown: faults after that are the allocator's doing."""

    params = SIZES
    param_names = ("nbytes",)

    def setup(self, nbytes):
        self.time_allocate_touch_free(nbytes)

    def time_allocate_free(self, nbytes):
        Storage(nbytes)

    def time_allocate_touch_free(self, nbytes):
        storage = Storage(nbytes)  # has a name, so that it is still alive when touched
        loops.touch(storage.mutable_data_ptr(), nbytes)


class WithoutGil:
    """Blocks of threads that have released the GIL, and those of the C library."""

    TIMES = 20_000
    params = (SIZES[:4], (1, 2), ("tensix", "malloc"))
    param_names = ("nbytes", "threads", "memory")

    def time_allocate_free(self, nbytes, threads, memory):
        loop = loops.malloc_free if memory == "malloc" else loops.allocate_free_without_gil
        workers = [threading.Thread(target=loop, args=(nbytes, self.TIMES)) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
