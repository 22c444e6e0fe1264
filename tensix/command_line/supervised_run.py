"""Run a program within limits, and print at the end how much memory it used.

See Note [Limits of processes] in ``process_memory.py``.
"""

import contextlib
import os
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

from tensix._support.format_size import format_size
from tensix.command_line.process_memory import limit_to, memory_of, processes_of, share_of, tolerance_of
from tensix.command_line.program import run_and_wait
from tensix.command_line.recorded_files import ARRAYS_PEAK, PagesWanted, check_output

__all__ = ["run_within"]

MAX_EVENTS = 100_000       # of the recording, in addition to live blocks
LITTLE = 4                 # if less than this part of the limit is left, each process may use only its share of it
LEFT_TO_ALL = 32 << 20     # bytes beyond the limit that processes may allocate, to raise an error and to exit
ENDED_BY_US = 137          # the exit status after a kill by the kernel
PATIENCE = 2.0             # seconds between SIGTERM and SIGKILL
PAUSE_PER_COST = 10        # how long shares of pages are not read again, in times of the reading


def run_within(words, settings, output, *, usr2):
    """Run a program and return its exit status.

    Of the settings for `program_setup`, ``"limit"`` and ``"limit_total"`` are enforced here. `output` is the file of
    the page; None: nothing is recorded. `usr2` says whether SIGUSR2 requests a page.
    """
    limit, total = settings.get("limit"), settings.get("limit_total")
    if output is not None:
        check_output(Path(output), words)
    with tempfile.TemporaryDirectory(prefix="tensix-run-", ignore_cleanup_errors=True) as folder:
        pages = PagesWanted(folder, Path(output or ""), words)
        if output is not None:
            settings = settings | {
                "folder": folder, "record": {"max_events": MAX_EVENTS},
                "black_box": {"page": output, "limit": limit, "usr2": usr2, "is_kept": False},
            }  # fmt: skip
        tree = LimitOfTree(total, limit)

        def watch(pid):
            pages.write_wanted(pid)
            tree.hold(pid)

        pid, status = run_and_wait(words, settings, watch, limit)
        if status - 128 in (signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS):
            pages.write(pid, f"the program was terminated by {signal.Signals(status - 128).name}")
        peaks = [path.read_text() for path in Path(folder).glob(f"*{ARRAYS_PEAK}")]
        arrays = [int(peak) for peak in peaks if peak]  # a process may be killed while it writes
    print(f"tensix: {tree.line(settings.get('limit_arrays'), arrays)}", file=sys.stderr)
    return status if tree.ended_at is None else ENDED_BY_US


def send(numbers, number_of_signal):
    """Send a signal to processes that still exist."""
    for number in numbers:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(number, number_of_signal)


class LimitOfTree:
    """Limit the private memory of a process and all its descendants together.

    Limits are in bytes, None if there is none. `most` is the largest sum that was measured, `ended_at` when the program
    was terminated because it exceeded the limit, or None.
    """

    def __init__(self, limit, limit_of_each):
        self.limit, self.limit_of_each, self.most, self.ended_at = limit, limit_of_each, 0, None
        self.shared, self.cost, self.ended = 0, 0.0, 0.0  # of the last exact reading, and the seconds that it took

    def hold(self, pid):
        """Let each process grow by what is left, or terminate them all."""
        if self.limit is None:
            return
        own = {number: facts for number in processes_of(pid) if (facts := memory_of(number))}
        counted = sum(private for private, _ in own.values())  # pages that forks share count in each
        total, began = counted - min(self.shared, counted) if len(own) > 1 else counted, time.monotonic()
        is_exact = len(own) == 1
        pause = self.cost * (4 if total > 1.02 * self.most else PAUSE_PER_COST)  # the peak is read more often
        for is_due in (not is_exact and began >= self.ended + pause, False):
            if is_due or total > self.limit:  # again, since shares of processes that end meanwhile pass to the others
                own = {number: (share_of(number), data) for number, (_, data) in own.items()}
                total = sum(private for private, _ in own.values())
                self.shared, self.ended, is_exact = max(counted - total, 0), time.monotonic(), True
                self.cost = self.ended - began
        self.most = max(self.most, total if is_exact else 0)
        left = max(self.limit - total, 0)
        share = left if left > self.limit // LITTLE else left // max(len(own), 1)
        for number, (_, data) in own.items():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                most = data + share + LEFT_TO_ALL // len(own)
                limit_to(most if self.limit_of_each is None else min(most, self.limit_of_each), number)
        if self.ended_at is None and total > self.limit + tolerance_of(self.limit):
            self.ended_at = time.monotonic()
            largest = max(own, key=lambda number: own[number][0])
            print(f"tensix: the program's processes use {format_size(total)}, more than the limit of "
                  f"{format_size(self.limit)}, and are terminated. Process {largest} uses "
                  f"{format_size(own[largest][0])}.", file=sys.stderr)  # fmt: skip
            send(own, signal.SIGTERM)  # so that they can write their files
        elif self.ended_at is not None and time.monotonic() - self.ended_at > PATIENCE:
            send(own, signal.SIGKILL)

    def line(self, limit_of_arrays, arrays):
        """Return the memory used and the limits, in words."""
        resource = import_module("resource")
        resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        words = [f"at most {format_size(resident)} of a process were resident"]
        words += [f"{format_size(max(arrays))} of it in arrays"] if arrays else []
        words += [f"{format_size(self.most)} were private to all together"] if self.limit is not None else []
        limits = {"a process": self.limit_of_each, "all processes": self.limit, "arrays": limit_of_arrays}
        of = ", ".join(f"{format_size(nbytes)} for {name}" for name, nbytes in limits.items() if nbytes is not None)
        return ", ".join(words) + (f"; the limit is {of}" if of else "")
