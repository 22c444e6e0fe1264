"""The example of smart pointers, run as its reader runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "smart_pointers.py"


@pytest.fixture(scope="module")
def finished():
    return subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False, timeout=60)


def counts_of(finished, heading):
    """Return (use_count, weak_use_count) of every step below a heading."""
    section = finished.stdout.split(f"\n{heading}\n", 1)[1].split("\n\n")[0]
    found = re.findall(r" use_count (\d+)   weak_use_count (\d+)$", section, re.M)
    return [(int(strong), int(weak)) for strong, weak in found]


def test_it_succeeds_in_silence(finished):
    assert (finished.returncode, finished.stderr) == (0, "")


def test_copies_count_and_moves_do_not(finished):
    assert counts_of(finished, "several pointers to one object") == [(1, 1), (2, 1), (1, 1), (0, 0)]


def test_a_strong_cycle_waits_for_the_collector_and_the_raw_count(finished):
    assert counts_of(finished, "a cycle of strong pointers") == [(2, 2), (2, 2), (2, 2), (1, 2), (0, 1)]


def test_a_weak_back_edge_needs_no_collector(finished):
    assert counts_of(finished, "a weak pointer for the back edge") == [(1, 2), (2, 1), (0, 0)]


def test_a_weak_pointer_expires_with_the_last_strong_one(finished):
    assert counts_of(finished, "lock() and expired()") == [(1, 2), (1, 2), (0, 1), (0, 0)]
    assert "weak.expired() is True, weak.lock() is IntrusivePtr(null)" in finished.stdout


def test_resources_go_before_the_object(finished):
    tail = finished.stdout.split("lock() and expired()")[1]
    assert tail.index("watched: release_resources()") < tail.index("watched: __del__()")


def test_counts_stand_below_each_other(finished):
    columns = {line.index(" use_count") for line in finished.stdout.splitlines() if " use_count" in line}
    assert len(columns) == 1
