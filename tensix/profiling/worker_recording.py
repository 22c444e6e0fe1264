"""Record one process of a cluster, and report while it runs.

Note [Reports of workers]
~~~~~~~~~~~~~~~~~~~~~~~~~
A worker may be killed at any moment, on another machine. So each worker reports about once a second what it holds, by
line, and the peaks of the tasks that ended since its last report. It sends its whole recording, which is large, on
request. If a worker no longer exists, its last report is used.
"""

import contextlib
import heapq
import os
import threading
import time

from tensix._support.format_size import parse_size
from tensix.core import get_allocator, set_allocator
from tensix.memory.adaptors import LimitingAdaptor
from tensix.memory.caching_allocator import caches_of
from tensix.memory.numpy_scope import serve_numpy
from tensix.memory.torch_scope import TorchWhenImported
from tensix.profiling.recorder import record
from tensix.profiling.snapshot_file import FORMAT, VERSION

__all__ = ["Reports", "WorkerRecording", "process_of", "snapshot_of_report"]

SHARE_KEPT = 16  # a part of the worker's memory limit that freed blocks may take
MOST_LINES = 32  # of a report
OPEN: dict[str, "WorkerRecording"] = {}  # by the names of recordings
LOCK = threading.Lock()


class WorkerRecording:
    """What is recorded in this process; workers that share the process share it.

    Settings are the ``"limit"`` of arrays, and ``"options"`` of `tensix.memory.record`; `memory_limit` is the worker's
    own, in bytes, or None.
    """

    def __init__(self, settings, memory_limit):
        self.users, self.workers = 0, []
        self.sent, self.unfinished = 0, set()  # positions of tasks: those before are reported, except these
        with contextlib.ExitStack() as scopes:
            scopes.enter_context(allocator_within(settings["limit"], memory_limit))
            scopes.enter_context(serve_numpy())
            scopes.enter_context(TorchWhenImported())
            self.started_ns = time.time_ns()
            self.recording = scopes.enter_context(record(**settings["options"]))
            self.scopes = scopes.pop_all()

    @classmethod
    def open(cls, name, settings, memory_limit=None):
        """Return the recording of a name, begun if there is none here; parameters as for `WorkerRecording`."""
        with LOCK:
            found = OPEN.get(name)
            if found is None:
                found = OPEN[name] = cls(settings, memory_limit)
            found.users += 1
            return found

    def close(self, name):
        """End it, if nothing else in this process has opened it."""
        with LOCK:
            self.users -= 1
            if not self.users:
                del OPEN[name]
                self.scopes.close()

    def report(self):
        """Return what this process holds, and tasks that ended since the last report. See Note [Reports of workers]."""
        held = self.recording._held_by_line()
        tasks = self.recording._tasks(self.sent, sorted(self.unfinished))
        running = {position for position, (one, *_) in tasks if one.ended_ns is None}
        self.sent, self.unfinished = max([self.sent, *(position + 1 for position, _ in tasks)]), running
        most = heapq.nlargest(MOST_LINES, [(nbytes, *frame) for frame, nbytes in held.items() if nbytes])
        return self.facts() | {
            "time_ns": time.time_ns(),
            "held": sum(held.values()),
            "lines": most,
            "peaks": [(one.key, peak) for _, (one, _, peak) in tasks],
        }

    def facts(self):
        """Return which process this is."""
        return {"pid": os.getpid(), "started_ns": self.started_ns, "name": ", ".join(self.workers)}

    def peaks(self):
        """Return the key and the peak of each task."""
        return [(one.key, peak) for _, (one, _, peak) in self.recording._tasks()]

    def snapshot(self, holders):
        """Return a snapshot of this process."""
        return self.recording.snapshot(holders=holders) | self.facts()


class Reports:
    """What workers reported: the last report of each, and the peaks of their tasks."""

    def __init__(self):
        self.latest, self.peaks = {}, {}

    def take(self, report):
        """Take a report of a worker."""
        self.latest[process_of(report)] = report
        for key, peak in report["peaks"]:
            self.peaks[key] = max(peak, self.peaks.get(key, 0))


def process_of(facts):
    """Return what tells a recorded process apart from those of other machines."""
    return facts["pid"], facts["started_ns"]


@contextlib.contextmanager
def allocator_within(limit, memory_limit):
    """Have arrays stay below a limit, and freed blocks below a part of the worker's."""
    before = get_allocator()
    caches = [(cache, cache.max_cached) for cache in caches_of(before)]
    if memory_limit is not None:
        for cache, most in caches:
            cache.max_cached = min(most, memory_limit // SHARE_KEPT)
    if limit is not None:  # over the cache: what that keeps is not in use
        set_allocator("cpu", LimitingAdaptor(before, bytes_of_limit(limit, memory_limit)))
    try:
        yield
    finally:
        set_allocator("cpu", before)
        for cache, most in caches:
            cache.max_cached = most


def bytes_of_limit(limit, memory_limit):
    """Return the bytes of a limit, which may be a share of the worker's; ValueError if that has none."""
    if not (isinstance(limit, str) and limit.rstrip().endswith("%")):
        return parse_size(limit)
    share = float(limit.rstrip()[:-1]) / 100
    if not 0 < share <= 1:
        raise ValueError(f"limit must be a size, or a share above 0 % and up to 100 %, found {limit!r}.")
    if memory_limit is None:
        raise ValueError(f"limit {limit!r} is a share of the worker's memory limit, but there is none: give a size.")
    return int(share * memory_limit)


def snapshot_of_report(report):
    """Return a snapshot of what a process held when it reported last: a block for each line."""
    lines = report["lines"]
    began = max(report["time_ns"] - report["started_ns"], 0)
    count = len(lines)
    frames = [{"file": file, "line": line, "function": function} for _, file, line, function in lines]
    return {name: report[name] for name in ("pid", "name", "started_ns")} | {
        "ended": False, "format": FORMAT, "version": VERSION, "tensix": "", "program": report["name"], "started": "",
        "duration_ns": began, "dropped": 0, "copies": [], "failures": [], "frames": frames,
        "stacks": [[number] for number in range(count)], "call_sites": [*range(count)], "allocators": ["?"],
        "threads": ["?"], "holders": [], "blocks": {
            "address": [0] * count, "nbytes": [line[0] for line in lines], "allocated_ns": [began] * count,
            "freed_ns": [None] * count, "stack": [*range(count)], "thread": [0] * count, "allocator": [0] * count,
        },
    }  # fmt: skip
