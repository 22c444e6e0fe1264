"""Compare what `python -m tensix memory` and memray tell of programs, and what that costs.

    python asv_bench/beside_memray.py [--times N] [PROGRAM ...]

Programs are those of ``tests/consumers/programs``, or scripts that are given. Needs memray and what they import. Each
is run plainly, under tensix, under tensix with ``--native`` and under memray, in turn, `ROUNDS` times. A time is the
least of a whole command, over that of the program by itself: it includes writing the recording. "memory" is the most
that the largest process had, over that of the program by itself. What is resident is that of the program's own process
with ``--native``; by line are the blocks then, as far as they were touched. Peaks count also what was not touched.

Starting and ending a command takes its time, however long the program runs. With ``--times``, one process runs the
program N times: that part is then the smaller one.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tensix.command_line.summary import sample_of_peak

PROGRAMS = Path(__file__).parent.parent / "tests" / "consumers" / "programs"
ROUNDS = 3
COLUMNS = (
    "program", "resident", "arrays, by line", "--native: by line", "named besides", "the rest", "peak", "memray: peak"
)  # fmt: skip
COSTS = "program", "time", "memory", "--native: time", "memory", "memray: time", "memory"


def run(command):
    """Run a command and return its seconds and the most MiB that the largest of its processes had."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def facts_of(snapshot):
    """Return the MiB resident at most, in blocks, in other parts, the rest, and in blocks at most, of one process."""
    resident = snapshot["resident"]
    row = sample_of_peak(resident)
    until = resident["time_ns"][row]
    since = resident["time_ns"][row - 1] if row else 0
    blocks = snapshot["blocks"]
    changes = sorted(
        [(at, 0, n) for at, n in zip(blocks["allocated_ns"], blocks["nbytes"], strict=True)]
        + [(at, 1, -n) for at, n in zip(blocks["freed_ns"], blocks["nbytes"], strict=True) if at is not None]
    )
    live = inside = peak = 0
    for at, _, change in changes:
        live += change
        peak = max(peak, live)
        if at <= until:
            inside = max(inside, live) if at >= since else live
    total = resident["nbytes"][row]
    inside = min(inside - min(resident.get("untouched", [0] * (row + 1))[row], inside), total)
    named = sum(resident[name][row] for name in resident if name not in ("time_ns", "nbytes", "untouched"))
    named = min(named, total - inside)
    return [nbytes / 2**20 for nbytes in (total, inside, named, total - inside - named, peak)]


def rows_of(program, folder):
    """Return the cells of a program's rows, in the table of what is known and in that of what it costs."""
    python, memray = sys.executable, folder / "out.bin"
    pages = {name: folder / f"{name}.json" for name in ("tensix", "native")}
    tensix = [python, "-m", "tensix", "memory", "-q", "-o"]
    commands = {
        "plain": [python, program],
        "tensix": [*tensix, str(pages["tensix"]), program],
        "native": [*tensix, str(pages["native"]), "--native", program],
        "memray": [python, "-m", "memray", "run", "-q", "-f", "-o", str(memray), program],
    }
    found = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            found[name].append(run(command))
    least = {name: [min(measures) for measures in zip(*runs, strict=True)] for name, runs in found.items()}
    costs = [f"{cost / plain:.2f}" for name in ("tensix", "native", "memray")
             for cost, plain in zip(least[name], least["plain"], strict=True)]  # fmt: skip
    arrays = facts_of(json.loads(pages["tensix"].read_text()))
    total, *parts, peak = facts_of(json.loads(pages["native"].read_text()))
    stats = folder / "stats.json"
    subprocess.run([python, "-m", "memray", "stats", "--json", "-f", "-o", str(stats), str(memray)],
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    of_memray = json.loads(stats.read_text())["metadata"]["peak_memory"] / 2**20
    shares = [f"{arrays[1]:.0f} ({arrays[1] / arrays[0]:.0%})", *(f"{part:.0f} ({part / total:.0%})" for part in parts)]
    name = Path(program).stem
    return [name, f"{total:.0f} MiB", *shares, f"{peak:.0f}", f"{of_memray:.0f}"], [name, *costs]


def print_table(rows):
    """Print rows of cells, the first of them the names of the columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print()


def repeated(program, times, folder):
    """Return the path of a program that runs this one so many times."""
    path = folder / Path(program).name
    path.write_text(f"code = compile(open({program!r}).read(), {program!r}, 'exec')\n"
                    f"for _ in range({times}):\n    exec(code, {{'__name__': '__main__'}})\n")  # fmt: skip
    return str(path)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=1, metavar="N", help="run each program N times in one process")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", default=sorted(map(str, PROGRAMS.glob("*.py"))))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = arguments.programs
        if arguments.times != 1:
            programs = [repeated(os.path.abspath(program), arguments.times, folder) for program in programs]
        known, costs = zip(*(rows_of(program, folder) for program in programs), strict=True)
    print_table([COLUMNS, *known])
    print_table([COSTS, *costs])


if __name__ == "__main__":
    main()
