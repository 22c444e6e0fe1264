"""What the lines of a program do: how much each allocates, what lazy clones copy, what is alive at the end.

A block counts for the innermost line of the user's program: Note [Whose line it was] in ``code_origin.py``. The line of
a stack is looked up when the stack is met for the first time; after that an allocation costs taking the stack and two
hash lookups. The numbers of a line and the table of living blocks are guarded by the listeners' lock: Note [Listening]
in ``memory_reports.pyx``.

Note [The last moment]
~~~~~~~~~~~~~~~~~~~~~~
With ``TENSIX_LEAKS=1`` the whole process is profiled, and what is alive at its end reported. A report from an
``atexit`` function would call every global variable a leak. So it is written after the interpreter is gone: by then
modules are cleared and the collector has run, and what was held by them alone is free. No Python is left to write it
with, so the lines were put into C strings when they first allocated, and the numbers are C's.
"""
import functools
import threading
from importlib import import_module
from typing import NamedTuple

cimport cython
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libc.stdio cimport fprintf, stderr
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from tensix.core.memory_reports cimport (
    MemoryListener, lock_listeners, new_block_t, start_listening, stop_listening, unlock_listeners,
)
from tensix.core.python_reference cimport pass_on, pending_exception_t, restore_exception, save_exception
from tensix.memory.block_table cimport (
    block_table_clear, block_table_number, block_table_put, block_table_t, block_table_take,
)
from tensix.memory.call_site cimport CallSites, CallSites_capture
from tensix.memory.growing_array cimport grow

from tensix._support.format_size import format_size
from tensix.memory.call_site import NOWHERE

__all__ = ["CopyRow", "Profile", "ProfileRow", "copies", "profile"]

cdef extern from "Python.h":
    int Py_AtExit(void (*function)() noexcept nogil)

cdef enum:
    FROM_NOWHERE = 1  # the position of the line of what was not called from Python

DEPTH = 16  # enough to get out of tensix's own frames and most libraries'; else more are read


class ProfileRow(NamedTuple):
    """Say what one line allocated.

    Attributes
    ----------
    place : Frame
        The line; its file is ``"?"`` for what was not called from Python.
    peak_bytes : int
        The most bytes from here that were alive at one time.
    total_bytes, total_count : int
        Bytes and blocks allocated here.
    current_bytes, current_count : int
        What of these is still alive.
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    place: Frame
    peak_bytes: int
    total_bytes: int
    total_count: int
    current_bytes: int
    current_count: int


class CopyRow(NamedTuple):
    """Say what one line copied.

    Attributes
    ----------
    place : Frame
        The line; its file is ``"?"`` for what was not called from Python.
    nbytes : int
        Bytes copied.
    times : int
        How often.
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    place: Frame
    nbytes: int
    times: int


cdef struct line_numbers_t:
    char* text              # "train.py:12 in step"; owned
    int64_t current_bytes
    int64_t current_count
    int64_t peak_bytes
    int64_t total_bytes
    int64_t total_count


