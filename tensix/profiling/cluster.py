"""One recording of all workers of a cluster, for code that has its client."""

import os
import types
from importlib import import_module

from tensix.profiling.snapshot_file import Snapshot
from tensix.profiling.worker_recording import WorkerRecording, process_of, snapshot_of_report

__all__ = ["record"]

ENGINES = {"distributed": "tensix.profiling.dask_workers", "ray": "tensix.profiling.ray_workers"}


class record:  # noqa: N801 - it reads as what it does
    """Record what each task of a cluster allocates, on all its workers.

    Parameters
    ----------
    client : distributed.Client or the module ray
        The client of the cluster, or Ray.
    limit : int or str, optional
        The limit of the arrays of a worker process: bytes, such as ``"2GiB"``, or a share of the worker's own memory
        limit, such as ``"80%"``. A task that exceeds it fails with `MemoryError`, whose text names the lines that
        hold most; the worker continues, and the retries of the task apply.
    depth, max_events, through : optional
        As for `tensix.memory.record`; for each process.

    Raises
    ------
    TypeError
        If `client` is neither a client nor Ray, or is an asynchronous client.
    ValueError
        If the limit is not a size, or is a share and a worker has no memory limit.

    Notes
    -----
    Use it as a context manager; results are available inside and afterwards. Meanwhile tensix allocates NumPy arrays
    and PyTorch's CPU tensors, in the workers and in this process. Workers that join later are recorded too.

    The peak of a task is the largest sum of the blocks that it allocated: without its arguments, which are blocks of
    other tasks or, if they were received or read from disk, of no task. It is exact whichever threads allocate and
    free. Blocks that are still allocated when a task ends continue to count for it.

    Lifetime: no worker is kept alive. Each reports about once a second; if it is killed, its last report is shown.

    Thread-safety: one thread at a time.

    Examples
    --------
    ::

        from distributed import Client
        client = Client()
        with tensix.memory.cluster.record(client, limit="80%") as recording:
            work(client)
        recording.peaks()
        recording.save("page.html")
    """

    def __init__(self, client, limit=None, *, depth=32, max_events=1_000_000, through=None):
        name = client.__name__ if isinstance(client, types.ModuleType) else type(client).__module__
        engine = ENGINES.get(name.partition(".")[0])
        if engine is None:
            raise TypeError(f"record() needs a distributed.Client or the module ray, found {type(client).__name__}.")
        self.name = f"tensix-{os.urandom(8).hex()}"
        self.options = {"depth": depth, "max_events": max_events, "through": through}
        self.workers = import_module(engine).Workers(client, self.name, {"limit": limit, "options": self.options})
        self.here = self.collected = None

    def __enter__(self):
        if self.here is not None:
            raise RuntimeError("a cluster is recorded once: call record() again for another recording.")
        self.workers.start()  # first: a worker that is this process sets the limit
        self.here = WorkerRecording.open(self.name, {"limit": None, "options": self.options})
        return self

    def __exit__(self, *exc_info):
        try:
            self.collected = self._peaks(), self._snapshot(holders=False), self._lost()
        finally:
            self.here.close(self.name)
            self.workers.stop()

    def peaks(self):
        """Return the most bytes that the blocks of each task took at one time.

        Returns
        -------
        dict
            From the key of a task to bytes; the largest value if it ran more than once.
        """
        return self._result(0, self._peaks)

    def snapshot(self, *, holders=True):
        """Return what all processes recorded: this one, with the workers as its other processes.

        Parameters
        ----------
        holders : bool, optional
            Find what refers to the live blocks; not possible after the recording has ended.

        Returns
        -------
        Snapshot
            ``"tasks"`` of a process has for each task its key, its peak, and the bytes still allocated when it ended.
        """
        return self._result(1, self._snapshot, holders)

    def save(self, path):
        """Write the page, or the snapshot.

        Parameters
        ----------
        path : str or path-like
            As of `Snapshot.save`.
        """
        self.snapshot().save(path)

    def lost(self):
        """Return the last reports of workers that no longer exist, such as those that were killed.

        Returns
        -------
        list of dict
            With ``"name"``, ``"pid"``, ``"held"``: the allocated bytes, and ``"lines"``: the lines that hold most, as
            bytes, file, line and function.
        """
        return self._result(2, self._lost)

    def _result(self, number, find, *arguments):
        if self.here is None:
            raise RuntimeError("the recording was not started: use it as a context manager.")
        return self.collected[number] if self.collected else find(*arguments)

    def _peaks(self):
        found = {**self.workers.reports().peaks}
        for tasks in [self.here.peaks(), *(tasks for _, tasks in self.workers.call("peaks"))]:
            for key, peak in tasks:
                found[key] = max(peak, found.get(key, 0))
        return found

    def _lost(self):
        there = {process_of(facts) for facts, _ in self.workers.call("facts")} | {process_of(self.here.facts())}
        return [one for one in [*self.workers.reports().latest.values()] if process_of(one) not in there]

    def _snapshot(self, holders):
        main = self.here.snapshot(holders)
        others = {process_of(facts): one | {"ended": True} for facts, one in self.workers.call("snapshot", holders)}
        others |= {process_of(report): snapshot_of_report(report) for report in self._lost()}
        others.pop(process_of(main), None)
        began = main.pop("started_ns")
        for one in others.values():
            one["offset_ns"] = max(one.pop("started_ns") - began, 0)
        if others:
            main["processes"] = [*others.values()]
        return Snapshot(main)

    def __repr__(self):
        state = "not started" if self.here is None else "running" if self.collected is None else "stopped"
        client = self.workers.client
        return f"record({getattr(client, '__name__', type(client).__name__)}, {state})"
