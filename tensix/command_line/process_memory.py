"""Read and limit the private memory of processes on Linux.

Note [Limits of processes]
~~~~~~~~~~~~~~~~~~~~~~~~~~
Linux refuses a process private memory beyond its RLIMIT_DATA: ``malloc`` returns NULL, Python and NumPy raise
``MemoryError``, PyTorch its own error. It counts what is reserved, touched or not, and no shared memory. Processes
inherit the limit, and each counts its own memory.

There is no such limit for several processes together, except in a control group, which few users may create. So the
command reads their memory ten times a second, and lets each of them grow by what is left for all, or only by its share
of it if less than a quarter of the limit is left. Processes may exceed the limit by touching, between two readings,
memory that they reserved before. If together they exceed it by more than `tolerance_of`, the program is terminated.

Programs reserve memory that they never touch, such as the stacks of threads, mostly when they start. That is allowed in
addition to the limit, up to `tolerance_of`.
"""

import contextlib
import os
import sys
from importlib import import_module

__all__ = ["allow_reserved", "limit_to", "memory_of", "more_memory", "processes_of", "share_of", "tolerance_of"]

RESERVED_BYTES = 64 << 20  # beyond a limit, to write the recording


def tolerance_of(limit):
    """Return by how many bytes a limit may be exceeded."""
    return max(64 << 20, limit // 20)


def limit_to(nbytes, number=0):
    """Limit the private memory of a process, and of those that it starts from now on; 0 is this one."""
    resource = import_module("resource")
    hard = resource.prlimit(number, resource.RLIMIT_DATA)[1]
    soft = nbytes if hard == resource.RLIM_INFINITY else min(nbytes, hard)
    resource.prlimit(number, resource.RLIMIT_DATA, (soft, hard))


@contextlib.contextmanager
def more_memory():
    """Raise the limit of this process by `RESERVED_BYTES`, where it has one."""
    resource = import_module("resource") if sys.platform == "linux" else None
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0] if resource else None
    if resource is None or limit == resource.RLIM_INFINITY:
        yield
        return
    limit_to(limit + RESERVED_BYTES)
    try:
        yield
    finally:
        limit_to(limit)


def processes_of(pid):
    """Return the numbers of a process and its descendants."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])  # after the name, which may hold anything
                children.setdefault(parent, []).append(int(name))
    found = [pid]
    for number in found:
        found += children.get(number, ())
    return found


def sizes_in(file, *names):
    """Return the sizes that a file of ``/proc`` has after some names, 0 for those that it lacks."""
    words = file.read().split()
    return [int(words[words.index(name) + 1]) << 10 if name in words else 0 for name in names]


def memory_of(number):
    """Return the private bytes of a process, resident and swapped, and the bytes that RLIMIT_DATA counts."""
    with contextlib.suppress(OSError), open(f"/proc/{number}/status", "rb") as file:
        resident, swapped, data = sizes_in(file, b"RssAnon:", b"VmSwap:", b"VmData:")
        if data:  # else it has ended
            return resident + swapped, data
    return None


def share_of(number):
    """Return a process's private bytes, with its share only of pages that forks share, 0 if it has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{number}/smaps_rollup", "rb") as file:
        if share := sum(sizes_in(file, b"Pss_Anon:", b"SwapPss:")):
            return share
    own = memory_of(number)  # where Linux does not show shares, before 5.4 or of another user's process
    return own[0] if own else 0


def allow_reserved(limit):
    """Raise the limit by what this process has reserved and not touched so far, up to the tolerance."""
    private, data = memory_of("self")
    limit_to(limit + min(max(data - private, 0), tolerance_of(limit)))
