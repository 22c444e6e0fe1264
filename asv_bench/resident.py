"""Print the resident memory of programs as they are, under ``python -m tensix run`` and ``memory``: peak, and at rest.

``python asv_bench/resident.py`` runs all programs. Linux only. The figures are VmHWM and VmRSS of ``/proc/self/status``
in MiB, which each program prints last of all, after what tensix does at exit.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

REPORT = """
import atexit, re, sys

@atexit.register  # before NumPy is imported, so that it runs last
def report():
    with open("/proc/self/status") as file:
        facts = dict(re.findall(r"Vm(HWM|RSS):\\s+(\\d+)", file.read()))
    print("resident", facts["HWM"], facts["RSS"], file=sys.stderr)

import numpy as np
"""
PROGRAMS = {
    "1 GB made, dropped, a second of rest": """
import time
arrays = [np.ones(1_250_000) for _ in range(100)]
del arrays
time.sleep(1)
""",
    "a picture is sharpened": """
def blur(image):
    padded = np.pad(image, 1, mode="edge")
    rows = padded[:-2] + padded[1:-1] + padded[2:]
    return (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / 9

image = np.random.default_rng(0).random((4000, 4000))
sharp = np.clip(image + 1.5 * (image - blur(image)), 0, 1)
scaled = (sharp - sharp.mean()) / sharp.std()
""",
    "sizes that grow and never recur": """
x = np.zeros(0)
for i in range(200):
    x = np.concatenate([x, np.ones(100_000)])
for n in range(100, 1200, 7):
    a = np.ones((n, n))
    c = np.sqrt(a @ a) + a
""",
    "sizes at random, eight alive": """
rng, alive = np.random.default_rng(0), []
for i in range(400):
    alive.append(np.ones(int(rng.integers(1000, 4_000_000))))
    if len(alive) > 8:
        alive.pop(int(rng.integers(0, 8)))
    sum(float((x * 2 + 1).sum()) for x in alive[:3])
""",
    "200,000 small arrays, 20 of them kept": """
kept = []
for i in range(200_000):
    a = np.ones(10 + i % 100)
    if i % 10_000 == 0:
        kept.append(a)
""",
    "200,000 small arrays, 20,000 of them kept": """
kept = []
for i in range(200_000):
    a = np.ones(10 + i % 100)
    if i % 10 == 0:
        kept.append(a)
""",
}


def measured(program, *command):
    """Return the peak and the last value of a program's resident memory, in KiB."""
    done = subprocess.run([sys.executable, *command, program], capture_output=True, text=True, check=True)
    [line] = [line for line in done.stderr.splitlines() if line.startswith("resident ")]
    return [int(kib) for kib in line.split()[1:]]


def main():
    """Print a table."""
    columns = {"plain": (), "run": ("-m", "tensix", "run"), "memory": ("-m", "tensix", "memory", "--output")}
    print(f"{'peak, at the end':<44}" + "".join(f"{name:>14}" for name in columns) + "   bound of the peak")
    with tempfile.TemporaryDirectory() as folder:
        for name, code in PROGRAMS.items():
            program = Path(folder, "program.py")
            program.write_text(REPORT + code)
            found = {
                column: measured(program, *command, *([str(Path(folder, "page.html"))] if column == "memory" else []))
                for column, command in columns.items()
            }
            bound = 1.05 * found["plain"][0] + 20 * 1024
            cells = "".join(f"{peak / 1024:>7.1f},{end / 1024:>6.1f}" for peak, end in found.values())
            print(f"{name:<44}{cells}   {bound / 1024:.1f}", flush=True)


if __name__ == "__main__":
    main()
