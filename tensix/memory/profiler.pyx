"""Which lines allocate: how much each has alive, at most and in all.

A block counts for the innermost line of the user's program. The line of a stack is looked up when the stack is met for
the first time; after that an allocation costs taking the stack and two look-ups. The numbers of a line and the table of
living blocks are guarded by the listeners' lock: Note [Listening in C] in ``memory_reporter.pyx``.
"""
import functools
import threading
from typing import NamedTuple

cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset
from tensix.core.memory_reporter cimport (
    lock_listeners,
    new_block_t,
    start_listening,
    stop_listening,
    unlock_listeners,
)
from tensix.core.python_reference cimport (
    bring_exception_back,
    pass_on,
    pending_exception_t,
    set_exception_aside,
)
from tensix.memory.block_table cimport block_table_clear, block_table_put, block_table_take
from tensix.memory.call_site cimport CallSites, CallSites_capture

from tensix.core.format_size import format_size
from tensix.memory.call_site import Frame

__all__ = ["Profile", "ProfileRow", "profile"]

SUSPENDS = 0x20 | 0x80 | 0x100 | 0x200  # the flags of a code that is left and entered again, as inspect names them

DEPTH = 16  # enough to get out of tensix's own frames
NOWHERE = Frame("?", 0, "?")  # what was not called from Python


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

    place: Frame
    peak_bytes: int
    total_bytes: int
    total_count: int
    current_bytes: int
    current_count: int


@cython.no_gc_clear  # until it is deallocated it listens
cdef class Profile:
    """Hold what each line allocated; `profile` makes one.

    Use it as a context manager, once. The numbers can be read while the scope is open and afterwards; after it they
    stay as they were at its end.

    Attributes
    ----------
    quiet : bool
        Whether no table is printed at the end.
    """

    def __cinit__(self, *args, **kwargs):
        self.sites = CallSites(DEPTH)
        self.places, self.positions = [], {}
        if not Profile_add_line(self, None):
            raise MemoryError("no memory for a profile.")

    def __init__(self, quiet=False):
        self.quiet = quiet

    def __dealloc__(self):
        cdef uint32_t i
        stop_listening(&self.table.listener)
        block_table_clear(&self.table.living)
        for i in range(self.table.line_count):
            free(self.table.lines[i].text)
        free(self.table.lines)
        free(self.table.line_of_site)

    @property
    def rows(self):
        """A `ProfileRow` for each line that allocated, the highest peak first."""
        found = [row_of(&self.table.lines[i + 1], place) for i, place in enumerate(list(self.places))]
        return sorted((row for row in found if row.total_count), key=lambda row: (-row.peak_bytes, row.place))

    def as_dict(self):
        """Return the numbers as plain data, which `json` can write: those of all lines together, and ``"rows"``."""
        rows = [{**row.place._asdict(), **row._asdict()} for row in self.rows]
        for row in rows:
            del row["place"]
        whole = row_of(&self.table.lines[0], NOWHERE)._asdict()
        del whole["place"]
        return {**whole, "rows": rows}

    def __enter__(self):
        if self.was_entered:
            raise RuntimeError("a profile is entered once: call profile() again for another one.")
        cdef line_table_t* table = &self.table
        table.owner = <PyObject*>self
        table.listener.state = table
        table.listener.allocated, table.listener.freed = profile_allocation, profile_free
        start_listening(&table.listener)
        self.was_entered = True
        return self

    def __exit__(self, *exc_info):
        stop_listening(&self.table.listener)
        if not self.quiet:
            print(self)

    def __call__(self, function):
        """Return a function that does the same and is profiled at every call."""
        return profiled(function, self.quiet)

    def __str__(self):
        lines = [f"{'peak':>12} {'total':>12} {'count':>9} {'alive':>12} {'count':>9}  line"]
        rows = self.rows
        for row in [*rows, row_of(&self.table.lines[0], None)]:
            place = "all lines together" if row.place is None else row.place
            lines.append(
                f"{format_size(row.peak_bytes):>12} {format_size(row.total_bytes):>12} {row.total_count:>9,} "
                f"{format_size(row.current_bytes):>12} {row.current_count:>9,}  {place}"
            )
        return "\n".join(lines)


