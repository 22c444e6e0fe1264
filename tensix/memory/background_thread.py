"""Threads in Python that work now and then, and rest while the process forks."""

import os
import threading
import time

from tensix.memory.caching_allocator import wait_for_exit
from tensix.memory.native_blocks import ignore_thread

__all__ = ["BackgroundThread"]

RUNNING = []


class BackgroundThread:
    """Call a function now and then, in a daemon thread of a name, from `start` to `end`.

    The function takes nothing and returns the pause after it in seconds; `pause` is that before the first call, and
    `in_child` says whether it goes on in the child of a fork.

    The thread ends before a fork and begins again after it: CPython warns of forks in processes with threads. CPython
    3.13.0 warns nevertheless, since it counts threads that hooks start after the fork; 3.12.1 and 3.14.10 do not. Work
    that is due is done before the fork, so that forks may follow each other faster than the work.
    """

    def __init__(self, name, work, pause, in_child):
        self.name, self.work, self.in_child = name, work, in_child
        self.due = time.monotonic() + pause

    def start(self):
        """Begin."""
        self.resume()
        RUNNING.append(self)
        return self

    def end(self):
        """Wait until the function has returned, if it is running, and call it no more."""
        if self in RUNNING:  # it is not in the child of a fork in which it does not go on
            RUNNING.remove(self)
            self.rest()

    def resume(self):
        """Make the thread."""
        ended = threading.Event()
        thread = threading.Thread(target=self.run, args=(ended,), name=self.name, daemon=True)
        thread.start()  # if it cannot start, the one before, which has ended, stays
        self.ended, self.thread = ended, thread

    def rest(self):
        """End the thread."""
        self.ended.set()
        self.thread.join()
        wait_for_exit(self.thread.native_id)

    def run(self, ended):
        """Work until the end."""
        while not ended.wait(max(0, self.due - time.monotonic())):
            self.work_once()

    def work_once(self):
        """Call the function, and find out when to do it again."""
        ignore_thread(1)
        try:
            pause = self.work()
        finally:
            ignore_thread(-1)
        self.due = time.monotonic() + pause


def rest_all():
    """End the threads before a fork."""
    for thread in RUNNING.copy():
        thread.rest()
        if time.monotonic() >= thread.due:
            thread.work_once()


def resume_all():
    """Make the threads again after a fork."""
    for thread in RUNNING.copy():
        thread.resume()


def resume_in_child():
    """Make those again that go on in a child."""
    RUNNING[:] = [thread for thread in RUNNING if thread.in_child]
    resume_all()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=rest_all, after_in_parent=resume_all, after_in_child=resume_in_child)
