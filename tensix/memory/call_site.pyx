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

Making a frame object may run the collector, which may run anything, this function included. So no pointer into the
table is kept while frames are taken.

Note [Reading on]
~~~~~~~~~~~~~~~~~
A library may be deeper than what is read of a stack, and then the user's line would not be in it. To read further every
time would cost those whose lines are near. So the table knows of a stack that was cut off whether the user's program is
in it; if not, twice as many frames are read, as often as there must be. Whether it is there is found out at the first
sight of such a stack: Note [Whose line it was] in ``code_origin.py``.
"""
from typing import NamedTuple

cimport cython
from cpython.number cimport PyNumber_Index
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport int32_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free
from libc.string cimport memcpy
from tensix.memory.block_table cimport block_table_clear, block_table_number, block_table_put
from tensix.memory.growing_array cimport grow
from tensix.core.python_reference cimport (
    may_run_python, pass_on, pending_exception_t, restore_exception, save_exception,
)

from tensix.memory.code_origin import HIDDEN, USER, CodeOrigins

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
    MAX_FRAMES = 256          # that are read in search of the user's program
    MAX_SITES = 2097152       # two for a stack; more different ones than half of this are not told apart

DEFAULT_DEPTH = 32


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

    __module__ = "tensix"  # See Note [Modules of classes]

    file: str
    line: int
    function: str

    def __str__(self):
        return f"{self.file}:{self.line} in {self.function}" if self.file else self.function


NOWHERE = Frame("?", 0, "?")  # what was not called from Python
cdef object file_name = str


def set_file_name(function):
    """Have a function return the name by which frames call a file: a notebook numbers its cells."""
    global file_name
    file_name = function


@cython.no_gc_clear  # listeners may still take stacks
cdef class CallSites:
    """CallSites(depth=32, through=None)\n--\n
    Number the stacks of Python frames from which something is done.

    Parameters
    ----------
    depth : int, 1 to 64, optional
        The most frames of a stack to read, from the innermost; more, up to 256, while the user's program is not among
        them.
    through : list of str or path-like, optional
        Packages whose lines are not the user's, by the names that they are imported by, or folders;
        ``"site-packages"`` means all that are installed. By default ``["site-packages"]``. tensix, NumPy and the
        standard library never are the user's.

    Raises
    ------
    TypeError
        If `through` is not a list of these.
    ValueError
        If the depth is out of range, or a package or folder is not there.

    Notes
    -----
    Lifetime: the table keeps the code of the functions that it has seen; no frame and no variable of theirs.

    Thread-safety: any thread may ask.

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
        self.origins = CodeOrigins()
        self.site_count = 1

    def __init__(self, depth=DEFAULT_DEPTH, through=None):
        depth = PyNumber_Index(depth)
        if not 1 <= depth <= MAX_DEPTH:
            raise ValueError(f"depth must be from 1 to {MAX_DEPTH} frames, found {depth}.")
        self.depth = depth
        self.origins = CodeOrigins(through)

    def __dealloc__(self):
        cdef uint32_t i
        for i in range(self.frame_count):
            drop_code(self.positions[i].code)
        free(self.sites)
        free(self.positions)
        block_table_clear(&self.of_hash)

    def capture(self):
        """Return the number of the stack that this is called from.

        Returns
        -------
        int
            The same for the same lines; 0 if there is no Python frame, or no memory for a new stack.
        """
        return CallSites_capture(self)

    @cython.critical_section
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
        cdef call_site_t found = site_numbered(self, site)
        cdef uint32_t i
        shown = [i for i in range(found.first, found.first + found.length) if origin_at(self, i) != HIDDEN]
        return [frame_at(self, i) for i in shown]

    @cython.critical_section
    def place(self, site):
        """Return the frame of a stack that a block belongs to: the innermost line of the user's program.

        Parameters
        ----------
        site : int
            What `capture` returned.

        Returns
        -------
        Frame
            Without one of the user's, the innermost of a package, else of the standard library, else of NumPy; its file
            is ``"?"`` if there is none.

        Raises
        ------
        ValueError
            If `capture` of this table never returned that number.

        Examples
        --------
        >>> import concurrent.futures
        >>> from tensix.memory import CallSites
        >>> sites = CallSites()
        >>> def work(number):
        ...     return sites.capture()
        >>> with concurrent.futures.ThreadPoolExecutor() as pool:
        ...     [site] = pool.map(work, [1])
        >>> sites.place(site).function
        'work'
        >>> with concurrent.futures.ThreadPoolExecutor() as pool:
        ...     site = pool.submit(sites.capture).result()
        >>> sites.place(site).file.endswith("concurrent/futures/thread.py")
        True
        """
        if site == 0:
            return NOWHERE
        origin, position = nearest_of(self, site_numbered(self, site))
        return NOWHERE if origin == HIDDEN else frame_at(self, position)

    @cython.critical_section
    def __len__(self):
        cdef uint32_t i, count = 0
        for i in range(1, self.site_count):  # less those that were only the beginning of one
            count += self.sites[i].number == i and self.sites[i].user != MISSING
        return count

    def __repr__(self):
        return f"CallSites(depth={self.depth}): {len(self)} stacks"