@cython.no_gc_clear  # until it is deallocated it listens
cdef class Profile(MemoryListener):
    """Profile(quiet=False, through=None)\n--\n
    Hold what each line allocated; `profile` makes one.

    Use it as a context manager, once. The numbers can be read while the scope is open and afterwards; after it they
    stay as they were at its end.

    Attributes
    ----------
    quiet : bool
        Whether no table is printed at the end.
    """

    cdef readonly bint quiet
    cdef CallSites sites
    cdef object through         # what it was given
    cdef dict positions         # Frame -> position of its line, of all but the first and in their order
    cdef line_numbers_t* lines  # the first one is the sum of all, the second FROM_NOWHERE
    cdef uint32_t line_count
    cdef size_t line_capacity
    cdef block_table_t line_of_site  # number of a stack and 1 -> position of its line
    cdef block_table_t living   # address -> position of its line

    def __cinit__(self, *args, **kwargs):
        self.needs_lock = True
        self.sites = CallSites(DEPTH)
        self.positions = {}
        if not Profile_add_line(self, None) or not Profile_add_line(self, NOWHERE):
            raise MemoryError("no memory for a profile.")

    def __init__(self, quiet=False, through=None):
        self.quiet = quiet
        self.sites, self.through = CallSites(DEPTH, through), through

    def __dealloc__(self):
        cdef uint32_t i
        stop_listening(self)
        block_table_clear(&self.living)
        for i in range(self.line_count):
            free(self.lines[i].text)
        free(self.lines)
        block_table_clear(&self.line_of_site)

    @property
    def rows(self):
        """A `ProfileRow` for each line that allocated, the highest peak first."""
        with cython.critical_section(self):
            found = [row_of(&self.lines[i + 1], place) for i, place in enumerate(list(self.positions))]
        return sorted((row for row in found if row.total_count), key=lambda row: (-row.peak_bytes, row.place))

    def as_dict(self):
        """Return the numbers as plain data, which `json` can write: those of all lines together, and ``"rows"``."""
        rows = [{**row.place._asdict(), **row._asdict()} for row in self.rows]
        for row in rows:
            del row["place"]
        whole = row_of(&self.lines[0], NOWHERE)._asdict()
        del whole["place"]
        return {**whole, "rows": rows}

    def __exit__(self, *exc_info):
        stop_listening(self)
        if not self.quiet:
            print(self)

    def _held_by_line(self):
        """Return how many bytes the blocks that are alive take, by the lines that allocated them."""
        return {row.place: row.current_bytes for row in self.rows}

    def __call__(self, function):
        """Return a function that does the same and is profiled at every call."""
        return profiled(function, self.quiet, self.through)

    def __repr__(self):
        cdef line_numbers_t* whole = &self.lines[0]
        return (
            f"profile(peak={format_size(whole.peak_bytes)}, "
            f"total={format_size(whole.total_bytes)} in {whole.total_count:,}, lines={len(self.rows):,})"
        )

    def _repr_html_(self):
        return import_module("tensix.profiling.tables").table_of_profile(self)

    def __str__(self):
        lines = [f"{'peak':>12} {'total':>12} {'count':>9} {'alive':>12} {'count':>9}  line"]
        rows = self.rows
        if not rows:
            return (
                "no block was allocated. NumPy's arrays are seen inside tensix.memory.serve_numpy(), PyTorch's tensors "
                "inside serve_torch()."
            )
        for row in [*rows, row_of(&self.lines[0], None)]:
            place = "all lines together" if row.place is None else row.place
            lines.append(
                f"{format_size(row.peak_bytes):>12} {format_size(row.total_bytes):>12} {row.total_count:>9,} "
                f"{format_size(row.current_bytes):>12} {row.current_count:>9,}  {place}"
            )
        return "\n".join(lines)

    cdef str only_once(self):
        return "a profile is entered once: call profile() again for another one."

    cdef void allocated(self, const new_block_t* block) noexcept:
        cdef uint32_t site = CallSites_capture(self.sites)
        cdef uint32_t position
        with cython.critical_section(self):
            position = <uint32_t>block_table_number(&self.line_of_site, <void*>(<uintptr_t>site + 1))
            if position == 0:
                position = Profile_look_up(self, site)
        if position != 0:  # else there is no memory, and the block does not count
            lock_listeners()
            Profile_count(self, position, block)
            unlock_listeners()

    cdef void allocated_without_python(self, const new_block_t* block) noexcept nogil:
        Profile_count(self, FROM_NOWHERE, block)

    cdef void freed(self, void* data, size_t nbytes, uint64_t stamp) noexcept nogil:
        cdef uint64_t position
        if block_table_take(&self.living, data, &position):
            take(&self.lines[position], <int64_t>nbytes)
            take(&self.lines[0], <int64_t>nbytes)


def profile(function=None, *, quiet=False, through=None):
    """Show which lines allocate how much, in a scope or in every call of a function.

    Parameters
    ----------
    function : callable, optional
        What to profile: ``@profile`` stands above it. Every call prints a table when it ends, and leaves its numbers as
        ``function.last_profile``. A call from inside such a call, by the same thread, belongs to that one.
    quiet : bool, optional
        Print nothing.
    through : list of str or path-like, optional
        Packages whose lines are not the user's, as of `CallSites`; by default all that are installed.

    Returns
    -------
    Profile or callable
        The scope, or the function to call instead.

    Raises
    ------
    TypeError
        If it is not a function, or one of generators or coroutines, of which a call returns before the body runs; if
        `through` is not a list.
    ValueError
        If a package or folder of `through` is not there.

    Notes
    -----
    A block counts for the innermost line of the user's program, as `CallSites.place` says. Blocks that are older than
    the scope do not count. All threads do.

    Lifetime: a profile keeps no block and no tensor alive, but the code of the functions.

    Thread-safety: any thread may allocate, free and read.

    Examples
    --------
    >>> import tensix
    >>> with tensix.memory.profile(quiet=True) as p:
    ...     x = tensix.ones(1000)
    ...     y = x + x
    >>> [(row.place.function, row.peak_bytes, row.current_count) for row in p.rows]
    [('<module>', 4000, 1), ('<module>', 4000, 1)]
    """
    return Profile(quiet, through) if function is None else profiled(function, quiet, through)


