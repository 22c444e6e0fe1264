"""Compare what `python -m tensix memory` and memray tell of programs, and what that costs.

    python asv_bench/beside_memray.py [PROGRAM ...]

Programs are those of ``tests/consumers/programs``, or scripts that are given. Needs memray and what they import. Each
is run plainly and under both, in turn, `ROUNDS` times. A time is the least of a whole command, over that of the program
by itself: for both it includes writing the recording. What is resident is that of the program's own process; "memory"
is the most that the largest process had, over that of the program by itself.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = Path(__file__).parent.parent / "tests" / "consumers" / "programs"
ROUNDS = 3
COLUMNS = (
    "program", "resident", "arrays, by line", "named besides", "the rest", "time", "memory", "memray: by line", "time",
    "memory",
)  # fmt: skip


def run(command):
    """Run a command and return its seconds and the most MiB that the largest of its processes had."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def facts_of(snapshot):
    """Return the MiB resident at most, in arrays, in other parts, and the rest, of the program's own process."""
    resident = snapshot["resident"]
    row = max(range(len(resident["nbytes"])), key=resident["nbytes"].__getitem__)
    until = resident["time_ns"][row]
    since = resident["time_ns"][row - 1] if row else 0
    blocks = snapshot["blocks"]
    changes = sorted(
        [(at, 0, n) for at, n in zip(blocks["allocated_ns"], blocks["nbytes"], strict=True)]
        + [(at, 1, -n) for at, n in zip(blocks["freed_ns"], blocks["nbytes"], strict=True) if at is not None]
    )
    live = arrays = 0
    for at, _, change in changes:
        if at > until:
            break
        live += change
        arrays = max(arrays, live) if at >= since else live
    named = sum(resident[name][row] for name in resident if name not in ("time_ns", "nbytes"))
    total = resident["nbytes"][row]
    named = min(named, total - arrays)
    return [nbytes / 2**20 for nbytes in (total, arrays, named, total - arrays - named)]


def row_of(program, folder):
    """Return the cells of a program's row."""
    python, page, memray = sys.executable, folder / "out.json", folder / "out.bin"
    commands = {
        "plain": [python, program],
        "tensix": [python, "-m", "tensix", "memory", "-q", "-o", str(page), program],
        "memray": [python, "-m", "memray", "run", "-q", "-f", "-o", str(memray), program],
    }
    found = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            found[name].append(run(command))
    seconds, mib = ({name: min(one[place] for one in runs) for name, runs in found.items()} for place in (0, 1))
    snapshot = json.loads(page.read_text())
    total, arrays, named, rest = facts_of(snapshot)
    stats = folder / "stats.json"
    subprocess.run([python, "-m", "memray", "stats", "--json", "-f", "-o", str(stats), str(memray)],
                   check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    by_line = json.loads(stats.read_text())["metadata"]["peak_memory"] / 2**20
    return [
        Path(program).stem, f"{total:.0f} MiB", *(f"{part:.0f} ({part / total:.0%})" for part in (arrays, named, rest)),
        *(f"{measure['tensix'] / measure['plain']:.2f}" for measure in (seconds, mib)), f"{by_line:.0f}",
        *(f"{measure['memray'] / measure['plain']:.2f}" for measure in (seconds, mib)),
    ]  # fmt: skip


def main():
    """Print the table."""
    programs = sys.argv[1:] or sorted(map(str, PROGRAMS.glob("*.py")))
    with tempfile.TemporaryDirectory() as folder:
        rows = [COLUMNS, *(row_of(program, Path(folder)) for program in programs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
