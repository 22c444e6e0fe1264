"""The resident memory of the process over time: all that has pages, blocks or not."""

import re
import sys
import time
from importlib import import_module

from tensix.memory.background_thread import BackgroundThread
from tensix.memory.caching_allocator import cached_bytes

__all__ = ["ResidentMemory"]

DEFAULT_INTERVAL = 0.02  # seconds
# Nanoseconds from the start; bytes that are resident, that caches keep, that the recording takes.
COLUMNS = ("time_ns", "nbytes", "cached", "recording")
MOST_SAMPLES = 4096


class ResidentMemory:
    """Sample how much of the process is in main memory, in a thread, from `start` to `stop`.

    Parameters
    ----------
    interval : float or True
        Seconds between samples; True means `DEFAULT_INTERVAL`.
    recording_bytes : callable
        Returns the bytes that the recording takes itself.

    Notes
    -----
    Linux tells the highest value so far, too: a peak between two samples stands in the later one. Other systems that
    have `resource` tell nothing else, so there the line never falls. Elsewhere there are no samples.

    The samples are bounded: of two that stand next to each other the larger is kept, as often as necessary.
    """

    def __init__(self, interval, recording_bytes):
        if interval is True:
            interval = DEFAULT_INTERVAL
        if not interval > 0:
            raise ValueError(f"resident memory is sampled every so many seconds, more than 0; found {interval}.")
        self.interval = interval
        self.recording_bytes = recording_bytes
        self.rows = []  # a tuple of COLUMNS each; exchanged as a whole
        self.count, self.per_row = 0, 1
        self.highest = 0
        self.thread = None

    def start(self):
        """Begin with the first sample."""
        self.started_ns = time.monotonic_ns()
        found = resident_nbytes()
        if found is not None:
            self.highest = found[1]  # before the start, which is not shown
            pause = self.take()
            self.thread = BackgroundThread("tensix resident memory", self.take, pause, in_child=True).start()
        return self

    def stop(self):
        """End with a last sample."""
        if self.thread is not None:
            self.thread.end()
            self.thread = None
            self.rows.append(self.sample())

    def take(self):
        """Take one sample, and return the seconds until the next."""
        row = self.sample()
        self.highest = max(self.highest, row[1])
        if self.count % self.per_row == 0:
            self.rows.append(row)
        elif row[1] > self.rows[-1][1]:
            self.rows[-1] = row
        self.count += 1
        if len(self.rows) == MOST_SAMPLES:
            pairs = zip(self.rows[::2], self.rows[1::2], strict=True)
            self.rows = [max(pair, key=lambda row: row[1]) for pair in pairs]
            self.per_row *= 2
        return self.interval

    def sample(self):
        """Return a row; what is resident is the highest since the last sample, if that is the highest of all."""
        now, highest = resident_nbytes()
        nbytes = highest if highest > self.highest else now
        return time.monotonic_ns() - self.started_ns, nbytes, cached_bytes(), self.recording_bytes()

    def rows_until_now(self):
        """Return the samples, with one of this moment if they go on."""
        return [*self.rows, self.sample()] if self.thread is not None else self.rows

    def columns(self):
        """Return the samples up to now as a snapshot has them."""
        rows = self.rows_until_now()
        return {name: [row[position] for row in rows] for position, name in enumerate(COLUMNS)}


def resident_nbytes():
    """Return the bytes that are resident now and the most that ever were; None where no one tells."""
    try:
        with open("/proc/self/status", "rb", buffering=0) as file:
            highest, now = re.findall(rb"^Vm(?:HWM|RSS):\s+(\d+) kB", file.read(), re.MULTILINE)
        return int(now) << 10, int(highest) << 10
    except (OSError, ValueError):
        pass
    try:
        resource = import_module("resource")
    except ImportError:  # Windows
        return None
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return highest, highest