def profiled(function, quiet, through):
    """Return a function that is profiled at every call."""
    if not callable(function):
        raise TypeError(f"profile() needs a function, found {type(function).__name__}.")
    import_module("tensix._support.argument_errors").check_runs_to_its_end(function, "profile")  # few programs ask
    inside = set()  # threads

    @cython.binding(True)  # a function that can have the name of another
    @functools.wraps(function)
    def call(*args, **kwargs):
        thread = threading.get_ident()
        if thread in inside:
            return function(*args, **kwargs)
        inside.add(thread)
        call.last_profile = found = Profile(quiet, through)
        try:
            with found:
                return function(*args, **kwargs)
        finally:
            inside.discard(thread)

    call.last_profile = None
    return call


cdef inline void Profile_count(Profile self, uint32_t position, const new_block_t* block) noexcept nogil:
    """Count a block for a line; with the lock."""
    if block_table_put(&self.living, block.data, position):
        add(&self.lines[position], <int64_t>block.nbytes)
        add(&self.lines[0], <int64_t>block.nbytes)


cdef object row_of(const line_numbers_t* line, object place):
    return ProfileRow(
        place, line.peak_bytes, line.total_bytes, line.total_count, line.current_bytes, line.current_count)


cdef inline void add(line_numbers_t* line, int64_t nbytes) noexcept nogil:
    line.current_bytes += nbytes
    line.current_count += 1
    line.total_bytes += nbytes
    line.total_count += 1
    line.peak_bytes = max(line.peak_bytes, line.current_bytes)


cdef inline void take(line_numbers_t* line, int64_t nbytes) noexcept nogil:
    line.current_bytes -= nbytes
    line.current_count -= 1


cdef uint32_t Profile_look_up(Profile self, uint32_t site) noexcept:
    """Return the position of a stack's line, at the first sight of the stack; 0 if memory runs out."""
    cdef pending_exception_t pending = save_exception()
    cdef uint32_t position = 0
    try:
        place = self.sites.place(site)
        if place in self.positions or Profile_add_line(self, place):
            position = self.positions[place]
            block_table_put(&self.line_of_site, <void*>(<uintptr_t>site + 1), position)  # else it is looked up again
    except MemoryError:
        pass
    except BaseException as error:
        pass_on(error)
    restore_exception(pending)
    return position


cdef bint Profile_add_line(Profile self, object place) except -1:
    """Make space for one more line; return whether there was memory. The first one has no place: it is the sum."""
    cdef bint has_space = True
    cdef bytes encoded = str(place).encode("utf-8", "backslashreplace")
    cdef char* text = <char*>malloc(len(encoded) + 1)
    if text == NULL:
        return False
    memcpy(text, <const char*>encoded, len(encoded) + 1)
    if self.line_count == self.line_capacity:
        lock_listeners()
        has_space = grow(<void**>&self.lines, &self.line_capacity, sizeof(line_numbers_t))
        unlock_listeners()
    if not has_space:
        free(text)
        return False
    memset(&self.lines[self.line_count], 0, sizeof(line_numbers_t))
    self.lines[self.line_count].text = text
    self.line_count += 1
    if place is not None:
        self.positions[place] = self.line_count - 1
    return True


