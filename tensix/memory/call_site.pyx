"""Where in Python a block was asked for: a number taken at once, file, line and function looked up later.

Note [Taking a stack cheaply]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A traceback that somebody can read costs tens of microseconds; an allocation costs a tenth of one. So a stack is taken
as its code objects and the offsets of their running instructions, which are there already, and the same stack gets the
same number from a hash table. Lines come out of a table that the compiler packed and that has to be walked from the
start; that is done once for each stack of instructions. A table keeps the code objects of its stacks alive, so that no
other one can take their address.

What has a number is the stack of lines: a line may have many instructions, and CPython 3.11 calls the same function
from another instruction once it knows what it calls. So every stack is in the table twice, by its instructions and by
its lines, and the first points to the second.

All frames are taken before the table is touched: making a frame object may run the collector, which may run anything,
this function included.
"""
import os
from typing import NamedTuple

cimport cython
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport int32_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

__all__ = ["CallSites", "Frame"]

cdef extern from "Python.h":
    ctypedef struct PyThreadState:
        pass
    ctypedef struct PyFrameObject:
        pass
    PyThreadState* PyThreadState_Get()
    # Cython's own declarations of these take a frame as an object, and would count references for nothing.
    PyFrameObject* PyThreadState_GetFrame(PyThreadState* thread)
    PyFrameObject* PyFrame_GetBack(PyFrameObject* frame)
    PyCodeObject* PyFrame_GetCode(PyFrameObject* frame)
    int PyFrame_GetLasti(PyFrameObject* frame)
    int PyCode_Addr2Line(PyCodeObject* code, int offset)
    void drop_frame "Py_XDECREF" (PyFrameObject* frame)
    void drop_code "Py_DECREF" (PyCodeObject* code)

cdef enum:
    MAX_DEPTH = 64
    MAX_SITES = 2097152       # two for a stack; more different ones than half of this are not told apart

DEFAULT_DEPTH = 32
OUR_FILES = os.path.dirname(os.path.dirname(__file__)) + os.sep


@cython.binding(True)
class Frame(NamedTuple):
    """Say where in a Python program something happened.

    Attributes
    ----------
    file : str
        As Python's own tracebacks name it.
    line : int
        From 1; 0 if it is not known.
    function : str
        With its class, such as ``"Model.step"``.

    Examples
    --------
    >>> from tensix.memory import Frame
    >>> print(Frame("train.py", 12, "Model.step"))
    train.py:12 in Model.step
    """

    file: str
    line: int
    function: str

    def __str__(self):
        return f"{self.file}:{self.line} in {self.function}"


cdef class CallSites:
    """Number the stacks of Python frames from which something is done.

    Parameters
    ----------
    depth : int, 1 to 64, optional
        The most frames of a stack to read, from the innermost.

    Notes
    -----
    Lifetime: the table keeps the code of the functions that it has seen; no frame and no variable of theirs.

    Thread-safety: any thread may ask, with the GIL.

    Examples
    --------
    >>> from tensix.memory import CallSites
    >>> sites = CallSites()
    >>> def work():
    ...     return sites.capture()
    >>> numbers = [work() for _ in range(3)]
    >>> len(set(numbers)), len(sites), sites.frames(numbers[0])[0].function
    (1, 1, 'work')
    """

    def __cinit__(self):
        self.depth = DEFAULT_DEPTH
        self.site_count = 1

    def __init__(self, depth=DEFAULT_DEPTH):
        if not 1 <= depth <= MAX_DEPTH:
            raise ValueError(f"depth must be from 1 to {MAX_DEPTH} frames, found {depth}.")
        self.depth = depth

    def __dealloc__(self):
        cdef uint32_t i
        for i in range(self.frame_count):
            drop_code(self.positions[i].code)
        free(self.sites)
        free(self.positions)
        free(self.slots)

    def capture(self):
        """Return the number of the stack that this is called from.

        Returns
        -------
        int
            The same for the same lines; 0 if there is no Python frame, or no memory for a new stack.
        """
        return CallSites_capture(self)

    def frames(self, site):
        """Return the frames of a stack, innermost first.

        Parameters
        ----------
        site : int
            What `capture` returned.

        Returns
        -------
        list of Frame
            Without those of tensix itself and of the interpreter's frozen modules; empty for 0.

        Raises
        ------
        ValueError
            If `capture` of this table never returned that number.
        """
        if site == 0:
            return []
        if not 0 < site < self.site_count or self.sites[<uint32_t>site].number != site:
            raise ValueError(f"no stack has the number {site}: ask for those that capture() of this table returned.")
        frames = []
        cdef call_site_t found = self.sites[<uint32_t>site]
        cdef uint32_t i
        for i in range(found.first, found.first + found.length):
            code = <object><PyObject*>self.positions[i].code
            if not is_left_out(code.co_filename):
                frames.append(Frame(code.co_filename, ~self.positions[i].offset, code.co_qualname))
        return frames

    def __len__(self):
        return self.stack_count

    def __repr__(self):
        return f"CallSites(depth={self.depth}): {len(self)} stacks"


def is_left_out(str file not None):
    """Whether frames of a file tell a user nothing: they are ours, or the interpreter's import and run machinery."""
    return file.startswith(OUR_FILES) or file.startswith("<frozen ")


