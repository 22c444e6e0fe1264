"""Run a program within limits, and say at the end how it stood to them.

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

from tensix.command_line.process_memory import limit_to, memory_of, processes_of, share_of, tolerance_of
from tensix.command_line.program import run_and_wait
from tensix.command_line.recorded_files import ARRAYS_PEAK, PagesWanted, check_output

__all__ = ["run_within"]

MAX_EVENTS = 100_000       # of the recording, beyond those of living blocks
LITTLE = 4                 # a part of the limit; if no more is left, each process may have its share of that only
LEFT_TO_ALL = 32 << 20     # bytes beyond the limit that processes can ask for, to raise an error and to end
ENDED_BY_US = 137          # the exit status that the kernel's own killing has
PATIENCE = 2.0             # seconds between asking processes to end and making them end


def run_within(words, settings, output, *, usr2):
    """Run a program and return its exit status.

    Parameters
    ----------
    words : list of str
        Of the program.
    settings : dict
        For `program_setup`; ``"limit"`` and ``"limit_total"`` are kept here.
    output : str or None
        The page, None if nothing is to be recorded.
    usr2 : bool
        Whether SIGUSR2 asks for a page.
    """
    limit, total = settings.get("limit"), settings.get("limit_total")
    if output is not None:
        check_output(Path(output), words)
    with tempfile.TemporaryDirectory(prefix="tensix-run-", ignore_cleanup_errors=True) as folder:
        pages = PagesWanted(folder, Path(output or ""), time.monotonic_ns())
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
            pages.write(pid, f"the program was ended by {signal.Signals(status - 128).name}")
        peaks = [path.read_text() for path in Path(folder).glob(f"*{ARRAYS_PEAK}")]
        arrays = [int(peak) for peak in peaks if peak]  # a process may be killed while it writes
    print(f"tensix: {tree.line(settings.get('limit_arrays'), arrays)}", file=sys.stderr)
    return status if tree.ended_at is None else ENDED_BY_US


def send(numbers, number_of_signal):
    """Send a signal to processes, as far as they are there."""
    for number in numbers:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(number, number_of_signal)


class LimitOfTree:
    """Hold the private memory of a process and of all that come from it within a limit.

    Parameters
    ----------
    limit : int or None
        Bytes; None: there is none.
    limit_of_each : int or None
        The limit of every single process, likewise.

    Attributes
    ----------
    most : int
        The most that all had together, in bytes, as far as it was seen.
    ended_at : float or None
        When the program was asked to end, because it was too late to refuse.
    """

    def __init__(self, limit, limit_of_each):
        self.limit, self.limit_of_each, self.most, self.ended_at = limit, limit_of_each, 0, None

    def hold(self, pid):
        """Let each process grow by what is left, or end them all."""
        if self.limit is None:
            return
        own = {number: facts for number in processes_of(pid) if (facts := memory_of(number))}
        if sum(private for private, _ in own.values()) > self.limit:  # pages that forks share count in each
            own = {number: (share_of(number, private), data) for number, (private, data) in own.items()}
        total = sum(private for private, _ in own.values())
        self.most = max(self.most, total)
        left = max(self.limit - total, 0)
        share = left if left > self.limit // LITTLE else left // max(len(own), 1)
        for number, (_, data) in own.items():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                most = data + share + LEFT_TO_ALL // len(own)
                limit_to(most if self.limit_of_each is None else min(most, self.limit_of_each), number)
        if self.ended_at is None and total > self.limit + tolerance_of(self.limit):
            self.ended_at = time.monotonic()
            text = import_module("tensix._support.format_size").format_size
            largest = max(own, key=lambda number: own[number][0])
            print(f"tensix: the processes of the program have {text(total)}, of a limit of {text(self.limit)}, and are "
                  f"ended. Process {largest} has most, {text(own[largest][0])}.", file=sys.stderr)  # fmt: skip
            send(own, signal.SIGTERM)  # so that they can leave their files
        elif self.ended_at is not None and time.monotonic() - self.ended_at > PATIENCE:
            send(own, signal.SIGKILL)

    def line(self, limit_of_arrays, arrays):
        """Return what was used of which limit, in words."""
        text = import_module("tensix._support.format_size").format_size
        resource = import_module("resource")
        resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        words = [f"at most {text(resident)} of a process were resident"]
        words += [f"{text(max(arrays))} of it in arrays"] if arrays else []
        words += [f"{text(self.most)} were private to all together"] if self.limit is not None else []
        limits = {"a process": self.limit_of_each, "all processes": self.limit, "arrays": limit_of_arrays}
        of = ", ".join(f"{text(nbytes)} for {name}" for name, nbytes in limits.items() if nbytes is not None)
        return ", ".join(words) + (f"; the limit is {of}" if of else "")
