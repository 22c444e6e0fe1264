"""``python -m tensix run``: run a program within a limit, its arrays in tensix's memory."""

import argparse
import os
import sys
from importlib import import_module

from tensix.command_line.program import add_native, add_program, exchange_for, name_of, preloaded_library, words_of

__all__ = ["fill"]

LEAST_BARE_LIMIT = 1 << 20
EPILOG = """examples:
  python -m tensix run simulate.py --steps 100
  python -m tensix run --limit 2G simulate.py
  python -m tensix run --limit-total 12G -m pytest -n 4
  python -m tensix run --limit-arrays 2G --stats simulate.py

Arguments after the program's name are passed to the program. Without a limit it runs in this process.
"""


def fill(parser):
    """Describe this command and its options to its parser."""
    parser.usage = (
        "%(prog)s [-h] [--limit SIZE] [--limit-total SIZE] [--limit-arrays SIZE] [--no-black-box] [--native] [-o FILE] "
        "[--usr2] [--huge-pages] [--stats] (SCRIPT | FOLDER | -m MODULE | -c CODE) ..."
    )
    parser.description = (
        "Run a Python program with tensix as the allocator of its NumPy arrays and PyTorch's CPU tensors, in all its "
        "processes. Freed blocks are reused without new page faults. With a limit, a page shows what was allocated "
        "when an allocation failed."
    )
    parser.epilog, parser.formatter_class = EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--limit", metavar="SIZE", help="limit of the private memory of each process, such as 500M or "
                        "1.5GiB: arrays, Python objects and other libraries, including reserved memory. Linux "
                        "only")  # fmt: skip
    parser.add_argument("--limit-total", metavar="SIZE", help="limit of the private memory of all processes of the "
                        "program together. Linux only")  # fmt: skip
    parser.add_argument("--limit-arrays", metavar="SIZE", help="limit of the arrays and cached blocks of each "
                        "process")  # fmt: skip
    parser.add_argument("--no-black-box", action="store_true", help="with a limit, record nothing and write no page")
    add_native(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="the page (default: the name of the program with "
                        ".memory.html, in this folder)")  # fmt: skip
    parser.add_argument("--usr2", action="store_true", help="write the page also when a process of the program, or "
                        "this one, gets SIGUSR2")  # fmt: skip
    parser.add_argument("--huge-pages", action="store_true", help="use HugePageAllocator for large blocks")
    parser.add_argument("--stats", action="store_true", help="print at the end how much was reused, on standard error")
    add_program(parser, " | FOLDER")
    parser.set_defaults(run=run)


def run(arguments):
    """Run the program; replace this process by it if it has no limit."""
    words = words_of(arguments)
    limits = {
        name: limit_of(f"--{name.replace('_', '-')}", text)
        for name in ("limit", "limit_total", "limit_arrays") if (text := getattr(arguments, name)) is not None
    }  # fmt: skip
    settings = {"huge_pages": arguments.huge_pages, **limits}
    is_supervised = limits or arguments.usr2
    if arguments.stats:
        settings["stats_of_child_of" if is_supervised else "stats_of"] = os.getpid()
    if arguments.native and (not is_supervised or arguments.no_black_box):
        raise ValueError("--native needs a recording: give a limit too, or run the program by python -m tensix "
                         "memory.")  # fmt: skip
    if not is_supervised:
        return exchange_for(words, settings)
    if {"limit", "limit_total"} & limits.keys() and sys.platform != "linux":
        raise ValueError("--limit and --limit-total need Linux: use --limit-arrays.")  # fmt: skip
    output = None if arguments.no_black_box else arguments.output or f"{name_of(words)}.memory.html"
    settings["native"] = preloaded_library(arguments.native)
    supervised = import_module("tensix.command_line.supervised_run")
    return supervised.run_within(words, settings, output, usr2=arguments.usr2)


def limit_of(option, text):
    """Return a limit in bytes, below 2**60. A small number without a unit is refused: it was probably forgotten."""
    import_module("tensix._modules")  # which a run without a limit does without
    limit = import_module("tensix._support.format_size").parse_size(text)
    if text.strip()[-1].isdecimal() and limit < LEAST_BARE_LIMIT:
        raise ValueError(f"{option} {text} is a limit of {limit} bytes: give the unit too, such as {text.strip()}M for "
                         f"mebibytes, or write {text.strip()}B.")  # fmt: skip
    if limit >= 1 << 60:
        raise ValueError(f"{option} must be below 2**60 bytes, found {text}.")
    return limit