cdef call_site_t site_numbered(CallSites self, object number) except *:
    """Return the stack of lines that has a number."""
    number = PyNumber_Index(number)
    if not 0 < number < self.site_count or self.sites[<uint32_t>number].number != number:
        raise ValueError(f"no stack has the number {number}: ask for those that capture() of this table returned.")
    return self.sites[<uint32_t>number]


cdef object origin_at(CallSites self, uint32_t position):
    """Return where the code of a position comes from."""
    return self.origins[(<object><PyObject*>self.positions[position].code).co_filename]


cdef object frame_at(CallSites self, uint32_t position):
    """Return a position, which says its line, as a frame."""
    code = <object><PyObject*>self.positions[position].code
    return Frame(file_name(code.co_filename), ~self.positions[position].offset, code.co_qualname)


cdef tuple nearest_of(CallSites self, call_site_t site):
    """Return where the nearest code of a stack comes from, and its innermost position."""
    cdef uint32_t i
    nearest, position = HIDDEN, site.first
    for i in range(site.first, site.first + site.length):
        origin = origin_at(self, i)
        if origin < nearest:
            nearest, position = origin, i
        if nearest == USER:
            break
    return nearest, position


cdef uint32_t CallSites_capture(CallSites self) noexcept:
    with cython.critical_section(self):
        return capture_alone(self)


cdef uint32_t capture_alone(CallSites self) noexcept:
    """See Note [Taking a stack cheaply] and Note [Reading on]."""
    cdef code_position_t taken[MAX_DEPTH]
    cdef uint32_t length = 0, site
    cdef uint64_t hashed = 0
    cdef pending_exception_t pending = save_exception()
    cdef PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get())
    frame = take_frames(frame, self.depth, taken, &length, &hashed)
    restore_exception(pending)  # in place of the one that there is if Python has no memory for a frame's object
    if length == 0:
        return 0
    site = site_of(self, taken, length, hashed)
    if frame != NULL:
        site = read_on(self, site, frame, taken, length, hashed)
    return self.sites[site].number if site != 0 else 0


cdef uint32_t read_on(
        CallSites self, uint32_t site, PyFrameObject* frame, const code_position_t* near, uint32_t length,
        uint64_t hashed) noexcept:
    """Return the site of a stack of which there is more, from this frame on. See Note [Reading on]."""
    cdef code_position_t taken[MAX_FRAMES]
    cdef pending_exception_t pending
    if site != 0 and not has_user(self, site):
        memcpy(taken, near, length * sizeof(code_position_t))
        while frame != NULL and site != 0 and length < MAX_FRAMES and not has_user(self, site):
            pending = save_exception()
            frame = take_frames(frame, min(2 * length, <uint32_t>MAX_FRAMES), taken, &length, &hashed)
            restore_exception(pending)
            site = site_of(self, taken, length, hashed)
    drop_frame(frame)
    return site


cdef inline PyFrameObject* take_frames(
        PyFrameObject* frame, uint32_t wanted, code_position_t* taken, uint32_t* length, uint64_t* hashed) noexcept:
    """Take frames from this one on until there are as many as wanted; return the one after, NULL if it was the last."""
    cdef PyFrameObject* outer
    while frame != NULL and length[0] < wanted:
        taken[length[0]].code = PyFrame_GetCode(frame)
        drop_code(taken[length[0]].code)  # the frame is running and keeps it
        taken[length[0]].offset = PyFrame_GetLasti(frame)
        hashed[0] = mixed(hashed[0], <uintptr_t>taken[length[0]].code, taken[length[0]].offset)
        length[0] += 1
        outer = PyFrame_GetBack(frame)
        drop_frame(frame)
        frame = outer
    return frame


