"""A slice of what run.py does: each machine goes some hundred steps, and catches what it is meant to catch."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("run.py")
NAMES = {path.stem for path in PROGRAM.parent.glob("*.py")} - {"run", "machine", Path(__file__).stem}


def test_machines_hold_and_catch_their_mutations():
    """In a process of its own: a defect may end it."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", PROGRAM, "--runs", "10", "--steps", "40"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-5000:]
    assert {line.partition(":")[0] for line in done.stdout.splitlines() if " hold" in line} == NAMES
    assert {line.partition(":")[0] for line in done.stdout.splitlines() if " caught: " in line} == NAMES
