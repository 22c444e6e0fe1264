"""What a process leaves on disk when memory ends: its recording, and why.

Note [The black box]
~~~~~~~~~~~~~~~~~~~~
A process whose memory ends may have no time and no memory left to say what it had. So its file (`RecordedProcess`) is
written when memory is refused, before the program learns of it: the recording calls `BlackBox` for what tensix refuses,
Python does so for a ``MemoryError`` that is not caught. Beside the file lies one with the reason. The command that
started the program finds it and makes the page, also when the process is gone by then.

SIGUSR2 is blocked from the start, in ``sitecustomize.py``, and found by a thread: a handler in Python would not run
while the program is in C, and a signal that comes before all of this is there is not lost.

The kernel gives no notice before it kills a process of a control group that has reached its limit. So a thread reads
how much the group has left, and writes when it is little.
"""

import contextlib
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

SHORTEST_PAUSE = 1.0  # seconds between two files because of refusals: a program may try again and again
PAUSE = 0.25          # seconds between two checks of signals, and of what the control group has left
GROUP_SHARE = 20      # a part of its limit that is little


class BlackBox:
    """Write the file of a recorded process when memory ends.

    Parameters
    ----------
    recorded : RecordedProcess
        Whose file it is.
    settings : dict
        ``"page"``: how the errors call the page. ``"limit"``: that of the process, in bytes, or None. ``"usr2"``:
        whether SIGUSR2 asks for a page. ``"is_kept"``: of `RecordedProcess`.
    """

    def __init__(self, recorded, settings):
        self.recorded, self.settings = recorded, settings
        self.last = -SHORTEST_PAUSE
        self.was_little = False

    def begin(self):
        """Begin, for this process and those that it forks."""
        REMARKS.extend((self.words_of_limit, self.words_of_page))
        self.recorded.at_failure = self.write_for_refusal
        sys.excepthook = self.hook_before(sys.excepthook, lambda kind, error, traceback: error)
        threading.excepthook = self.hook_before(threading.excepthook, lambda failed: failed.exc_value)
        if self.settings["usr2"] or machine_memory()[1] < 1 << 62:
            BackgroundThread("tensix black box", self.check, PAUSE, in_child=True).start()

    def write_for_refusal(self, nbytes):
        """Write, unless that was a moment ago."""
        if time.monotonic() - self.last >= SHORTEST_PAUSE:
            self.write(f"{format_size(nbytes)} were refused")

    def hook_before(self, hook, error_of):
        """Return a hook for exceptions that writes before another one says what happened."""
        def write_first(*facts):
            error = error_of(*facts)
            if isinstance(error, MemoryError):
                if not str(error):  # Python's own, which says nothing
                    with self.recorded.with_more_memory():
                        error.add_note(remarks().strip())
                self.write(f"a {type(error).__name__} was not caught")
            hook(*facts)

        return write_first

    def check(self):
        """Write if SIGUSR2 waits, and once when the control group has little left; return the pause."""
        if self.settings["usr2"] and signal.SIGUSR2 in signal.sigpending():
            signal.sigwait({signal.SIGUSR2})
            self.write("SIGUSR2 asked for it")
        limit, available = machine_memory()
        is_little = available < limit // GROUP_SHARE
        if is_little and not self.was_little:
            self.write(f"{format_size(available)} of {format_size(limit)} were left to the process")
        self.was_little = is_little
        return PAUSE

    def write(self, reason):
        """Write the file and the reason."""
        self.recorded.write(holders=False, ended=False)
        with contextlib.suppress(OSError), open(self.recorded.path + WANTED, "w", encoding="utf-8") as file:
            file.write(reason)
        self.last = time.monotonic()

    def words_of_limit(self):
        """Return how the process stands to its limit, as a sentence."""
        limit = self.settings["limit"]
        if limit is None:
            return ""
        private, data = memory_of("self")
        return (
            f"The limit of the process is {format_size(limit)}: {format_size(private)} are in memory, "
            f"{format_size(max(data - private, 0))} are reserved."
        )

    def words_of_page(self):
        """Return where to see more."""
        return f"{self.settings['page']} will show what was alive."
