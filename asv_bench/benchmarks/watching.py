"""What it costs to be seen: small blocks come and go while somebody counts, profiles or records them."""

from functools import partial
from timeit import Timer

import tensix
from tensix.core import Storage
from tensix.memory import CallSites, profile, record, statistics

SCOPES = (  # name, nanoseconds that it may add to an allocation and its free, how to open it
    ("statistics", 10.0, statistics),
    ("profile", 2000.0, partial(profile, quiet=True)),
    ("record", 2000.0, record),
)
ALLOCATE = Timer("Storage(64)", globals={"Storage": Storage})


def allocate_inside(scope, times):
    """Allocate and free in a scope, so many times."""
    with scope():
        ALLOCATE.timeit(times)


def nested(depth, work, times):
    """Do a work from so many frames further in."""
    return work(times) if depth == 0 else nested(depth - 1, work, times)


class Watched:
    """The name off is that of no watcher."""

    params = ("off", *(name for name, _, _ in SCOPES))
    param_names = ("watcher",)

    def setup(self, watcher):
        scopes = {name: scope for name, _, scope in SCOPES}
        self.scope = scopes[watcher]().__enter__() if watcher in scopes else None

    def teardown(self, watcher):
        if self.scope is not None:
            self.scope.__exit__(None, None, None)

    def time_allocate_free(self, watcher):
        Storage(64)


class WatchedOperators(Watched):
    """A recording sees the uses of blocks too."""

    params = ("off", "record")

    def setup(self, watcher):
        super().setup(watcher)
        self.x, self.y = tensix.ones(3, 4), tensix.ones(3, 4)

    def time_add(self, watcher):
        self.x + self.y

    def time_add_in_place(self, watcher):
        self.x.add_(self.y)


class Stacks:
    params = (0, 10, 30)
    param_names = ("depth",)

    def setup(self, depth):
        self.sites = CallSites()

    def time_capture(self, depth):
        nested(depth, lambda _: self.sites.capture(), 0)


class Snapshots:
    def setup(self):
        with record() as self.recording:
            for _ in range(100_000):
                Storage(8)

    def time_of_100_000_blocks(self):
        self.recording.snapshot()
