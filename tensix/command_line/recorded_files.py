"""The files that processes of a program leave in a folder, and pages that are made of them while it runs."""

import ast
import contextlib
import os
import sys
import time
from importlib import import_module
from pathlib import Path

from tensix.command_line.process_memory import processes_of

__all__ = ["ARRAYS_PEAK", "FAILED", "WANTED", "PagesWanted", "check_output", "folder_of_running"]

SUFFIXES = (".html", ".json")  # of outputs
# Ends of the names of files that a process leaves beside its recording, a .json.
FAILED = ".failed"       # it could not write what it recorded
WANTED = ".wanted"       # why there is to be a page
ARRAYS_PEAK = ".arrays"  # the most bytes that its arrays had at one time


def check_output(output, words=()):
    """Refuse a file that could not be written, before a program has run for hours."""
    if output.suffix not in SUFFIXES:
        raise ValueError(f"the name of the output ends in {' or '.join(SUFFIXES)}, found {str(output)!r}.")
    if not output.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(output.parent)!r} for the output.")
    if words and output.exists() and Path(words[0]).exists() and output.samefile(words[0]):
        raise ValueError(f"the output {str(output)!r} is the input.")


def folder_of_running(pid):
    """Return the folder of a program that runs, and the first of its processes from this one on that belongs to it.

    The process may be one of the program, or the command that began it. Raises ValueError if none of them is recorded.
    """
    for number in processes_of(pid):
        with contextlib.suppress(OSError), open(f"/proc/{number}/environ", "rb") as file:
            for variable in file.read().split(b"\0"):
                if variable.startswith(b"TENSIX_PROGRAM="):
                    folder = ast.literal_eval(os.fsdecode(variable.partition(b"=")[2])).get("folder")
                    if folder is not None:
                        return folder, number
    raise ValueError(f"process {pid} is not recorded, or belongs to another user: begin the program by "
                     "python -m tensix memory, or by run with a limit.")  # fmt: skip


class PagesWanted:
    """Write the page when a process of the program left a reason to. See Note [The black box] in ``black_box.py``.

    What that needs is imported when it is needed: the command should take no memory from its program.
    """

    def __init__(self, folder, output, words):
        self.folder, self.output, self.words, self.began_ns = folder, output, words, time.monotonic_ns()

    def gather(self, pid):
        """Return the snapshot of the program, whose first process has this number, None if there is none."""
        report = import_module("tensix.command_line.report")
        return report.gather(self.folder, pid, self.began_ns, " ".join(self.words))

    def write_wanted(self, pid):
        """Write it if a process has left a reason."""
        for name in os.listdir(self.folder):
            if name.endswith(WANTED):
                path = Path(self.folder, name).replace(Path(self.folder, "taken"))  # it may leave the next one now
                reason = path.read_text(encoding="utf-8")
                self.write(pid, f"process {name.partition('-')[0]}: {reason}")

    def write(self, pid, reason):
        """Write the page, for the program whose first process has this number, and say why."""
        report = import_module("tensix.command_line.report")
        try:
            snapshot = self.gather(pid)
            if snapshot is not None:
                report.save(snapshot, None, report.findings_of(snapshot), self.output)
                reason += f"; wrote {self.output}"
        except (OSError, MemoryError) as error:  # the program goes on
            reason += f"; the page could not be written: {error}"
        print(report.printable(f"tensix: {reason}"), file=sys.stderr)
