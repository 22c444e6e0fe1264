"""Write the recording of a process, and the reason, to disk when memory runs out.

Note [The black box]
~~~~~~~~~~~~~~~~~~~~
A process that runs out of memory may have neither time nor memory to report what it holds. So its file
(`RecordedProcess`) is written when an allocation fails, before the program gets the error: the recording calls
`BlackBox` for allocations that tensix refuses, and the exception hooks call it for a ``MemoryError`` that was not
caught. A second file has the reason. The command that started the program finds it and writes the page, even if the
process has ended.

SIGUSR2 is blocked from the start, in ``sitecustomize.py``, and a thread checks for it: a handler in Python would not
run while the program runs C code, and a signal that arrives before this setup is complete is not lost.

The kernel gives no warning before it kills a process of a control group that has reached its limit. So a thread reads
how much memory the group has left, and writes the file when it is little.
"""

import contextlib
import os
import signal
import sys
import threading
import time

from tensix.command_line.process_memory import memory_of
from tensix.command_line.recorded_files import WANTED
from tensix.core import format_size
from tensix.core.memory_reports import REMARKS, remarks
from tensix.memory.background_thread import BackgroundThread
from tensix.memory.caching_allocator import machine_memory

__all__ = ["BlackBox"]

SHORTEST_PAUSE = 1.0  # seconds between two files for failed allocations: a program may retry
PAUSE = 0.25          # seconds between two checks for the signal and of the control group
GROUP_SHARE = 20      # less than this part of the limit is little


class BlackBox:
    """Write the file of a recorded process when memory runs out.

    Settings are ``"page"``: the name of the page in errors; ``"limit"``: that of the process in bytes, or None; and
    ``"usr2"``: whether SIGUSR2 requests a page.
    """

    def __init__(self, recorded, settings):
        self.recorded, self.settings = recorded, settings
        self.last = -SHORTEST_PAUSE
        self.was_little = False

    def begin(self):
        """Start, for this process and those that it forks."""
        REMARKS.extend((self.words_of_limit, lambda: f"{self.settings['page']} will show what was alive."))
        self.recorded.at_failure = self.write_for_refusal
        sys.excepthook = self.hook_before(sys.excepthook, lambda kind, error, traceback: error)
        threading.excepthook = self.hook_before(threading.excepthook, lambda failed: failed.exc_value)
        if self.settings["usr2"] or machine_memory()[1] < 1 << 62:
            BackgroundThread("tensix black box", self.check, PAUSE, in_child=True).start()

    def write_for_refusal(self, nbytes):
        """Write the file, unless it was written within the last second."""
        if time.monotonic() - self.last >= SHORTEST_PAUSE:
            self.write(f"an allocation of {format_size(nbytes)} failed")

    def hook_before(self, hook, error_of):
        """Return an exception hook that writes the file and then calls another hook."""
        def write_first(*facts):
            error = error_of(*facts)
            if not isinstance(error, MemoryError):
                hook(*facts)
                return
            self.write(f"a {type(error).__name__} was not caught")
            with self.recorded.with_more_memory():  # without the GIL, CPython takes it in pieces of megabytes
                if not str(error):  # raised by Python, without a message
                    error.add_note(remarks().strip())
                hook(*facts)

        return write_first

    def check(self):
        """Write if SIGUSR2 is pending, and once when the control group has little left; return the pause."""
        if self.settings["usr2"] and signal.SIGUSR2 in signal.sigpending():
            signal.sigwait({signal.SIGUSR2})
            self.write("it received SIGUSR2")
        limit, available = machine_memory()
        is_little = available < limit // GROUP_SHARE
        if is_little and not self.was_little:
            self.write(f"{format_size(available)} of {format_size(limit)} memory were available")
        self.was_little = is_little
        return PAUSE

    def write(self, reason):
        """Write the file and the reason."""
        self.recorded.write(holders=False, ended=False)
        path = self.recorded.path + WANTED
        with contextlib.suppress(OSError):
            with open(path + ".part", "w", encoding="utf-8") as file:
                file.write(reason)
            os.replace(path + ".part", path)
        self.last = time.monotonic()

    def words_of_limit(self):
        """Return the limit of the process and its use, as a sentence."""
        limit = self.settings["limit"]
        if limit is None:
            return ""
        private, data = memory_of("self")
        return (
            f"The limit of the process is {format_size(limit)}: {format_size(private)} are in memory, "
            f"{format_size(max(data - private, 0))} are reserved."
        )
