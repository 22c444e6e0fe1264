"""Measure every public call of tensix against the same call of NumPy and PyTorch; ``-h`` shows the options."""

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import geometric_mean

import numpy as np
from benchmarks.public_calls import all_rows
from heat_map import heat_map

import tensix
from tensix.command_line.terminal import Progress, Terminal

SIZES = ((3, 4), (64, 64), (1024, 1024))
SLOWER = 1.05  # times the neighbour: below that, two runs differ by as much


def make_parser():
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        description="Measure every public function, operator, form of indexing and protocol against the same call of "
        "NumPy and, if it is installed, of PyTorch. The libraries take turns in one process; each is judged by its "
        "best round. Ratios are times of tensix over times of the other: below 1 tensix is faster."
    )
    options = parser.add_argument
    only = "rows or chapters of this name, such as sort, 'linalg.*' or indexing; may be repeated"
    options("--only", metavar="PATTERN", action="append", default=[], help=only)
    options("--sizes", type=sizes, default=SIZES, metavar="RxC,...", help="shapes; 3x4,64x64,1024x1024 by default")
    options("--dtype", choices=("float32", "float64"), default="float32", help="of the operands; float32 by default")
    options("--threads", type=int, default=1, metavar="N", help="threads of each library; 1 by default")
    options("--rounds", type=int, default=7, metavar="N", help="turns of each library; 7 by default")
    options("--worst", type=int, default=12, metavar="N", help="rows to name per size and library; 12 by default")
    options("--json", action="store_true", help="print JSON instead of text")
    options("--plot", metavar="FILE", help="draw a heat map of all rows into an SVG file as well")
    return parser


def sizes(text):
    """Return the shapes that an option names."""
    try:
        found = [tuple(int(side) for side in word.split("x")) for word in text.split(",")]
        if all(len(size) == 2 and size[0] >= 3 and size[1] >= 4 for size in found):
            return found
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not a list of shapes: at least 3x4 each, such as 3x4,64x64")


def main(words=None):
    """Measure, and print the ratios."""
    parser = make_parser()
    arguments = parser.parse_args(words)
    rows = [row for row in all_rows() if not arguments.only or matches(row, arguments.only)]
    if not rows:
        parser.error(f"no row matches {', '.join(arguments.only)}. --json without --only names all of them")
    against = ["numpy", *(["torch"] if importlib.util.find_spec("torch") else [])]
    measured = list(measure(rows, against, arguments))
    if arguments.plot:
        Path(arguments.plot).write_text(heat_map(measured, against, platform.machine()), encoding="utf-8")
    if arguments.json:
        versions = {"tensix": tensix.__version__, "numpy": np.__version__, "python": platform.python_version()}
        print(json.dumps({"versions": versions, "threads": arguments.threads, "rows": measured}, indent=1))
    else:
        print_summary(measured, against, arguments.worst)


def matches(row, patterns):
    """Return whether any pattern is the name of a row or of its chapter."""
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in (row.name, row.chapter))


def measure(rows, against, arguments):
    """Yield what another process measures, row by row."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), str(arguments.threads))
    asked = {
        "rows": [row.name for row in rows], "against": against, "sizes": arguments.sizes, "rounds": arguments.rounds,
        "threads": arguments.threads, "dtype": arguments.dtype,
    }  # fmt: skip
    command = [sys.executable, Path(__file__).with_name("race.py")]
    total = len(rows) * len(arguments.sizes)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": os.environ | threads}
    with Progress() as progress, subprocess.Popen(command, **pipes) as process:
        process.stdin.write(json.dumps(asked))
        process.stdin.close()
        for done, line in enumerate(process.stdout, 1):
            found = json.loads(line)
            progress.say(f"{done} of {total}: {found['name']}, {shown(found['size'])}")
            yield found
    if process.returncode:
        sys.exit(f"the measuring process ended with status {process.returncode}; its messages stand above")


def shown(size):
    """Return a shape as an option names it."""
    return "x".join(map(str, size))


def print_summary(measured, against, worst):
    """Print geometric means, how many rows are slower, and the slowest of them."""
    terminal = Terminal()
    for size in dict.fromkeys(tuple(row["size"]) for row in measured):
        print(terminal.strong(shown(size)))
        rows = [row for row in measured if tuple(row["size"]) == size]
        for library in against:
            ratios = {row["name"]: row["tensix"] / row[library] for row in rows if row[library]}
            if not ratios:
                continue
            slower = sorted((name for name in ratios if ratios[name] > SLOWER), key=ratios.get, reverse=True)
            twice = sum(ratios[name] > 2 for name in slower)
            print(f"  {library:<6} geometric mean {terminal.accent(f'{geometric_mean(ratios.values()):.2f}')}; of "
                  f"{len(ratios)} rows {len(slower)} slower than {SLOWER}, {twice} slower than 2")  # fmt: skip
            for name in slower[:worst]:
                print(f"    {terminal.warm(f'{ratios[name]:6.2f}')}  {name}")
    print("Times of tensix over times of the other, one process, best round of each: below 1 tensix is faster.")


if __name__ == "__main__":
    main()