@cython.no_gc_clear  # until it is deallocated it listens
cdef class copies(MemoryListener):
    """copies(through=None)\n--\n
    Find the lines at which copy-on-write had to copy, in a scope.

    A line is here if it wrote to a tensor whose bytes were shared, or if it made a lazy clone of bytes that cannot be
    shared, so that they were copied at once.

    Parameters
    ----------
    through : list of str or path-like, optional
        Packages whose lines are not the user's, as of `CallSites`; by default all that are installed.

    Attributes
    ----------
    nbytes, count : int
        Bytes copied, and how often, at all lines together.

    Raises
    ------
    RuntimeError
        If a scope is entered a second time.
    TypeError
        If `through` is not a list.
    ValueError
        If a package or folder of `through` is not there.

    Notes
    -----
    The last one to hold shared bytes takes them without a copy, and ``clone()`` is not a lazy clone: neither is here.

    Thread-safety: copies of all threads are found. The numbers can be read while the scope is open and afterwards.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.zeros(1000)
    >>> y = x.lazy_clone()
    >>> with tensix.memory.copies() as c:
    ...     total = y.sum()
    ...     y += 1
    >>> c.count, c.nbytes
    (1, 4000)
    """

    cdef CallSites sites
    cdef dict of_site       # number of a stack -> [bytes, times]

    def __cinit__(self, *args, **kwargs):
        self.sites, self.of_site = CallSites(DEPTH), {}

    def __init__(self, through=None):
        self.sites = CallSites(DEPTH, through)

    @property
    def rows(self):
        """A `CopyRow` for each line, the most bytes first."""
        cdef dict of_place = {}
        for site, (nbytes, times) in list(self.of_site.items()):
            place = self.sites.place(site)
            row = of_place.get(place, CopyRow(place, 0, 0))
            of_place[place] = CopyRow(place, row.nbytes + nbytes, row.times + times)
        return sorted(of_place.values(), key=lambda row: (-row.nbytes, row.place))

    @property
    def nbytes(self):
        """Bytes copied."""
        return sum(nbytes for nbytes, _ in list(self.of_site.values()))

    @property
    def count(self):
        """How often something was copied."""
        return sum(count for _, count in list(self.of_site.values()))

    def __repr__(self):
        return f"copies({format_size(self.nbytes)} in {self.count:,})"

    def __str__(self):
        rows = [f"{format_size(row.nbytes):>12} {row.times:>9,}  {row.place}" for row in self.rows]
        return "\n".join([f"{'copied':>12} {'times':>9}  line", *rows]) if rows else "no lazy clone was copied"

    cdef str only_once(self):
        return "a scope of copies is entered once: call copies() again for another one."

    cdef void copied(self, size_t nbytes) noexcept:
        cdef list numbers
        with cython.critical_section(self):
            numbers = self.of_site.setdefault(CallSites_capture(self.sites), [0, 0])
            numbers[0] += nbytes
            numbers[1] += 1


cdef PyObject* whole_process = NULL  # the profile of TENSIX_LEAKS=1, which is never freed


cdef void report_leaks() noexcept nogil:
    """Write one line for every line of the program that has blocks alive. See Note [The last moment]."""
    cdef line_numbers_t* lines = (<Profile>whole_process).lines
    cdef uint32_t i
    if lines[0].current_count == 0:
        return
    fprintf(stderr, "tensix: still alive at exit: ")
    write_sum(&lines[0])
    fprintf(stderr, "\n")
    for i in range(1, (<Profile>whole_process).line_count):
        if lines[i].current_count != 0:
            fprintf(stderr, "tensix:   ")
            write_sum(&lines[i])
            fprintf(stderr, ", allocated at %s\n", lines[i].text)


cdef void write_sum(const line_numbers_t* line) noexcept nogil:
    fprintf(stderr, "%lld block%s, ", <long long>line.current_count, b"" if line.current_count == 1 else b"s")
    write_size(line.current_bytes)


cdef void write_size(int64_t nbytes) noexcept nogil:
    """Write a size as `format_size` does."""
    if nbytes <= 1024:
        fprintf(stderr, "%lld bytes", <long long>nbytes)
    elif nbytes < 1 << 20:
        fprintf(stderr, "%.2f KiB", nbytes / 1024.0)
    elif nbytes < 1 << 30:
        fprintf(stderr, "%.2f MiB", nbytes / 1048576.0)
    else:
        fprintf(stderr, "%.2f GiB", nbytes / 1073741824.0)


def watch_leaks():
    """Listen from now on, and report when the process ends."""
    global whole_process
    cdef Profile watching = Profile(quiet=True)
    start_listening(watching)
    Py_INCREF(watching)  # for ever: it listens until the end
    whole_process = <PyObject*>watching
    if Py_AtExit(report_leaks):
        raise RuntimeError("cannot report leaks: too many functions wait for the end of the process already.")
