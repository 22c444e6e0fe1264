"""The workers of Ray, each of which records its tasks.

Note [Tasks of Ray]
~~~~~~~~~~~~~~~~~~~
Ray has no place for what is to run around a task: a setup hook of workers and tracing must be asked for when Ray
begins, and a hook knows no tasks. So while a recording runs, what submits a task and what creates an actor are
replaced, in this process and in workers that are recorded. They submit a function, and a class with methods, that begin
the recording of their worker, if it is the first there, and name the task. Generators, and actors that were there
before, are not recorded.

Workers cannot be asked. They report to an actor, and find there what is asked: Note [Reports of workers] in
``worker_recording.py``.
"""

import contextlib
import functools
import inspect
import os
import time
import weakref

import ray
from ray.actor import ActorClass
from ray.remote_function import RemoteFunction

from tensix.memory.background_thread import BackgroundThread
from tensix.profiling.recorder import CURRENT_TASK, task
from tensix.profiling.worker_recording import OPEN, Reports, WorkerRecording, bytes_of_limit, process_of

__all__ = ["Workers"]

SUBMIT, CREATE = RemoteFunction._remote, ActorClass._remote
PAUSE = 0.5  # seconds between two reports
PATIENCE = 3.0  # seconds for an answer of a worker that runs


class Collector:
    """The actor to which workers report."""

    def __init__(self):
        self.reported, self.number, self.question, self.answers, self.seen = Reports(), 0, None, {}, {}

    def report(self, report, number, answer):
        """Take a report with the answer to a question, and return the question of now, with its number."""
        worker = process_of(report)
        self.reported.take(report)
        self.seen[worker] = time.monotonic()
        if number == self.number:
            self.answers.setdefault(worker, (report, answer))
        return self.number, self.question

    def ask(self, question):
        """Begin a question; None ends the recordings."""
        self.number, self.question, self.answers = self.number + 1, question, {}

    def answered(self):
        """Return the answers, and how many workers that reported lately have not answered."""
        recent = {worker for worker, moment in self.seen.items() if time.monotonic() - moment < PATIENCE}
        return [*self.answers.values()], len(recent - self.answers.keys())

    def reports(self):
        """Return what all workers that there ever were reported."""
        return self.reported


class Substitutes:
    """What is submitted in place of remote functions and classes, while it is open. See Note [Tasks of Ray]."""

    def __init__(self, name, settings):
        self.name, self.settings = name, settings
        self.found = weakref.WeakKeyDictionary()

    def open(self):
        """Begin."""

        def submit(function, *args, **options):
            if not is_generator(function._function):
                function = self.of(function, lambda: self.recorded(function._function), ("max_calls",))
            return SUBMIT(function, *args, **options)

        def create(actor, *args, **options):
            return CREATE(self.of(actor, lambda: self.recorded_class(actor), actor._default_options), *args, **options)

        RemoteFunction._remote, ActorClass._remote = submit, create

    def close(self):
        """End."""
        RemoteFunction._remote, ActorClass._remote = SUBMIT, CREATE

    def of(self, remote, make, kept):
        """Return what is submitted in place of a remote function or class, with those of its options that it keeps."""
        if remote not in self.found:
            options = {name: value for name, value in remote._default_options.items() if name in kept}
            made = self.found[remote] = (ray.remote(**options) if options else ray.remote)(make())
            self.found[made] = made  # Ray may submit it again
        return self.found[remote]

    def recorded(self, function):
        """Return a function that does the same in a worker, and is recorded there."""
        name, settings = self.name, self.settings  # pickled with what it names, so that is little

        @functools.wraps(function)
        def run(*args, **kwargs):
            with scope_of_task(function, name, settings):
                return function(*args, **kwargs)

        @functools.wraps(function)
        async def run_async(*args, **kwargs):
            with scope_of_task(function, name, settings):
                return await function(*args, **kwargs)

        return run_async if inspect.iscoroutinefunction(function) else run

    def recorded_class(self, actor):
        """Return a class whose methods do the same, and are recorded."""
        base = actor.__ray_metadata__.modified_class.__ray_actor_class__
        methods = {
            name: self.recorded(function) for name, function in inspect.getmembers(base, inspect.isfunction)
            if inspect.getattr_static(base, name) is function and not is_generator(function)
            and (name == "__init__" or not name.startswith("__"))
        }  # fmt: skip
        return type(base.__name__, (base,), {"__module__": base.__module__, "__doc__": base.__doc__} | methods)


def is_generator(function):
    """Return whether a task goes on after its function returned."""
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


def scope_of_task(function, name, settings):
    """Return the scope of a task, in a worker that is recorded, or none if a method of an actor calls another."""
    if name not in OPEN:
        RecordedWorker(name, settings)
    key = ray.get_runtime_context().get_task_id()
    if getattr(CURRENT_TASK.get(None), "key", None) == key:
        return contextlib.nullcontext()
    return task(key, function.__qualname__.rpartition("<locals>.")[2])


class RecordedWorker:
    """The recording of a worker, and the thread that reports."""

    def __init__(self, name, settings):
        self.name, self.answer, self.collector = name, (0, None), ray.get_actor(name)
        where = ray.get_runtime_context().get_node_id()[:8]
        self.recording = WorkerRecording.open(name, settings)
        self.recording.workers.append(f"worker {os.getpid()} on node {where}")
        self.substitutes = Substitutes(name, settings)
        self.substitutes.open()
        self.thread = BackgroundThread("tensix reports", self.report, 0, in_child=False).start()

    def close(self):
        """End; return the seconds until the next report: the thread stays until the process ends."""
        self.substitutes.close()
        self.recording.close(self.name)
        return float(1 << 20)

    def report(self):
        """Report, with an answer to what was asked last; return the seconds until the next time."""
        try:
            number, question = ray.get(self.collector.report.remote(self.recording.report(), *self.answer))
        except ray.exceptions.RayError:  # the program that records is gone
            return self.close()
        if number == self.answer[0]:
            self.answer = number, None
            return PAUSE
        if question is None:
            return self.close()
        method, args = question
        self.answer = number, getattr(self.recording, method)(*args)
        return 0


class Workers:
    """The workers to which this process submits tasks. See Note [Tasks of Ray]."""

    def __init__(self, client, name, settings):
        if settings["limit"] is not None:
            bytes_of_limit(settings["limit"], None)  # a worker of Ray has no limit of its own
        self.client, self.name = client, name
        self.substitutes = Substitutes(name, settings)

    def start(self):
        """Begin."""
        self.collector = ray.remote(Collector).options(name=self.name, num_cpus=0).remote()
        ray.get(self.collector.reports.remote())  # it is there
        self.substitutes.open()

    def stop(self):
        """End."""
        self.substitutes.close()
        ray.get(self.collector.ask.remote(None))
        time.sleep(3 * PAUSE)  # they find it there
        ray.kill(self.collector)

    def call(self, method, *args):
        """Return for each process that is there which it is and what a method of its recording returns."""
        ray.get(self.collector.ask.remote((method, args)))
        end, missing = time.monotonic() + PATIENCE, 1
        while missing and time.monotonic() < end:
            time.sleep(PAUSE / 5)
            answers, missing = ray.get(self.collector.answered.remote())
        return answers

    def reports(self):
        """Return what all workers that there ever were reported."""
        return ray.get(self.collector.reports.remote())
