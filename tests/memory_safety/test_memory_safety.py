"""Slices of the programs of this folder, which take minutes, or an hour: see ``docs/proof.rst``."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


KINDS = [("allocator", "0", "0/4"), ("finalizer", "0", "1/4"), ("thread", "20")]


def run(program, *arguments):
    """Run a program of this folder and return the last line that it prints."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "ignore", program, *arguments],
        cwd=FOLDER, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("arguments", KINDS, ids=[kind for kind, *_ in KINDS])
def test_operands_may_change_at_any_moment(arguments):
    last = run("program.py", *arguments)
    assert "moments" in last or "changes by another thread" in last


FAILURES = [("tensix", "0/24"), ("served", "3/80")]  # allocations of Python: .ci/memory_errors


@pytest.mark.parametrize("arguments", FAILURES, ids=[kind for kind, *_ in FAILURES])
def test_every_allocation_may_fail(arguments):
    assert " 0 problems" in run("out_of_memory.py", *arguments)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each call is tried in a child")
def test_operators_may_give_back_anything():
    assert " 0 problems" in run("hostile.py")


def test_64_threads_lose_nothing():
    assert "64 threads: nothing was lost" in run("threads.py", "8", "64")


def test_soaking_leaks_nothing():
    assert "nothing leaked" in run("soak.py", "4")


@pytest.mark.parametrize("module", ["calls", "fronts"])
def test_no_public_call_is_forgotten(monkeypatch, module):
    monkeypatch.syspath_prepend(FOLDER)
    forgotten = importlib.import_module(module).forgotten

    assert forgotten() == set()
