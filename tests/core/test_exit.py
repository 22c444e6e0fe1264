"""The interpreter ends quietly, whatever is still alive and whichever thread keeps it."""

import subprocess
import sys

import pytest

PRELUDE = """
import ctypes, gc, sys, threading, time
from tensix.core import *

class Node(IntrusiveTarget):
    def release_resources(self):
        self.released = True

class Finalized(Node):
    def __del__(self, make=make_intrusive, kind=Node):  # globals may be gone by then
        make(kind).copy()

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""

ALIVE_AT_EXIT = {
    "a strong handle": "strong = make_intrusive(Node)",
    "a weak handle after its target": "weak = WeakIntrusivePtr(make_intrusive(Node))",
    "both handles": "strong = make_intrusive(Node); weak = WeakIntrusivePtr(strong)",
    "a target with __del__": "strong = make_intrusive(Finalized); weak = WeakIntrusivePtr(strong)",
    "a raw count": "strong = make_intrusive(Node); raw.incref(strong.get())",
    "a raw weak count": "strong = make_intrusive(Node); raw.make_weak(strong.get())",
    "a released target": "target = make_intrusive(Node).release()",
    "a released weak count": "target = WeakIntrusivePtr(make_intrusive(Node)).release()",
    "an adapted target": "arena = Node(); strong = IntrusivePtr.unsafe_adapt_non_heap_allocated(arena)",
    "a cycle": "strong = make_intrusive(Finalized); strong.get().me = strong",
    "a cycle never collected": "gc.disable(); strong = make_intrusive(Node); strong.get().me = strong; del strong",
    "a handle in sys": "sys.kept = make_intrusive(Finalized); sys.weak = WeakIntrusivePtr(sys.kept)",
    "storages": "storages = [Storage(1 << 20) for _ in range(10)]; weak = storages[0].weak()",
    "copy-on-write storages": "storage = Storage(100); clones = [storage.lazy_clone() for _ in range(3)]",
    "shared storages": "storage = Storage(100); twin = storage.share()",
    "a storage impl owned by nobody": "impl = Storage(100).unsafe_release_storage_impl()",
    "a closure": "pointer = DataPtr.from_callable(1, lambda address: 1 / 0)",
    "a closure in sys": "sys.kept = DataPtr.from_callable(1, lambda address: 1 / 0)",
    "a closure in a storage": "storage = Storage.from_data_ptr(8, DataPtr.from_callable(1, lambda address: 1 / 0))",
    "a ctypes deleter": "pointer = DataPtr(1, 1, FUNCTION(lambda ctx: 1 / 0))",
    "a ctypes deleter in sys": "sys.kept = DataPtr(1, 1, FUNCTION(lambda ctx: 1 / 0))",
    "a ctypes deleter in a storage": "storage = Storage.from_data_ptr(8, DataPtr(1, 1, FUNCTION(lambda ctx: 1 / 0)))",
    "a memory reporter": "reporter = MemoryReporter(); reporter.__enter__(); storage = Storage(100)",
    "a Python allocator": """
class Upstream(Allocator):
    def allocate(self, nbytes):
        return CPUAllocator().allocate(nbytes)
set_allocator("cpu", Upstream())
storage = Storage(100)
clone = storage.lazy_clone()
""",
}

BUSY_THREAD = """
strong = make_intrusive(Node)
weak = WeakIntrusivePtr(strong)
storage = Storage(100)

def work():
    while True:
        strong.copy()
        weak.lock()
        WeakIntrusivePtr(make_intrusive(Node))
        storage.lazy_clone().mutable_data_ptr()
        DataPtr.from_callable(1, id).clear()

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
"""

SLEEPING_THREAD = """
def keep():
    strong = make_intrusive(Finalized)
    weak = WeakIntrusivePtr(strong)
    storage = Storage(100)
    clone = storage.lazy_clone()
    pointer = DataPtr.from_callable(1, lambda address: 1 / 0)
    started.set()
    time.sleep(1000)

started = threading.Event()
threading.Thread(target=keep, daemon=True).start()
started.wait()
"""

THREAD_LOCAL = """
local = threading.local()

def keep():
    local.kept = [make_intrusive(Finalized), Storage(100), DataPtr.from_callable(1, freed.append)]
    local.kept.append(WeakIntrusivePtr(local.kept[0]))

freed = []
thread = threading.Thread(target=keep)
thread.start()
thread.join()
assert freed == [1]
keep()
"""

LAST_DROP_AT_EXIT = """
import atexit
freed = []
kept = [DataPtr.from_callable(1, freed.append), make_intrusive(Finalized)]
kept.append(WeakIntrusivePtr(kept[1]))

def drop():
    kept.clear()
    assert freed == [1]

atexit.register(drop)
"""

FORKED = """
import os
strong = make_intrusive(Node)
storage = Storage(100).lazy_clone()
child = os.fork() if hasattr(os, "fork") else None
if child == 0:
    strong.copy()
    storage.mutable_data_ptr()
elif child:
    assert os.waitpid(child, 0)[1] == 0
"""


def run_quietly(program):
    ended = subprocess.run(
        [sys.executable, "-c", PRELUDE + program], check=False, capture_output=True, text=True, timeout=60
    )
    assert ended.stderr == ""
    assert ended.returncode == 0


@pytest.mark.parametrize("name", ALIVE_AT_EXIT)
def test_exit_is_quiet_with(name):
    run_quietly(ALIVE_AT_EXIT[name])


@pytest.mark.parametrize(
    "program",
    [BUSY_THREAD, SLEEPING_THREAD, THREAD_LOCAL, LAST_DROP_AT_EXIT, FORKED],
    ids=["busy threads", "a sleeping thread", "thread-local handles", "an atexit function", "a fork"],
)
def test_exit_is_quiet_after(program):
    run_quietly(program)


def test_what_dies_before_the_exit_is_freed():
    run_quietly("""
freed = []
pointer = DataPtr.from_callable(1, freed.append)
storage = Storage.from_data_ptr(8, DataPtr(2, 2, FUNCTION(freed.append)))
del pointer, storage
assert freed == [1, 2]
assert CPUAllocator.bytes_in_use() == 0
""")


@pytest.mark.parametrize(
    "program",
    [
        "DataPtr.from_callable(1, sys.exit).clear()",
        "DataPtr(1, 1, FUNCTION(sys.exit)).clear()",
        "strong = make_intrusive(Exiting); weak = WeakIntrusivePtr(strong); strong.reset()",
    ],
    ids=["closure", "ctypes", "release_resources"],
)
def test_sys_exit_in_a_clean_up_is_reported_and_ends_nothing(program):
    run_quietly(f"""
class Exiting(IntrusiveTarget):
    def release_resources(self):
        sys.exit(1)

reports = []
sys.unraisablehook = lambda event: reports.append(event.exc_type)
{program}
assert reports == [SystemExit]
""")