cdef bint has_user(CallSites self, uint32_t site) noexcept:
    """Whether the user's program is in a stack."""
    cdef uint32_t number = self.sites[site].number
    cdef found_user_t user = FOUND  # if it cannot be found out
    cdef pending_exception_t pending
    if self.sites[site].user != NOT_KNOWN:
        return self.sites[site].user == FOUND
    pending = save_exception()
    try:
        if may_run_python():
            user = FOUND if nearest_of(self, self.sites[number])[0] == USER else MISSING
            self.sites[site].user = self.sites[number].user = user
    except BaseException as error:
        pass_on(error)
    restore_exception(pending)
    return user == FOUND


cdef inline uint64_t mixed(uint64_t hashed, uintptr_t code, int32_t offset) noexcept nogil:
    hashed = (hashed ^ <uint64_t>code ^ (<uint64_t><uint32_t>offset << 48)) * 0x9E3779B97F4A7C15U
    return hashed ^ (hashed >> 29)


cdef inline uint32_t site_of(CallSites self, const code_position_t* taken, uint32_t length, uint64_t hashed) noexcept:
    """Return the site of a stack, with a new number at the first sight of its lines; 0 if there is no memory."""
    cdef uint32_t site = find(self, taken, length, hashed)
    return site if site != 0 else new_site_of(self, taken, length, hashed)


cdef uint32_t new_site_of(CallSites self, const code_position_t* taken, uint32_t length, uint64_t hashed) noexcept:
    """Return the site of a stack that is not in the table by its instructions."""
    cdef code_position_t lines[MAX_FRAMES]
    cdef uint64_t hashed_lines = 0
    cdef uint32_t number, site, i
    for i in range(length):
        lines[i].code, lines[i].offset = taken[i].code, ~max(PyCode_Addr2Line(taken[i].code, taken[i].offset), 0)
        hashed_lines = mixed(hashed_lines, <uintptr_t>lines[i].code, lines[i].offset)
    number = find(self, lines, length, hashed_lines)
    if number == 0:
        number = add(self, lines, length, hashed_lines, 0)
    site = add(self, taken, length, hashed, number) if number != 0 else 0
    return site if site != 0 else number  # without memory for it, the lines are looked up the next time too


cdef inline uint32_t find(
        CallSites self, const code_position_t* taken, uint32_t length, uint64_t hashed) noexcept nogil:
    """Return which site these positions are, or 0."""
    cdef uint32_t number = <uint32_t>block_table_number(&self.of_hash, <void*>hashed), i
    cdef const code_position_t* known
    if number == 0 or self.sites[number].length != length:
        return 0
    known = &self.positions[self.sites[number].first]
    for i in range(length):  # not memcmp: there is padding
        if known[i].code != taken[i].code or known[i].offset != taken[i].offset:
            return 0
    return number


cdef uint32_t add(
        CallSites self, const code_position_t* taken, uint32_t length, uint64_t hashed, uint32_t number) noexcept:
    """Return a new site with the number of another, or its own if that is 0; 0 if there is no memory."""
    if self.site_count >= self.site_capacity and (
            self.site_count >= MAX_SITES or not grow(<void**>&self.sites, &self.site_capacity, sizeof(call_site_t))):
        return 0
    while self.frame_count + length > self.frame_capacity:
        if not grow(<void**>&self.positions, &self.frame_capacity, sizeof(code_position_t)):
            return 0
    cdef uint32_t made = self.site_count, i
    cdef call_site_t* site = &self.sites[made]
    if not block_table_put(&self.of_hash, <void*>hashed, made):  # in place of other positions with this hash, if any
        return 0
    site.first, site.length = self.frame_count, length
    site.number, site.user = number if number != 0 else made, NOT_KNOWN
    memcpy(&self.positions[self.frame_count], taken, length * sizeof(code_position_t))
    for i in range(length):
        Py_INCREF(<object><PyObject*>taken[i].code)
    self.frame_count += length
    self.site_count += 1
    return made
