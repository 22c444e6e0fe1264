"""The resident memory of the process, divided by what it is for, now and over time.

Note [Parts of the resident memory]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
tensix counts arrays, caches and recordings. The interpreter's arenas are counted from the first call on. The C library
tells the size of its heaps, which hold the smaller blocks that tensix counts too: what is left of them belongs to
other libraries and to Python's larger objects. The kernel counts pages of files and of shared memory. Its table of
mappings tells libraries and stacks: what lies behind a guard page is a stack, and the region of an address that Arrow
gives out is Arrow's, whose allocator reserves a gigabyte at a time. Without the GIL, Python's does so, too, and has all
of its objects.
Arrays that were not touched are counted, but not resident: the parts may be more than the whole; then the rest is 0.

Reading the table takes milliseconds in a large process. A thread that samples spends a twenty-fifth of its time on it,
and repeats what it read last in between. Pages of files are counted with each sample; which of them are libraries, and
what was copied on write, the table tells: libraries that are loaded meanwhile are files until it is read again.
"""

import re
import sys
import time
from importlib import import_module
from typing import NamedTuple

from tensix._support.argument_errors import names_signature
from tensix._support.format_size import format_size
from tensix.core.cpu_allocator import region_bytes
from tensix.core.memory_reports import memory_allocated
from tensix.memory.background_thread import BackgroundThread
from tensix.memory.caching_allocator import cached_bytes
from tensix.memory.process_parts import arena_bytes, resident_in, resident_now
from tensix.memory.shared_memory_allocator import shared_bytes

__all__ = ["UNTOUCHED", "ResidentMemory", "ResidentParts", "resident"]

DEFAULT_INTERVAL = 0.02  # seconds
HAS_ARENAS = "t" not in getattr(sys, "abiflags", "")  # else there is no GIL
PARTS = ("python", "heap", "heap_free", "arrow", "libraries", "files", "shared", "stacks")
# Nanoseconds from the start; bytes that are resident, that caches keep, that the recording takes, and the other parts.
COLUMNS = ("time_ns", "nbytes", "cached", "recording", *PARTS)
UNTOUCHED = "untouched"  # bytes of blocks of other libraries that are not resident; a column where these are recorded
MOST_SAMPLES = 4096
PAUSE_PER_COST = 24
MAPPING = re.compile(
    rb"^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \d+ *(.*)\n(?:Size|KernelPageSize|MMUPageSize): .*\n"
    rb"(?:(?:KernelPageSize|MMUPageSize): .*\n)*Rss: +(\d+) kB\n(?:[A-Z]\w+: .*\n)*?Anonymous: +(\d+) kB", re.MULTILINE
)  # fmt: skip
MOST_OF_A_GUARD = 1 << 16  # bytes


class ResidentParts(NamedTuple):
    """Say how much of the process is in main memory, in bytes, and for what; printed as a table.

    Attributes
    ----------
    total : int
        All of it.
    arrays : int
        Arrays and tensors in memory of tensix.
    cached : int
        What caches keep for reuse.
    python : int
        The interpreter's arenas, in which its objects of up to 512 bytes are; without the GIL, all of its objects.
    heap : int
        The C library's heap in use: larger Python objects, and what other libraries allocate.
    heap_free : int
        The C library's heap that is free but kept.
    arrow : int
        The memory that Arrow manages by itself, below the columns of pandas and Polars too.
    libraries, files, shared, stacks : int
        Programs and libraries, other files that are mapped, shared memory that is not of tensix, stacks of threads.
    rest : int
        What is in none of these, such as memory that other libraries map themselves.
    """

    total: int
    arrays: int
    cached: int
    python: int
    heap: int
    heap_free: int
    arrow: int
    libraries: int
    files: int
    shared: int
    stacks: int
    rest: int

    __module__ = "tensix"  # See Note [Modules of classes]

    def __str__(self):
        return "\n".join(f"{name.replace('_', ' '):<10} {format_size(nbytes):>12}"
                         for name, nbytes in self._asdict().items())  # fmt: skip


