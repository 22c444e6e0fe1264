"""Check the models of the protocols with Spin, and that each of their mutations is caught.

``python tests/models/run.py`` checks all, a name such as ``counts`` one. A mutation is a mistake that the model can
make: a line ``#define NAME 1 /* mutation: ... */``. Needs spin and a C compiler.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.pml") if path.stem != "memory")
VERIFIER = ["-w", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=1024"]


def missing_tool():
    """Return what is needed and not there, or None."""
    return next((tool for tool in ("spin", "cc") if shutil.which(tool) is None), None)


def mutations_of(name):
    """Return the numbers of a model's mutations and what they are."""
    text = (HERE / f"{name}.pml").read_text()
    return {int(n): what for n, what in re.findall(r"^#define \w+ +(\d+) +/\* mutation: (.+) \*/$", text, re.M)}


def build(name, folder, optimize="-O1"):
    """Return the program that explores a model."""
    subprocess.run(["spin", "-a", str(HERE / f"{name}.pml")], cwd=folder, check=True)
    subprocess.run(["cc", optimize, *VERIFIER, "-o", name, "pan.c"], cwd=folder, check=True)
    return Path(folder) / name


def explore(program, mutation=0):
    """Return how many states were explored, and what does not hold in one of them, or None."""
    environment = {**os.environ, "MUTATION": str(mutation)}
    told = subprocess.run([program, "-m100000"], cwd=program.parent, env=environment, capture_output=True, text=True)
    states = re.search(r"(\d+) states, stored", told.stdout)
    found = re.search(r"^pan:\d+: (.+)$", told.stdout, re.M)
    whole = "Search not completed" not in told.stdout and "errors: 0" in told.stdout
    if states is None or (found is None and not whole) or "max search depth too small" in told.stdout:
        raise RuntimeError(f"{program.name} with mutation {mutation} was not explored:\n{told.stdout}{told.stderr}")
    if found is not None and "newest+1)<" in found[1]:
        raise RuntimeError(f"{program.name} with mutation {mutation} has rows that are too short: raise WRITES.")
    return int(states[1]), found and found[1]


def check(name, optimize="-O1"):
    """Yield a line for a model and one for each mutation; raise if one is not as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        program = build(name, folder, optimize)
        start = time.perf_counter()
        states, found = explore(program)
        if found is not None:
            raise AssertionError(f"{name} does not hold: {found}")
        yield f"{name}: holds in {states:,} states, {time.perf_counter() - start:.1f} s"
        for mutation, what in mutations_of(name).items():
            states, found = explore(program, mutation)
            if found is None:
                raise AssertionError(f"{name} holds although {what}: the model cannot tell")
            yield f"{name}: caught in {states:,} states: {what}"


if __name__ == "__main__":
    if missing_tool() is not None:
        sys.exit(f"the models need {missing_tool()}. Where there is Debian: apt-get install spin gcc")
    for name in sys.argv[1:] or NAMES:
        for line in check(name):
            print(line, flush=True)