def profile(function=None, *, quiet=False):
    """Show which lines allocate how much, in a scope or in every call of a function.

    Parameters
    ----------
    function : callable, optional
        What to profile: ``@profile`` stands above it. Every call prints a table when it ends, and leaves its numbers as
        ``function.last_profile``. A call from inside such a call, by the same thread, belongs to that one.
    quiet : bool, optional
        Print nothing.

    Returns
    -------
    Profile or callable
        The scope, or the function to call instead.

    Raises
    ------
    TypeError
        If it is no function, or one of generators or coroutines, of which a call returns before the body runs.

    Notes
    -----
    A block counts for the innermost line outside of tensix. Blocks that are older than the scope do not count. All
    threads do.

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
    return Profile(quiet=quiet) if function is None else profiled(function, quiet)


def profiled(function, quiet):
    """Return a function that is profiled at every call."""
    if not callable(function):
        raise TypeError(f"profile() needs a function, found {type(function).__name__}.")
    check_runs_to_its_end(function, "profile")
    inside = set()  # threads

    @cython.binding(True)  # a function that can have the name of another
    @functools.wraps(function)
    def call(*args, **kwargs):
        thread = threading.get_ident()
        if thread in inside:
            return function(*args, **kwargs)
        inside.add(thread)
        call.last_profile = found = Profile(quiet=quiet)
        try:
            with found:
                return function(*args, **kwargs)
        finally:
            inside.discard(thread)

    call.last_profile = None
    return call


def check_runs_to_its_end(function, str scope):
    """Check that a call of a function runs its body: that of a generator or coroutine is over before."""
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & SUSPENDS:
        raise TypeError(
            f"{scope} cannot decorate {function.__qualname__}(): a call of a generator or coroutine function returns "
            f"before its body runs. Use `with {scope}():` inside it."
        )


cdef object row_of(const line_numbers_t* line, object place):
    return ProfileRow(
        place, line.peak_bytes, line.total_bytes, line.total_count, line.current_bytes, line.current_count)


cdef void profile_allocation(void* state, const new_block_t* block) noexcept:
    """Count a new block for its line."""
    cdef line_table_t* table = <line_table_t*>state
    cdef Profile self = <Profile>table.owner
    cdef uint32_t site = CallSites_capture(self.sites)
    cdef uint32_t position = table.line_of_site[site] if site < table.site_capacity else 0
    if position == 0:
        position = Profile_look_up(self, site)
        if position == 0:
            return  # no memory: the block does not count
    lock_listeners()
    if block_table_put(&table.living, block.data, position):
        add(&table.lines[position], <int64_t>block.nbytes)
        add(&table.lines[0], <int64_t>block.nbytes)
    unlock_listeners()


cdef void profile_free(void* state, void* data, size_t nbytes, uint64_t birth, bint holds_gil) noexcept nogil:
    cdef line_table_t* table = <line_table_t*>state
    cdef uint64_t position
    if holds_gil:
        lock_listeners()
    if block_table_take(&table.living, data, &position):
        take(&table.lines[position], <int64_t>nbytes)
        take(&table.lines[0], <int64_t>nbytes)
    if holds_gil:
        unlock_listeners()


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
    cdef pending_exception_t pending = set_exception_aside()
    cdef line_table_t* table = &self.table
    cdef uint32_t* larger
    cdef uint32_t position = 0
    cdef uint32_t capacity
    try:
        frames = self.sites.frames(site)
        place = frames[0] if frames else NOWHERE
        known = self.positions.get(place)
        if known is None and Profile_add_line(self, place):
            known = self.positions[place]
        capacity = 2 * site + 64
        if known is not None and site >= table.site_capacity:
            larger = <uint32_t*>realloc(table.line_of_site, capacity * sizeof(uint32_t))
            if larger != NULL:
                memset(larger + table.site_capacity, 0, (capacity - table.site_capacity) * sizeof(uint32_t))
                table.line_of_site, table.site_capacity = larger, capacity
        if known is not None and site < table.site_capacity:
            position = table.line_of_site[site] = known
    except MemoryError:
        pass
    except BaseException as error:
        pass_on(error)
    bring_exception_back(pending)
    return position


cdef bint Profile_add_line(Profile self, object place) except -1:
    """Make room for one more line; return whether there was memory. The first one has no place: it is the sum."""
    cdef line_table_t* table = &self.table
    cdef line_numbers_t* larger
    cdef bytes encoded = str(place).encode("utf-8", "backslashreplace")
    cdef char* text = <char*>malloc(len(encoded) + 1)
    cdef uint32_t capacity
    if text == NULL:
        return False
    memcpy(text, <const char*>encoded, len(encoded) + 1)
    if table.line_count == table.line_capacity:
        capacity = 2 * table.line_capacity + 16
        lock_listeners()
        larger = <line_numbers_t*>realloc(table.lines, capacity * sizeof(line_numbers_t))
        if larger != NULL:
            table.lines, table.line_capacity = larger, capacity
        unlock_listeners()
        if larger == NULL:
            free(text)
            return False
    memset(&table.lines[table.line_count], 0, sizeof(line_numbers_t))
    table.lines[table.line_count].text = text
    table.line_count += 1
    if place is not None:
        self.places.append(place)
        self.positions[place] = table.line_count - 1
    return True