@names_signature
def resident():
    """Return what of the process is in main memory, and for what.

    Returns
    -------
    ResidentParts
        All parts are bytes. Parts that the system does not tell are 0; only Linux with glibc tells them all.

    Notes
    -----
    The first call begins to count the interpreter's arenas, for which it reads the interpreter's own report.

    Thread-safety: any thread may ask. It takes milliseconds in a large process.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.ones(10_000_000)
    >>> parts = tensix.memory.resident()
    >>> parts.arrays > 0, parts.total == sum(parts[1:])
    (True, True)
    """
    arrays, cached = memory_allocated("cpu"), cached_bytes()
    total, _, _, *told = resident_nbytes() or (0,) * 7
    parts = parts_with(read_mappings(), told, arrays + cached, 0)
    left, fitting = total, []
    for nbytes in (cached, *parts[:1], *parts[3:], parts[1], arrays, parts[2]):  # last what may not be touched
        fitting.append(min(nbytes, left))
        left -= fitting[-1]
    cached, python, arrow, libraries, files, shared, stacks, heap, arrays, heap_free = fitting
    return ResidentParts(total, arrays, cached, python, heap, heap_free, arrow, libraries, files, shared, stacks, left)


def parts_with(mappings, told, counted, recording):
    """Return the bytes of `PARTS`, from what `read_mappings` returned and what `resident_now` told of files and heaps.

    `counted` is what tensix counts, which lies in the heap or in regions of its own; `recording` is what a recording
    takes, in the heap.
    """
    files, shared, used, unused = told
    own = shared_bytes()
    used -= max(counted - region_bytes() - own, 0) + recording
    python, arrow, libraries, more_of_files, stacks = mappings
    files, shared, used = max(files + more_of_files, 0), max(shared - own, 0), max(used, 0)
    python, arrow = arena_bytes() + resident_in(*python), resident_in(*arrow)
    return python, used, unused, arrow, libraries, files, shared, stacks


def read_mappings():
    """Return the regions of Python and Arrow, and bytes: of libraries, what to add to pages of files, and of stacks.

    What is added is what was copied on write, less the pages of libraries: mostly below 0. What is not known is 0.
    """
    python, python_address = (0, 0), 0 if HAS_ARENAS else id(object())
    arrow, arrow_address = (0, 0), address_in_arrow()
    try:
        with open("/proc/self/smaps", "rb") as file:
            table = MAPPING.findall(file.read())
    except (OSError, MemoryError):
        return python, arrow, 0, 0, 0
    programs = {name for _, _, access, name, _, _ in table if access[2:3] == b"x" and name.startswith(b"/")}
    libraries = more_of_files = stacks = guard_end = run_begins = run_ends = 0
    for begin, end, access, name, resident_kb, anonymous_kb in table:
        begins, ends, nbytes, anonymous = int(begin, 16), int(end, 16), int(resident_kb) << 10, int(anonymous_kb) << 10
        if not name:
            run_begins, run_ends = begins if begins != run_ends else run_begins, ends
            if run_begins <= python_address < ends:  # with the parts of it that have no access, for nothing uses them
                python = run_begins, ends
        is_guard = access == b"---p" and not name and ends - begins <= MOST_OF_A_GUARD
        if name in programs:
            libraries += nbytes
            more_of_files -= nbytes - anonymous
        elif name.startswith(b"/"):
            more_of_files += anonymous  # copied on write
        elif not name and begins <= arrow_address < ends:
            arrow = begins, ends
        elif name.startswith(b"[stack") or (begins == guard_end and not name):
            stacks += nbytes
        guard_end = ends if is_guard else 0
    return python, arrow, libraries, more_of_files, stacks


def address_in_arrow():
    """Return an address in the region that Arrow's allocator has reserved, 0 if it has none of its own."""
    arrow = sys.modules.get("pyarrow")
    try:
        pool = arrow.default_memory_pool()
        return 0 if pool.backend_name == "system" else arrow.allocate_buffer(64, memory_pool=pool).address
    except (AttributeError, MemoryError):  # it is not imported, or not yet
        return 0


