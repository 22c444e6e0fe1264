"""What TENSIX_LEAKS=1 reports when a process ends."""

import os
import re
import subprocess
import sys

import pytest

PRELUDE = """
import gc, os, sys, threading
import tensix
from tensix.core import IntrusiveTarget, Storage, make_intrusive, raw

def leak(nbytes):
    return Storage(nbytes).unsafe_release_storage_impl()  # a count that nobody will drop
"""

QUIET = """
x = tensix.ones(1000)
y = {"x": [x, x[0]]}
z = x.lazy_clone()
kept_by_the_allocator = tensix.ones(3_000_000)
del kept_by_the_allocator
with tensix.use_allocator(tensix.memory.TrackingAdaptor()):
    tracked = tensix.ones(3)
sys.kept = tensix.ones(3)

class A:
    pass

a = A()
a.a, a.x = a, tensix.ones(3)  # a cycle of objects
del a
thread = threading.Thread(target=lambda: tensix.ones(3) + 1)
thread.start()
thread.join()
s = tensix.memory.statistics().__enter__()
r = tensix.memory.record().start()
w = tensix.ones(3)
"""


def end_of(program, **environment):
    ended = subprocess.run(
        [sys.executable, "-c", PRELUDE + program], check=False, capture_output=True, text=True, timeout=60,
        env=os.environ | {"TENSIX_LEAKS": "1"} | environment,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (0, "")
    return ended.stderr


@pytest.mark.parametrize("program", ["", QUIET], ids=["nothing", "what the interpreter frees"])
def test_quiet_with(program):
    assert end_of(program) == ""


def test_one_line_for_each_line_that_leaks():
    lines = end_of("""
for _ in range(3):
    leak(1000)
y = Storage(5 << 20).unsafe_release_storage_impl(); del y
x = tensix.ones(1000)
""").splitlines()
    assert lines == [
        "tensix: still alive at exit: 4 blocks, 5.00 MiB",
        "tensix:   3 blocks, 2.93 KiB, allocated at <string>:7 in leak",
        "tensix:   1 block, 5.00 MiB, allocated at <string>:11 in <module>",
    ]


def test_cycle_of_counts_that_the_collector_cannot_see():
    lines = end_of("""
class Node(IntrusiveTarget):
    pass

def cycle():
    node = make_intrusive(Node)
    raw.incref(node.get())  # a count of C's: the collector leaves it alone
    node.get().me, node.get().weight = node, tensix.ones(100)

cycle()
""").splitlines()
    assert lines[1:] == ["tensix:   1 block, 400 bytes, allocated at <string>:15 in cycle"]


def test_off():
    assert end_of("leak(1000)", TENSIX_LEAKS="0") == ""


def test_daemon_thread_that_still_runs():
    """It holds its variables until the system takes the process away."""
    lines = end_of("""
def work():
    x = tensix.ones(100)
    started.set()
    threading.Event().wait()

started = threading.Event()
threading.Thread(target=work, daemon=True).start()
started.wait()
""").splitlines()
    assert re.fullmatch(r"tensix:   1 block, 400 bytes, allocated at <string>:\d+ in work", lines[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_fork():
    """A child reports for itself if it ends as a process does, and not after os._exit()."""
    stderr = end_of("""
leak(10)
if os.fork() == 0:
    leak(20)
    os._exit(0)
os.wait()
""")
    assert stderr.splitlines()[0] == "tensix: still alive at exit: 1 block, 10 bytes"
    assert len(stderr.splitlines()) == 2
