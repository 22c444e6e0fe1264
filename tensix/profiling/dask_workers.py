"""The workers of a Dask cluster, each of which records its tasks.

Note [Tasks of Dask]
~~~~~~~~~~~~~~~~~~~~
A worker executes each task in a coroutine of its own, `Worker.execute`, which runs the task's function itself or in a
thread to which it hands its context. So a context variable that is set around it says which task allocates, in every
thread, and a key that was spilled counts for the task that reads it.

A `WorkerPlugin` cannot set it: its `transition` runs before the coroutine is made, once for all tasks that begin
together, and the worker's executors see no coroutines and nothing of what was spilled. So each worker object, not the
class, has an attribute ``execute`` over its method as long as one of these plugins is there.
"""

import functools
import time

from distributed import WorkerPlugin
from distributed.utils import key_split
from tornado.ioloop import PeriodicCallback

from tensix.core import get_allocator
from tensix.memory.caching_allocator import caches_of
from tensix.profiling.recorder import task
from tensix.profiling.worker_recording import OPEN, Reports, WorkerRecording

__all__ = ["NameTasks", "RecordTasks", "Workers", "dask_setup"]

PAUSE_MS = 1000  # between two reports
PAUSE_PER_COST = 50
PRESSURE = 0.6  # the share of a worker's memory limit from which on freed blocks are given back


async def execute_task(worker, key, *, stimulus_id):
    """Execute a task of a worker."""
    with task(key, key_split(key)):
        return await type(worker).execute(worker, key, stimulus_id=stimulus_id)


class NameTasks(WorkerPlugin):
    """Name the tasks of a worker. See Note [Tasks of Dask]."""

    name = "tensix-name-tasks"

    def setup(self, worker):
        """Begin."""
        worker.execute = functools.partial(execute_task, worker)

    def teardown(self, worker):
        """End, with the last that names them."""
        if not any(isinstance(plugin, NameTasks) for plugin in worker.plugins.values()):
            vars(worker).pop("execute", None)


async def dask_setup(worker):
    """Name the tasks of a worker that has this module among its preloads."""
    await worker.plugin_add(plugin=NameTasks())


class RecordTasks(NameTasks):
    """Record a worker, with settings of `WorkerRecording`; its memory limit bounds what is kept of freed blocks."""

    def __init__(self, name, settings):
        self.name, self.settings, self.recording = name, settings, None

    def setup(self, worker):
        """Begin."""
        self.worker = worker
        self.memory_limit = worker.memory_manager.memory_limit
        self.recording = WorkerRecording.open(self.name, self.settings, self.memory_limit)
        self.recording.workers.append(f"worker {worker.name} at {worker.address}")
        super().setup(worker)
        self.reports = PeriodicCallback(self.report, PAUSE_MS)
        self.reports.start()

    def teardown(self, worker):
        """End, after a last report; harmless if it could not begin."""
        super().teardown(worker)
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
        try:
            self.client.register_plugin(RecordTasks(self.name, self.settings))
        except BaseException:  # of a worker's setup, for example
            self.stop()
            raise

    def stop(self):
        """End them."""
        self.client.unregister_worker_plugin(self.name)
        self.client.unsubscribe_topic(self.name)

    def call(self, method, *args):
        """Return for each process that is there which it is and what a method of its recording returns."""
        answers = self.client.run(call, self.name, method, *args, on_error="ignore")
        return [answer for answer in answers.values() if answer]

    def reports(self):
        """Return what all workers that there ever were reported."""
        return self.reported