cdef uint32_t CallSites_capture(CallSites self) noexcept:
    """See Note [Taking a stack cheaply]."""
    cdef code_position_t taken[MAX_DEPTH]
    cdef int length = 0
    cdef uint64_t hashed = 0
    cdef PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get())
    cdef PyFrameObject* outer
    while frame != NULL and length < self.depth:
        taken[length].code = PyFrame_GetCode(frame)
        drop_code(taken[length].code)  # the frame is running and keeps it
        taken[length].offset = PyFrame_GetLasti(frame)
        hashed = mixed(hashed, <uintptr_t>taken[length].code, taken[length].offset)
        length += 1
        outer = PyFrame_GetBack(frame)
        drop_frame(frame)
        frame = outer
    drop_frame(frame)
    return number_of(self, taken, length, hashed) if length else 0


cdef inline uint64_t mixed(uint64_t hashed, uintptr_t code, int32_t offset) noexcept nogil:
    hashed = (hashed ^ <uint64_t>code ^ (<uint64_t><uint32_t>offset << 48)) * 0x9E3779B97F4A7C15U
    return hashed ^ (hashed >> 29)


cdef uint32_t number_of(CallSites self, code_position_t* taken, int length, uint64_t hashed) noexcept:
    """Return the number of a stack, a new one at the first sight of its lines."""
    cdef uint32_t site = find(self, taken, length, hashed)
    if site != 0:
        return self.sites[site].number
    cdef code_position_t lines[MAX_DEPTH]
    cdef uint64_t hashed_lines = 0
    cdef int i
    for i in range(length):
        lines[i].code, lines[i].offset = taken[i].code, ~max(PyCode_Addr2Line(taken[i].code, taken[i].offset), 0)
        hashed_lines = mixed(hashed_lines, <uintptr_t>lines[i].code, lines[i].offset)
    cdef uint32_t number = find(self, lines, length, hashed_lines)
    if number == 0:
        number = add(self, lines, length, hashed_lines, 0)
        self.stack_count += number != 0
    if number != 0:
        add(self, taken, length, hashed, number)  # without memory for it, the lines are looked up the next time too
    return number


cdef inline uint32_t find(CallSites self, const code_position_t* taken, int length, uint64_t hashed) noexcept nogil:
    """Return which site these positions are, or 0."""
    cdef uint32_t mask = self.slot_count - 1
    cdef uint32_t slot = <uint32_t>hashed & mask
    cdef call_site_t* site
    if self.slots == NULL:
        return 0
    while self.slots[slot] != 0:
        site = &self.sites[self.slots[slot]]
        if site.hash == hashed and site.length == <uint32_t>length:
            if is_same(&self.positions[site.first], taken, length):
                return self.slots[slot]
        slot = (slot + 1) & mask
    return 0


cdef uint32_t add(
        CallSites self, const code_position_t* taken, int length, uint64_t hashed, uint32_t number) noexcept:
    """Return a new site with the number of another, or its own if that is 0; 0 if there is no memory."""
    if 2 * (self.site_count + 1) > self.slot_count and not grow_slots(self):
        return 0
    if not grow_arrays(self, length):
        return 0
    cdef uint32_t made = self.site_count
    cdef call_site_t* site = &self.sites[made]
    site.hash, site.first, site.length = hashed, self.frame_count, <uint32_t>length
    site.number = number if number != 0 else made
    memcpy(&self.positions[self.frame_count], taken, length * sizeof(code_position_t))
    cdef int i
    for i in range(length):
        Py_INCREF(<object><PyObject*>taken[i].code)
    self.frame_count += <uint32_t>length
    self.site_count += 1
    enter(self.slots, self.slot_count, hashed, made)
    return made


cdef inline void enter(uint32_t* slots, uint32_t slot_count, uint64_t hashed, uint32_t site) noexcept nogil:
    """Write a site into the first empty slot from where it belongs."""
    cdef uint32_t slot = <uint32_t>hashed & (slot_count - 1)
    while slots[slot] != 0:
        slot = (slot + 1) & (slot_count - 1)
    slots[slot] = site


cdef inline bint is_same(const code_position_t* one, const code_position_t* other, int length) noexcept nogil:
    cdef int i
    for i in range(length):  # not memcmp: there is padding
        if one[i].code != other[i].code or one[i].offset != other[i].offset:
            return False
    return True


cdef bint grow_slots(CallSites self) noexcept:
    """Make the hash table twice as large; return whether there was memory."""
    cdef uint32_t slot_count = max(<uint32_t>64, 2 * self.slot_count)
    cdef uint32_t* slots = <uint32_t*>calloc(slot_count, sizeof(uint32_t))
    cdef uint32_t site
    if slots == NULL:
        return False
    for site in range(1, self.site_count):
        enter(slots, slot_count, self.sites[site].hash, site)
    free(self.slots)
    self.slots, self.slot_count = slots, slot_count
    return True


cdef bint grow_arrays(CallSites self, int length) noexcept:
    """Make space for one more stack; return whether there is."""
    cdef void* larger
    if self.site_count >= self.site_capacity:
        if self.site_count >= MAX_SITES:
            return False
        larger = realloc(self.sites, 2 * (self.site_capacity + 32) * sizeof(call_site_t))
        if larger == NULL:
            return False
        self.sites, self.site_capacity = <call_site_t*>larger, 2 * (self.site_capacity + 32)
    if self.frame_count + <uint32_t>length > self.frame_capacity:
        larger = realloc(self.positions, 2 * (self.frame_capacity + 256) * sizeof(code_position_t))
        if larger == NULL:
            return False
        self.positions, self.frame_capacity = <code_position_t*>larger, 2 * (self.frame_capacity + 256)
    return True
