"""Strong and weak counts: through Python's handles, and from C without the GIL, where tensors are read as well."""

from concurrent.futures import ThreadPoolExecutor

import tensix
from tensix.core import IntrusiveTarget, WeakIntrusivePtr, make_intrusive

from .native import loops


class Handles:
    """One handle made and destroyed per call, from Python."""

    def setup(self):
        self.strong = make_intrusive(IntrusiveTarget)
        self.weak = WeakIntrusivePtr(self.strong)

    def time_strong_copy_destroy(self):
        self.strong.copy()

    def time_weak_copy_destroy(self):
        self.weak.copy()

    def time_lock(self):
        self.weak.lock()

    def time_make_destroy(self):
        make_intrusive(IntrusiveTarget)


class Loops:
    """The same from C, many times per call."""

    TIMES = 100_000  # per call: well above what the call itself costs

    def setup(self):
        self.strong = make_intrusive(IntrusiveTarget)

    def time_incref_decref(self):
        loops.incref_decref(self.strong.get(), self.TIMES)

    def time_lock_decref(self):
        loops.lock_decref(self.strong.get(), self.TIMES)

    def time_make_destroy(self):
        loops.make_destroy(self.TIMES)


class Elements:
    """What other people's loops ask of a tensor before they touch its elements."""

    TIMES = 100_000

    def setup(self):
        self.tensor = tensix.ones(3, 4)

    def time_address_size_stride(self):
        loops.look_at_tensor(self.tensor, self.TIMES)


class Threads:
    """Counting in several threads at once; each does all the work, so that perfect scaling is a constant time."""

    params = ((1, 2, 4), ("own target", "one target"))  # without and with threads fighting for the cache line
    param_names = ("threads", "counting on")
    TIMES = 1_000_000  # per thread: milliseconds, against the microseconds of waking a thread
    STRIDE = 8  # of neighbouring objects only every eighth is used: no two share a cache line

    def setup(self, threads, counting_on):
        self.strong = [make_intrusive(IntrusiveTarget) for _ in range(threads * self.STRIDE)]
        step = self.STRIDE if counting_on == "own target" else 0
        self.targets = [self.strong[i * step].get() for i in range(threads)]
        self.pool = ThreadPoolExecutor(threads)
        self.time_incref_decref(threads, counting_on)  # starts the threads

    def teardown(self, threads, counting_on):
        self.pool.shutdown()

    def time_incref_decref(self, threads, counting_on):
        list(self.pool.map(loops.incref_decref, self.targets, [self.TIMES] * threads))
