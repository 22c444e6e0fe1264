"""``python -m tensix memory``: run a program, or read a snapshot, and show how it used memory."""

import argparse
import contextlib
import os
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path

from tensix.command_line.program import (
    add_native,
    add_program,
    folder_of,
    name_of,
    preloaded_library,
    run_and_wait,
    words_of,
)
from tensix.command_line.recorded_files import FAILED, PagesWanted, check_output, folder_of_running
from tensix.command_line.terminal import Progress

__all__ = ["fill"]

EPILOG = """examples:
  python -m tensix memory train.py --epochs 3
  python -m tensix memory -o train.json train.py --epochs 3
  python -m tensix memory train.json
  python -m tensix memory -m pytest tests
  python -m tensix memory -c "import numpy as np; x = np.ones(10**6); y = x + x"
  python -m tensix memory train.json --compare yesterday.json
  python -m tensix memory --live 4711 --every 10s

Arguments after the program's name are passed to the program.
"""


def fill(parser):
    """Describe this command and its options to its parser."""
    parser.usage = (
        "%(prog)s [-h] [-o FILE] [--open] [-q] [--native] [--max-events N] [--through PACKAGE] [--compare FILE.json] "
        "[--usr2] [--no-numpy] [--no-torch] [--advice KINDS] [--fail-on-advice SIZE] ("
        "SCRIPT | FOLDER | -m MODULE | -c CODE | SNAPSHOT.json | --live PID) ..."
    )
    parser.description = (
        "Run a Python program, record every block of memory that NumPy, PyTorch on the CPU and tensix allocate, in all "
        "its processes, and write a page: a timeline, call sites, copies and failures. The page is one file that needs "
        "no network. Or write the page of a snapshot that was saved as .json."
    )
    parser.epilog, parser.formatter_class = EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument("-o", "--output", metavar="FILE", help="write FILE: .html for the page, .json for its data "
                        "(default: the name of the program with .memory.html, in this folder)")  # fmt: skip
    parser.add_argument("--open", action="store_true", help="show the page in the browser")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no summary: write the file only")
    add_native(parser)
    parser.add_argument("--max-events", metavar="N", type=int,
                        help="number of blocks to keep per process; if there are more, the oldest freed "
                        "blocks are dropped (default: 1000000)")  # fmt: skip
    parser.add_argument("--through", metavar="PACKAGE", action="append",
                        help="a package or a folder whose lines are not the program's own; site-packages means all "
                        "installed packages; may be given several times (default: site-packages)")  # fmt: skip
    parser.add_argument("--compare", metavar="FILE.json", help="print the differences from this snapshot, by call site")
    parser.add_argument("--usr2", action="store_true", help="write the page whenever a process of the program, or this "
                        "one, gets SIGUSR2")  # fmt: skip
    parser.add_argument("--live", metavar="PID", type=int, help="show what a running program has recorded so "
                        "far; it was started by memory, or by run with a limit. Linux only")  # fmt: skip
    parser.add_argument("--every", metavar="TIME", type=seconds_of, help="with --live, repeat this at this "
                        "interval, such as 10s, until the program ends")  # fmt: skip
    parser.add_argument("--no-numpy", action="store_true", help="do not record NumPy arrays")
    parser.add_argument("--advice", metavar="KINDS", help="which advice to give: untouched, parts, dead, temporary, "
                        "copy, view, idle, clone, traceback, several with commas, or none (default: all)")  # fmt: skip
    parser.add_argument("--fail-on-advice", metavar="SIZE", help="exit with status 3 if the program "
                        "exits with 0 and the advice would lower its peak by SIZE, such as 10MiB, or more")  # fmt: skip
    parser.add_argument("--no-torch", action="store_true", help="do not record PyTorch tensors")
    add_program(parser, " | FOLDER | SNAPSHOT.json")
    parser.set_defaults(run=run, parser=parser)


