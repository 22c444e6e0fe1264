"""No sequence of calls reads or writes outside a block, or one that was freed: a quarter of what the program can do.

All of it takes some minutes: ``python tests/memory_safety/program.py allocator``, ``… finalizer``, ``… thread 600``.
"""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


KINDS = [("allocator", "0", "0/4"), ("finalizer", "0", "1/4"), ("thread", "20"), ("nomemory",)]


@pytest.mark.parametrize("arguments", KINDS, ids=[kind for kind, *_ in KINDS])
def test_operands_may_change_at_any_moment(arguments):
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "ignore", "program.py", *arguments],
        cwd=FOLDER, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "moments" in done.stdout or "changes by another thread" in done.stdout


def test_no_public_call_is_forgotten(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    forgotten = importlib.import_module("calls").forgotten

    assert forgotten() == set()