class ResidentMemory:
    """Sample how much of the process is in main memory, in a thread, from `start` to `stop`.

    There are so many seconds between samples; True means `DEFAULT_INTERVAL`. `recording_bytes` returns the bytes that
    the recording takes itself. `native_bytes` returns the bytes of recorded blocks of other libraries in the C heap, in
    the interpreter's arenas and in shared memory, which the parts are then without, and how much of their mappings was
    never touched if it is called with True, which takes time; None if such blocks are not recorded.

    Linux tells the highest value so far, too: a peak between two samples stands in the later one. Other systems that
    have `resource` tell nothing else, so there the line never falls. Elsewhere there are no samples.

    The samples are bounded: of two that stand next to each other the larger is kept, as often as necessary.
    """

    def __init__(self, interval, recording_bytes, native_bytes=lambda measures: None):
        if interval is True:
            interval = DEFAULT_INTERVAL
        if not interval > 0:
            raise ValueError(f"resident memory is sampled every so many seconds, more than 0; found {interval}.")
        self.interval = interval
        self.recording_bytes, self.native_bytes = recording_bytes, native_bytes
        self.rows = []  # a tuple of COLUMNS each; exchanged as a whole
        self.count, self.per_row = 0, 1
        self.highest = 0
        self.thread = None
        self.untouched = 0
        self.row_before = (0,) * (2 + len(PARTS) + 1)
        self.mappings, self.read_again = ((0, 0), (0, 0), 0, 0, 0), 0.0

    def start(self):
        """Begin with the first sample."""
        self.started_ns = time.monotonic_ns()
        found = resident_nbytes()
        if found is not None:
            self.highest = found[1]  # before the start, which is not shown
            pause = self.take()
            self.thread = BackgroundThread("tensix resident memory", self.take, pause, in_child=True).start()
        return self

    def stop(self):
        """End with a last sample."""
        if self.thread is not None:
            self.thread.end()
            self.thread = None
            self.read_again = 0.0
            self.rows.append(self.sample())

    def take(self):
        """Take one sample, and return the seconds until the next."""
        row = self.sample()
        self.highest = max(self.highest, row[1])
        if self.count % self.per_row == 0:
            self.rows.append(row)
        elif row[1] > self.rows[-1][1]:
            self.rows[-1] = row
        self.count += 1
        if len(self.rows) == MOST_SAMPLES:
            pairs = zip(self.rows[::2], self.rows[1::2], strict=True)
            self.rows = [max(pair, key=lambda row: row[1]) for pair in pairs]
            self.per_row *= 2
        return self.interval

    def sample(self):
        """Return a row; what is resident is the highest since the last sample, if that is the highest of all.

        That was somewhere between the two, so each part is the larger of the two.
        """
        cached, recording = cached_bytes(), self.recording_bytes()
        in_heap, in_arenas, in_shared, _ = self.native_bytes(False) or (0, 0, 0, 0)
        counted = memory_allocated("cpu") + cached + in_heap  # from here on other threads may have the GIL
        now, highest, at_ns, files, shared, *heap = resident_nbytes()
        is_highest = highest > self.highest
        nbytes = highest if is_highest else now
        if time.monotonic() >= self.read_again:  # see Note [Parts of the resident memory]
            began = time.thread_time()  # without what it waits for the GIL
            self.mappings = read_mappings()
            self.untouched = (self.native_bytes(True) or (0,))[-1]
            self.read_again = time.monotonic() + PAUSE_PER_COST * (time.thread_time() - began)
        told = files, max(shared - in_shared, 0), *heap
        python, *parts = parts_with(self.mappings, told, counted, recording)
        row = cached, recording, max(python - in_arenas, 0), *parts, self.untouched
        before, self.row_before = self.row_before, row
        return at_ns - self.started_ns, nbytes, *(map(max, before, row) if is_highest else row)

    def columns(self):
        """Return the samples up to now as a snapshot has them, with one of this moment if they go on."""
        rows = [*self.rows, self.sample()] if self.thread is not None else self.rows
        names = COLUMNS if self.native_bytes(False) is None else (*COLUMNS, UNTOUCHED)
        return {name: [row[position] for row in rows] for position, name in enumerate(names)}


def resident_nbytes():
    """Return what `resident_now` does, None where no one tells."""
    found = resident_now()
    if found[0]:
        return found
    try:
        resource = import_module("resource")
    except ImportError:  # Windows
        return None
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return highest, highest, time.monotonic_ns(), 0, 0, 0, 0
