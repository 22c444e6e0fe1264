"""The workers of a Dask cluster, each of which records its tasks.

Note [Tasks of Dask]
~~~~~~~~~~~~~~~~~~~~
A worker executes each task in a coroutine of its own, `Worker.execute`, which runs the task's function itself or in a
thread to which it hands its context. So a context variable that is set around it says which task allocates, in every
thread, and a key that was spilled counts for the task that reads it.
"""

import time

from distributed import Worker, WorkerPlugin
from distributed.utils import key_split
from tornado.ioloop import PeriodicCallback

from tensix.core import get_allocator
from tensix.memory.counters import caches_of
from tensix.profiling.recorder import task
from tensix.profiling.worker_recording import OPEN, Reports, WorkerRecording

__all__ = ["RecordTasks", "Workers", "name_tasks"]

PAUSE_MS = 1000  # between two reports
PAUSE_PER_COST = 50
PRESSURE = 0.6  # the share of a worker's memory limit from which on freed blocks are given back
EXECUTE = Worker.execute


async def execute_task(self, key, *, stimulus_id):
    """Execute a task of a worker."""
    with task(key, key_split(key)):
        return await EXECUTE(self, key, stimulus_id=stimulus_id)


def name_tasks():
    """Have the workers of this process name their tasks from now on. See Note [Tasks of Dask]."""
    Worker.execute = execute_task


class RecordTasks(WorkerPlugin):
    """Record a worker; its memory limit bounds what is kept of freed blocks.

    Parameters
    ----------
    name : str
        Of the recording.
    settings : dict
        Of `WorkerRecording`.
    """

    def __init__(self, name, settings):
        self.name, self.settings, self.recording = name, settings, None

    def setup(self, worker):
        """Begin."""
        self.worker = worker
        self.memory_limit = worker.memory_manager.memory_limit
        name = f"worker {worker.name} at {worker.address}"
        self.recording = WorkerRecording.open(self.name, self.settings, self.memory_limit, name)
        name_tasks()
        self.reports = PeriodicCallback(self.report, PAUSE_MS)
        self.reports.start()

    def teardown(self, worker):
        """End, after a last report; harmless if it could not begin."""
        if self.recording is not None:
            self.reports.stop()
            self.report()
            self.recording.close(self.name)

    def report(self):
        """Report, and give back what is kept where memory is short."""
        began = time.perf_counter()
        self.worker.log_event(self.name, self.recording.report())
        self.reports.callback_time = max(PAUSE_MS, PAUSE_PER_COST * 1000 * (time.perf_counter() - began))
        if self.memory_limit and self.worker.monitor.get_process_memory() > PRESSURE * self.memory_limit:
            for cache in caches_of(get_allocator()):
                cache.trim()


def call(name, method, *args):
    """Return what a method of a recording returns, with the process that it is of."""
    recording = OPEN.get(name)
    return recording and (recording.facts(), getattr(recording, method)(*args))


class Workers:
    """The workers of a client's cluster, of now and later."""

    def __init__(self, client, name, settings):
        if client.asynchronous:
            raise TypeError("record() needs a Client that is not asynchronous: its methods wait for the workers.")
        self.client, self.name, self.settings, self.reported = client, name, settings, Reports()

    def start(self):
        """Begin a recording on each."""
        self.client.subscribe_topic(self.name, lambda event: self.reported.take(event[1]))
        results = self.client.register_plugin(RecordTasks(self.name, self.settings))
        for result in results.values():
            if result.get("status") == "error":
                self.stop()
                raise result["exception"].data if hasattr(result["exception"], "data") else result["exception"]

    def stop(self):
        """End them."""
        self.client.unregister_worker_plugin(self.name)
        self.client.unsubscribe_topic(self.name)

    def call(self, method, *args):
        """Return for each process that is there which it is and what a method of its recording returns."""
        answers = self.client.run(call, self.name, method, *args, on_error="ignore")
        return [answer for answer in answers.values() if answer]

    def reports(self):
        """Return the last report of each worker that there ever was, and the peaks of their tasks."""
        return [*self.reported.latest.values()], self.reported.peaks.copy()