def run(arguments):
    """Write the file; the exit status is the program's."""
    if arguments.live is not None:
        return show_live(arguments)
    if arguments.every is not None:
        raise ValueError("--every needs --live PID.")
    words = words_of(arguments)
    if words[0].endswith(".json") and words[1:] and words[1].startswith("-"):  # a snapshot has no options itself
        arguments = arguments.parser.parse_args([*words[1:], words[0]], arguments)
        words = words_of(arguments)
    output = Path(arguments.output or f"{name_of(words)}.memory.html")
    check_output(output, words)
    if arguments.open and output.suffix != ".html":
        raise ValueError(f"--open needs a page, but the output {str(output)!r} is data: use a name that ends in .html.")
    other = checked(arguments)
    if words[0].endswith(".json"):
        if words[1:]:
            raise ValueError(f"a snapshot takes no arguments, found {words[1:]}.")
        if arguments.through:
            raise ValueError(f"--through needs a program to record, but {words[0]} is a snapshot.")
        with Progress() as progress:
            progress.say(f"reading {words[0]}")
            snapshot = report().load_snapshot(words[0])
        return report().show(snapshot, other, output, arguments)
    options = {name: value for name in ("max_events", "through") if (value := getattr(arguments, name)) is not None}
    if options:
        report().check_recording(options, folder_of(words))
    with tempfile.TemporaryDirectory(prefix="tensix-memory-", ignore_cleanup_errors=True) as folder:
        settings = {
            "folder": folder, "record": options, "numpy": not arguments.no_numpy, "torch": not arguments.no_torch,
            "native": preloaded_library(arguments.native),
            "black_box": {"page": str(output), "limit": None, "usr2": arguments.usr2, "is_kept": True},
        }  # fmt: skip
        pages = PagesWanted(folder, output, words)

        def meanwhile(pid):
            report()  # it is imported while the program does the same
            pages.write_wanted(pid)

        pid, status = run_and_wait(words, settings, meanwhile)
        with Progress() as progress:
            progress.say("reading what its processes recorded")
            snapshot = pages.gather(pid)
        is_incomplete = any(name.endswith(FAILED) for name in os.listdir(folder))
    if snapshot is None:
        why = "could not write one" if is_incomplete else "used neither NumPy nor PyTorch nor tensix"
        print(f"tensix: the program ended with status {status} and left no recording: it {why}.", file=sys.stderr)
    else:
        advised = report().show(snapshot, other, output, arguments)
        status = status or advised
    return status or (2 if is_incomplete else 0)


def report():
    """Return the module that reads recordings, which imports NumPy."""
    return import_module("tensix.command_line.report")


def checked(arguments):
    """Parse the options of advice; return the snapshot to compare with, None if there is none."""
    if arguments.advice is None and arguments.fail_on_advice is None and not arguments.compare:
        return None
    return report().checked(arguments)


def show_live(arguments):
    """Show what a running program has recorded, once or repeatedly."""
    if any((arguments.program, arguments.module, arguments.code)):
        raise ValueError("--live PID shows a running program: it cannot be combined with a program to run.")
    output = Path(arguments.output or f"{arguments.live}.memory.html")
    check_output(output)
    other = checked(arguments)
    folder, first = folder_of_running(arguments.live)
    was_shown = False
    while True:
        snapshot = report().gather(folder, first, time.monotonic_ns(), f"process {arguments.live}")
        if snapshot is None and was_shown:  # it has ended at this moment
            return 0
        if snapshot is None:
            raise ValueError(f"process {arguments.live} has recorded nothing yet: it did not import NumPy or PyTorch.")
        for one in (snapshot, *snapshot.get("processes", ())):
            if os.path.exists(f"/proc/{one['pid']}"):
                one["ended"] = True  # what it did last is in the next one
        report().show(snapshot, other, output, arguments)
        if arguments.every is None:
            return 0
        was_shown = True
        time.sleep(arguments.every)
        if not os.path.exists(folder):
            return 0
        print()


def seconds_of(text):
    """Return a number of seconds, 0.1 or more, that may end in an s."""
    with contextlib.suppress(ValueError):
        seconds = float(text.removesuffix("s"))
        if 0.1 <= seconds <= threading.TIMEOUT_MAX:
            return seconds
    raise argparse.ArgumentTypeError(f"expected 0.1 seconds or more, such as 10s, found {text!r}")
