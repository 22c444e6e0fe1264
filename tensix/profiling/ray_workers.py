"""The workers of Ray, each of which records its tasks.

Note [Tasks of Ray]
~~~~~~~~~~~~~~~~~~~
Ray has no place for what is to run around a task. So while a recording runs, this process submits, in place of a
remote function, one that begins the recording of its worker, if that is the first task there, and names the task. The
methods of actors, generators, and tasks that a task submits are not recorded.

Workers cannot be asked. They report to an actor, and find there what is asked: Note [Reports of workers] in
``worker_recording.py``.
"""

import functools
import inspect
import os
import time
import weakref

import ray
from ray.remote_function import RemoteFunction

from tensix.memory.background_thread import BackgroundThread
from tensix.profiling.recorder import task
from tensix.profiling.worker_recording import OPEN, Reports, WorkerRecording, bytes_of_limit, process_of

__all__ = ["Workers"]

SUBMIT = RemoteFunction._remote
PAUSE = 0.5  # seconds between two reports
PATIENCE = 3.0  # seconds for an answer of a worker that runs


class Collector:
    """The actor to which workers report."""

    def __init__(self):
        self.reported, self.number, self.question, self.answers, self.seen = Reports(), 0, None, {}, {}

    def report(self, report):
        """Take a report, and return the question of now, with its number."""
        self.reported.take(report)
        self.seen[process_of(report)] = time.monotonic()
        return self.number, self.question

    def ask(self, question):
        """Begin a question; None ends the recordings."""
        self.number, self.question, self.answers = self.number + 1, question, {}

    def answer(self, number, facts, answer):
        """Take the answer of a worker."""
        if number == self.number:
            self.answers[process_of(facts)] = facts, answer

    def answered(self):
        """Return the answers, and how many workers that reported lately have not answered."""
        recent = {worker for worker, moment in self.seen.items() if time.monotonic() - moment < PATIENCE}
        return [*self.answers.values()], len(recent - self.answers.keys())

    def reports(self):
        """Return the last report of each worker, and the peaks of their tasks."""
        return [*self.reported.latest.values()], self.reported.peaks


class RecordedWorker:
    """The recording of a worker, and the thread that reports."""

    def __init__(self, name, settings):
        self.name, self.answered, self.collector = name, 0, ray.get_actor(name)
        where = ray.get_runtime_context().get_node_id()[:8]
        self.recording = WorkerRecording.open(name, settings, None, f"worker {os.getpid()} on node {where}")
        self.thread = BackgroundThread("tensix reports", self.report, 0, in_child=False).start()

    def report(self):
        """Report, and answer what is asked; return the seconds until the next time."""
        try:
            number, question = ray.get(self.collector.report.remote(self.recording.report()))
            if number > self.answered:
                self.answered = number
                if question is None:
                    self.recording.close(self.name)
                    return float(1 << 20)  # the thread stays until the process ends
                method, args = question
                answer = getattr(self.recording, method)(*args)
                ray.get(self.collector.answer.remote(number, self.recording.facts(), answer))
        except ray.exceptions.RayError:  # the program that records is gone
            self.recording.close(self.name)
            return float(1 << 20)
        return PAUSE


def recorded(function, name, settings):
    """Return a function that does the same in a worker, and is recorded there."""

    @functools.wraps(function)
    def run(*args, **kwargs):  # pickled with what it names, so that is little
        return run_recorded(function, name, settings, args, kwargs)

    return run


def run_recorded(function, name, settings, args, kwargs):
    """Call a function as a task, in a worker that is recorded."""
    if name not in OPEN:
        RecordedWorker(name, settings)
    with task(ray.get_runtime_context().get_task_id(), function.__name__):
        return function(*args, **kwargs)


class Workers:
    """The workers to which this process submits tasks. See Note [Tasks of Ray]."""

    def __init__(self, client, name, settings):
        if settings["limit"] is not None:
            bytes_of_limit(settings["limit"], None)  # a worker of Ray has no limit of its own
        self.client, self.name, self.settings = client, name, settings
        self.functions = weakref.WeakKeyDictionary()

    def start(self):
        """Begin."""
        self.collector = ray.remote(Collector).options(name=self.name, num_cpus=0).remote()
        ray.get(self.collector.reports.remote())  # it is there

        def submit(function, args=None, kwargs=None, **options):
            if not inspect.isgeneratorfunction(function._function):
                function = self.functions.get(function) or self.function_of(function)
            return SUBMIT(function, args, kwargs, **options)

        RemoteFunction._remote = submit

    def function_of(self, function):
        """Return the remote function in place of one."""
        most = function._default_options.get("max_calls")
        make = ray.remote if most is None else ray.remote(max_calls=most)
        found = self.functions[function] = make(recorded(function._function, self.name, self.settings))
        return found

    def stop(self):
        """End."""
        RemoteFunction._remote = SUBMIT
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
        """Return the last report of each worker that there ever was, and the peaks of their tasks."""
        return ray.get(self.collector.reports.remote())
