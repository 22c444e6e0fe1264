"""``python -m tensix run``: run a program whose arrays lie in tensix's memory."""

import argparse
import os
from importlib import import_module

from tensix.command_line.program import add_program, exchange_for, words_of

__all__ = ["fill"]

LEAST_BARE_LIMIT = 1 << 20
EPILOG = """examples:
  python -m tensix run simulate.py --steps 100
  python -m tensix run --limit 2G --stats simulate.py
  python -m tensix run -m pytest tests

What follows the program's name belongs to the program. It runs as Python runs it, in this process.
"""


def fill(parser):
    """Describe this command and its options to its parser."""
    parser.usage = "%(prog)s [-h] [--limit SIZE] [--huge-pages] [--stats] (SCRIPT | FOLDER | -m MODULE | -c CODE) ..."
    parser.description = (
        "Run a Python program and give its NumPy arrays memory of tensix, in all its processes: blocks that are freed "
        "are used again, pages and all."
    )
    parser.epilog, parser.formatter_class = EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--limit", metavar="SIZE", help="raise MemoryError where the arrays of a process, and what is "
                        "kept for reuse, would take more than SIZE, such as 500M or 1.5GiB")  # fmt: skip
    parser.add_argument("--huge-pages", action="store_true", help="take large blocks from HugePageAllocator")
    parser.add_argument("--stats", action="store_true", help="say at the end what was reused, on the standard error")
    add_program(parser, " | FOLDER")
    parser.set_defaults(run=run)


def run(arguments):
    """Become the program."""
    words = words_of(arguments)
    settings = {"huge_pages": arguments.huge_pages}
    if arguments.limit is not None:
        settings["limit"] = limit_of(arguments.limit)
    if arguments.stats:
        settings["stats_of"] = os.getpid()
    return exchange_for(words, settings)


def limit_of(text):
    """Return the limit in bytes. A small number without a unit is refused: somebody left the unit out."""
    import_module("tensix._modules")  # which a run without a limit does without
    limit = import_module("tensix._support.format_size").parse_size(text)
    if text.strip()[-1].isdecimal() and limit < LEAST_BARE_LIMIT:
        raise ValueError(f"--limit {text} is a limit of {limit} bytes: give the unit too, such as {text.strip()}M for "
                         f"mebibytes, or write {text.strip()}B.")  # fmt: skip
    return limit
