"""Which lines made a lazy clone really copy."""
cimport cython
from typing import NamedTuple

from cpython.ref cimport PyObject
from tensix.core.memory_reporter cimport memory_listener_t, start_listening, stop_listening
from tensix.memory.call_site cimport CallSites, CallSites_capture

from tensix.core.format_size import format_size
from tensix.memory.call_site import Frame

__all__ = ["CopyRow", "copies"]

DEPTH = 16  # enough to get out of tensix's own frames


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

    place: Frame
    nbytes: int
    times: int


cdef struct copy_listener_t:
    memory_listener_t listener
    PyObject* owner  # the `copies`; borrowed


@cython.no_gc_clear  # until it is deallocated it listens
cdef class copies:
    """Find the lines at which copy-on-write had to copy, in a scope.

    A line is here if it wrote to a tensor whose bytes were shared, or if it made a lazy clone of bytes that cannot be
    shared, so that they were copied at once.

    Attributes
    ----------
    nbytes, count : int
        Bytes copied, and how often, at all lines together.

    Raises
    ------
    RuntimeError
        If a scope is entered a second time.

    Notes
    -----
    The last one to hold shared bytes takes them without a copy, and ``clone()`` is no lazy clone: neither is here.

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

    cdef copy_listener_t own
    cdef CallSites sites
    cdef dict of_site       # number of a stack -> [bytes, times]
    cdef bint was_entered

    def __cinit__(self):
        self.sites, self.of_site = CallSites(DEPTH), {}

    def __dealloc__(self):
        stop_listening(&self.own.listener)

    @property
    def rows(self):
        """A `CopyRow` for each line, the most bytes first."""
        cdef dict of_place = {}
        for site, (nbytes, times) in list(self.of_site.items()):
            frames = self.sites.frames(site)
            place = frames[0] if frames else Frame("?", 0, "?")
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

    def __enter__(self):
        if self.was_entered:
            raise RuntimeError("a scope of copies is entered once: call copies() again for another one.")
        self.own.owner = <PyObject*>self
        self.own.listener.state = &self.own
        self.own.listener.copied = note_copy
        start_listening(&self.own.listener)
        self.was_entered = True
        return self

    def __exit__(self, *exc_info):
        stop_listening(&self.own.listener)

    def __str__(self):
        rows = [f"{format_size(row.nbytes):>12} {row.times:>9,}  {row.place}" for row in self.rows]
        return "\n".join([f"{'copied':>12} {'times':>9}  line", *rows]) if rows else "no lazy clone was copied"


cdef void note_copy(void* state, size_t nbytes) noexcept:
    """Count a copy for the stack that it happened in; the GIL guards the numbers."""
    cdef copies self = <copies>(<copy_listener_t*>state).owner
    cdef list numbers = self.of_site.setdefault(CallSites_capture(self.sites), [0, 0])
    numbers[0] += nbytes
    numbers[1] += 1
