"""Recording what happens to memory: every block with its times, stack, thread and allocator.

Note [The tape]
~~~~~~~~~~~~~~~
A record per block, in the order of allocation, in one array that grows; a table says where the records of living blocks
are. Both are written by allocations, which have the GIL, and by frees, which may not, so all of it happens under the
listeners' lock: Note [Listening] in ``memory_reports.pyx``. Stack, thread and allocator are found before the lock
is taken, for that may run Python.

The tape is bounded. When it is full, blocks that are freed already are forgotten, the oldest first, up to half of the
tape; if too few are freed, new blocks are not recorded. What was lost either way is counted.

The recording of a program must not take the memory that it is to show. So a tape may have a file (`record._keep_in`):
records of freed blocks, which nothing changes any more, go there once there are `SPILL_COUNT`. The file has places for
as many records as the tape, and begins again at its start when it is full. A snapshot of such a tape is made part by
part, and not in the order of allocation, in which `load_snapshot` puts the blocks.

Note [Uses on the tape]
~~~~~~~~~~~~~~~~~~~~~~~
A recording watches uses (Note [Watching uses] in ``memory_reports.pyx``), and of each block keeps the last: when, by
which line, in which operator call. Nothing is said of a block that no storage of tensix had alone, that is in the hands
of others, or was out of sight at any time. Two more facts are noted while they can be seen:

* which block was read first in the call that allocated this one; of a clone that is what it is a copy of;
* whether it was written after that call.

The stack is taken once in a call: it is that of the call, wherever in it a block is used.

Note [Moments of a recording]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
The variables of running functions are examined (Note [Variables that hold an array] in ``bindings.pyx``) when an
allocation makes a new peak, a fiftieth above the last one that was examined. Another line may have nearly as much in
use, and be the peak once the first one is lowered: so a large allocation beyond half the peak is examined as well,
once for each stack of calls. What that takes, a tenth of a millisecond each time, may be a fiftieth of the time of the
recording, and 10 milliseconds more.

Note [Two tapes]
~~~~~~~~~~~~~~~~
Blocks that other libraries ask for, which ``preloaded.c`` reports, are on a tape of their own, under the lock of that
file: it is the only lock that a thread inside `malloc` may wait for (Note [Blocks of other libraries] in
``native_blocks.pyx``). Of the recordings of a process one notes them at a time. When a part of a mapping ends, the
tape has its record end, and new ones begin for what is left.

Note [Tasks on the tape]
~~~~~~~~~~~~~~~~~~~~~~~~
The task that a thread works on is the value of a context variable, so that two coroutines of a thread have a task each.
A block has the number of the task that allocated it, and each task the bytes of its blocks that are alive, and the most
that they ever were. These are counted when blocks come and go, whichever thread frees them: they are exact even where
blocks are forgotten. A block that finds no place on the tape does not count.

A stack of a task in which no line is the user's, such as that of a function of NumPy in a thread of Dask, ends in the
name of the task, and its blocks belong to that.
"""
import contextvars
import heapq
import os
import sys
import threading
import time
from importlib import import_module

cimport cython
from cpython.contextvars cimport get_value
from cpython.number cimport PyNumber_Index
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset
from tensix.core.memory_reports cimport (
    EXPORTED, NATIVE_BLOCK, OUT_OF_SIGHT, OWNED, READ, RETURNED, WRITTEN, MemoryListener, current_kind,
    current_operation, current_thread_number, lock_listeners, new_block_t, operation_t, start_listening, stop_listening,
    thread_of_stamp, unlock_listeners, use_t,
)
from tensix.core.pages cimport tx_is_untouched, tx_resident_bytes
from tensix.core.python_reference cimport (
    may_run_python, pass_on, pending_exception_t, restore_exception, save_exception,
)
from tensix.memory.block_table cimport (
    block_entry_t, block_table_clear, block_table_find, block_table_number, block_table_put, block_table_t,
    block_table_take,
)
from tensix.memory.call_site cimport CallSites, CallSites_capture
from tensix.memory.growing_array cimport grow
from tensix.memory.native_blocks cimport (
    PYTHON_ARENAS, TX_SHARED_MAPPING, listen, number_of_origin, origin_t, preloaded, take_origin, tx_native_hooks_t,
)

from tensix._support.argument_errors import names_signature
from tensix._version import __version__
from tensix.memory.call_site import NOWHERE, Frame
from tensix.memory.code_origin import HIDDEN, USER
from tensix.memory.native_blocks import frames_of, library_paths
from tensix.memory.resident_memory import ResidentMemory
from tensix.profiling.bindings import moment
from tensix.profiling.holders import holders_of, repr_of
from tensix.profiling.snapshot_file import FORMAT, VERSION, Snapshot, add_sources

__all__ = ["mark", "record", "snapshot", "task"]

cdef extern from "tensix/profiling/clock.h" nogil:
    int64_t tx_now_ns()

cdef extern from "tensix/profiling/file_at.h" nogil:
    bint tx_copy_at(int file, void* data, size_t nbytes, uint64_t position, bint writes)
    bint tx_identify(int file, uint64_t* identity)
    int tx_close(int file)

cdef extern from "Python.h":
    bint PyGC_Disable()
    bint PyGC_Enable()

DEFAULT_MAX_EVENTS = 1_000_000
DEFAULT_DEPTH = 32
MOST_HELD = 1024  # living blocks whose holders are looked for, the largest

cdef enum:
    STILL_ALIVE = -1      # in place of the time of a free
    NEVER = -1            # in place of that of a write
    UNKNOWN = 0xFFFFFFFF  # in place of the number of an allocator: 0 - 1
    WORTH_FORGETTING = 16  # part of the tape that has to be freed blocks, so that forgetting pays
    SPILL_COUNT = 8192    # records in memory before the first ones go to the file
    PART_COUNT = 1024     # records that are read at once
    MEASURED_BYTES = 1048576  # a mapping that may be touched in part
    LEAST_EXAMINED = 1048576    # bytes in use. See Note [Moments of a recording]
    SMALLEST_PART = 1024      # of what is in use, for a block that matters
    MOST_EXAMINING = 10000000   # nanoseconds, besides a fiftieth of the recording


cdef struct block_record_t:
    void* data
    uint64_t nbytes
    int64_t allocated_ns
    int64_t freed_ns
    uint32_t stack
    uint32_t thread
    uint32_t allocator
    uint32_t operator           # in which it was allocated, from 1; 0 for none
    uint64_t number             # of the block, from 1 in the order of allocation
    # What is seen of its uses. See Note [Uses on the tape].
    int64_t last_used_ns
    int64_t last_written_ns     # or NEVER
    uint64_t call               # in which it was allocated, 0 for none
    uint64_t source             # number of the first block read in `call`, 0 for none; of a NATIVE_BLOCK the thread
    uint32_t last_use_stack
    uint32_t exports
    uint32_t task               # from 1; 0 for none
    uint8_t is_owned
    uint8_t is_out_of_sight
    uint8_t is_rewritten        # after `call`
    uint8_t kind                # a kind_t
    uint8_t is_mapping          # of a NATIVE_BLOCK, whose allocator is the library
    uint8_t is_untouched        # of a large block that is freed: no page that it has alone was ever in main memory


cdef struct event_record_t:  # a copy or a failure
    uint64_t nbytes
    int64_t time_ns
    uint32_t stack


cdef struct events_t:
    event_record_t* records
    size_t count
    size_t capacity


cdef struct task_use_t:  # bytes of the blocks of a task. See Note [Tasks on the tape]
    uint64_t current
    uint64_t peak


cdef struct tape_t:
    int64_t started_ns
    block_record_t* records
    size_t count
    size_t capacity
    size_t max_count
    size_t dropped
    uint64_t numbers         # of blocks given
    int file                 # for records of freed blocks, -1 if there is none
    uint64_t[3] identity     # of the file
    size_t file_capacity     # in records
    size_t file_total        # that were written, the oldest of them over by newer ones
    block_table_t living     # address -> position of its record
    size_t live              # bytes of living blocks
    size_t bytes_in_heap     # of living blocks of other libraries, in the C library's heap
    size_t bytes_in_arenas   # in the interpreter's arenas
    size_t bytes_in_shared   # and in shared memory without a file
    events_t copies
    events_t failures
    task_use_t* tasks        # by their numbers less one
    size_t task_count
    size_t task_capacity


@cython.no_gc_clear  # until it is deallocated it listens
cdef class record(MemoryListener):
    """record(depth=32, max_events=1000000, through=None, resident=False)\n--\n
    Record every block that is allocated while it runs, in all threads.

    Parameters
    ----------
    depth : int, 1 to 64, optional
        The most frames of a stack to take, from the innermost; more, up to 256, while the user's program is not among
        them.
    max_events : int, 16 to 2**32, optional
        The most blocks to remember, and the most copies and failures. Beyond that freed blocks are forgotten, the
        oldest first; if nearly all are alive, new ones are not recorded. ``"dropped"`` in the snapshot says how many.
    through : list of str or path-like, optional
        Packages whose lines are not the user's, as of `CallSites`; by default all that are installed. The snapshot
        keeps their frames, too.
    resident : bool or float, optional
        Sample the resident memory of the process beside the blocks, every so many seconds; True means 0.02.

    Attributes
    ----------
    is_running : bool
        Whether it was started and not stopped.

    Raises
    ------
    RuntimeError
        If it is started a second time.
    TypeError
        If `through` is not a list.
    ValueError
        If `depth` or `max_events` is out of range, or a package or folder of `through` is not there.

    Notes
    -----
    Use it as a context manager, or call `start` and `stop`. Blocks that are older than the recording are not in it.

    Lifetime: a recording keeps no block and no tensor alive, but the allocators that it met, with what caches among
    them keep (`CachingAllocator.trim` gives that back), and the code of the functions. A block takes 120 bytes of the
    recording.

    Thread-safety: any thread may allocate, free and ask for a snapshot. The child of a fork goes on with a copy.

    Examples
    --------
    >>> import tensix
    >>> with tensix.memory.record() as recording:
    ...     x = tensix.ones(1000)
    >>> recording.snapshot()["blocks"]["nbytes"]
    [4000]
    """

    cdef tape_t tape
    cdef tape_t native          # see Note [Two tapes]
    cdef CallSites sites
    cdef object started         # None before start()
    cdef object resident        # the samples, or None
    cdef int64_t duration_ns    # of what was stopped
    cdef list allocators        # allocators and threads by their numbers on the tape
    cdef dict threads
    cdef block_table_t numbers  # of allocators and operators, from 1; their addresses stay theirs: the lists keep them
    cdef list operators         # by their numbers on the tape less one
    cdef list marks             # of the snapshot
    cdef list tasks             # by their numbers on the tape less one
    cdef dict task_numbers      # by the objects
    cdef public object _at_failure  # called with the bytes of each request that is refused, after it was noted
    cdef uint64_t call          # the latest of which the stack was taken
    cdef uint32_t call_stack
    cdef bint is_examining      # variables. See Note [Moments of a recording]
    cdef size_t highest
    cdef int64_t examining_ns
    cdef dict examined          # bytes in use when that was done, by stacks
    cdef list moments           # what was seen then
    cdef dict deaths            # of variables of these, as `facts_of` knows them
    cdef object swapped         # by the system at the start: what is swapped out was touched, though it is not resident
    cdef void* made             # the latest block, while nothing was read in the call that allocated it
    cdef uint64_t made_in

    def __cinit__(self, *args, **kwargs):
        self.needs_lock = self.watches_uses = True
        self.sites = CallSites()
        self.tape.max_count = self.native.max_count = DEFAULT_MAX_EVENTS
        self.tape.file = self.native.file = -1
        self.allocators, self.threads = [], {}
        self.operators, self.marks = [], []
        self.examined, self.moments, self.deaths = {}, [], {}
        self.tasks, self.task_numbers = [], {}

    def __init__(self, depth=DEFAULT_DEPTH, max_events=DEFAULT_MAX_EVENTS, through=None, resident=False):
        max_events = PyNumber_Index(max_events)
        if not 16 <= max_events <= 1 << 32:
            raise ValueError(f"max_events must be from 16 to 2**32, found {max_events}.")
        self.sites = CallSites(depth, through)
        self.tape.max_count = self.native.max_count = max_events
        if resident is not False:
            self.resident = ResidentMemory(resident, self._recording_bytes, self._native_bytes)

    def __dealloc__(self):
        stop_listening(self)
        stop_noting(self)
        tape_free(&self.native)
        tape_free(&self.tape)
        block_table_clear(&self.numbers)

    @property
    def is_running(self):
        """Whether it was started and not stopped."""
        return bool(self.is_listening)

    def start(self):
        """Begin to record.

        Returns
        -------
        record
            Itself.
        """
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        start_listening(self)
        self.started, self.tape.started_ns = started, tx_now_ns()
        self.swapped = pages_swapped_out()
        RUNNING.append(self)
        if self.resident is not None:
            self.resident.start()
        return self

    def stop(self):
        """End the recording; harmless if it has ended. What is freed later still counts as alive in it."""
        if self.is_listening:
            if self.resident is not None:
                self.resident.stop()
            stop_listening(self)
            stop_noting(self)
            self.duration_ns = tx_now_ns() - self.tape.started_ns
            RUNNING.remove(self)

    def snapshot(self, *, holders=True):
        """Return what is recorded so far.

        Parameters
        ----------
        holders : bool, optional
            Look for who holds the living blocks, which walks over every object that Python's collector knows. It ends
            early after 30 seconds, or before it takes more than a quarter of the process' resident memory or 64 MiB,
            whichever is larger; ``"left_out"`` counts the objects that were not asked. It looks for the holders of the
            1,024 largest blocks; ``"blocks_left_out"`` counts the others.

        Returns
        -------
        Snapshot

        Raises
        ------
        RuntimeError
            If the recording has not begun.
        """
        if self.started is None:
            raise RuntimeError("there is nothing to show: the recording was not started.")
        blocks = {}

        def take(columns):
            for name, values in columns.items():
                blocks.setdefault(name, []).extend(values)

        made = snapshot_of(self, holders, take)
        made["blocks"] = blocks
        add_sources(made["frames"])
        return made

    def _keep_in(self, file, native_file=None):
        """Put records of freed blocks into files, of which the recording keeps descriptors; before it starts.

        The second is for blocks of other libraries.
        """
        open_file(&self.tape, os.dup(file.fileno()))
        if native_file is not None:
            open_file(&self.native, os.dup(native_file.fileno()))

    def _note_native(self):
        """Record blocks of other libraries too, once it has started; return whether that is possible."""
        global noting
        if not listen(&native_hooks):
            return False
        preloaded.lock()
        self.native.started_ns = self.tape.started_ns
        noting = &self.native
        preloaded.unlock()
        return True

    def _native_bytes(self, measures):
        """Return how many bytes of blocks of other libraries are in the C heap, in arenas, in shared memory, and not
        resident if that is to be measured; None if they are not noted.
        """
        if not self.native.started_ns:
            return None
        untouched = untouched_of(&self.native) if measures else 0
        return self.native.bytes_in_heap, self.native.bytes_in_arenas, self.native.bytes_in_shared, untouched

    def _snapshot_in_parts(self, take, *, holders=True):
        """Return a snapshot without its blocks, whose columns are given to `take`, a part after the other.

        If the tape has a file, blocks are in no order. Files of sources are left to who reads the snapshot: what they
        take would count as the program's. The text of code without a file, or with a name that depends on the current
        folder, is known here only.
        """
        made = snapshot_of(self, holders, take)
        add_sources(made["frames"], lambda file: os.path.isabs(file) and os.path.isfile(file))
        return made

    def _held_by_line(self):
        """Return how many bytes the blocks that are alive take, by the lines that allocated them."""
        held = {}
        for (stack, one), nbytes in held_by_stack(&self.tape, False).items():
            place = self._place(stack, self._task_name(one))
            held[place] = held.get(place, 0) + nbytes
        for (stack, _), nbytes in held_by_stack(&self.native, True).items() if self.native.started_ns else ():
            place = self._native_frames(stack)[1]
            held[place] = held.get(place, 0) + nbytes
        return held

    def _task_name(self, number):
        return self.tasks[number - 1].name if number else None

    def _place(self, stack, task_name):
        """Return the frame that blocks of a stack belong to, which may be the task. See Note [Tasks on the tape]."""
        place = self.sites.place(stack)
        if task_name is None or (place.line and self.sites.origins[place.file] == USER):
            return place
        return Frame("", 0, f"task {task_name}")

    def _tasks(self, first=0, further=()):
        """Return positions of tasks, from one on and further ones, each with its `task`, bytes now, and its peak."""
        return [
            (position, (self.tasks[position], *use_of_task(&self.tape, position)))
            for position in [*further, *range(first, len(self.tasks))]
        ]

    def _native_frames(self, stack):
        """Return the frames of a block of another library, and the one that it belongs to."""
        frames = [Frame(*frame) for frame in frames_of(stack)[1]]
        frames = [frame for frame in frames if self.sites.origins[frame.file] != HIDDEN]
        return frames, min(frames, key=lambda frame: self.sites.origins[frame.file], default=NOWHERE)

    def _recording_bytes(self):
        """Return how many bytes the recording takes: records of blocks, and the table of those that live."""
        cdef size_t entries = (self.tape.living.capacity + self.native.living.capacity) * sizeof(block_entry_t)
        return (self.tape.count + self.native.count) * sizeof(block_record_t) + entries

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc_info):
        self.stop()

    def __repr__(self):
        state = "not started" if self.started is None else "running" if self.is_listening else "stopped"
        return f"record(blocks={self.tape.count}, {state})"

    cdef str only_once(self):
        return "a recording is started once: call record() again for another one."

    cdef void allocated(self, const new_block_t* block) noexcept:
        cdef block_record_t made
        cdef const operation_t* operation = current_operation()
        begin_record(&made, block)
        with cython.critical_section(self):
            made.stack = CallSites_capture(self.sites)
            if operation.number != 0:
                made.operator, made.call = number_in(self, self.operators, operation.operator), operation.number
                self.call, self.call_stack = operation.number, made.stack
                self.made, self.made_in = block.data, operation.number
            made.allocator = number_in(self, self.allocators, block.allocator) - 1
            made.task = number_of_task(self, get_value(CURRENT_TASK))
            if <object>made.thread not in self.threads:
                note_thread(self, made.thread)
        lock_listeners()
        tape_append(&self.tape, &made)
        unlock_listeners()
        if is_high(self, made.nbytes) and not self.is_examining:
            with cython.critical_section(self):
                examine(self, &made)

    cdef void allocated_without_python(self, const new_block_t* block) noexcept nogil:
        cdef block_record_t made
        begin_record(&made, block)
        made.allocator = <uint32_t>block_table_number(&self.numbers, block.allocator) - 1
        tape_append(&self.tape, &made)

    cdef void used(self, void* data, use_t use) noexcept:
        cdef uint64_t call = current_operation().number
        cdef block_record_t* one
        cdef uint32_t stack
        lock_listeners()
        one = record_of(&self.tape, data)
        unlock_listeners()
        if one != NULL:
            with cython.critical_section(self):
                stack = stack_of_use(self, call)
            lock_listeners()
            one = record_of(&self.tape, data)
            if one != NULL:
                note_use(self, one, use, call, stack)
            unlock_listeners()

    cdef void freed(self, void* data, size_t nbytes, uint64_t stamp) noexcept nogil:
        cdef uint64_t position
        cdef tape_t* tape = &self.tape
        cdef block_record_t* record
        if block_table_take(&tape.living, data, &position):
            record = &tape.records[position]
            record.freed_ns = tx_now_ns() - tape.started_ns
            record.is_untouched = nbytes >= MEASURED_BYTES and tx_is_untouched(data, nbytes)
            tape.live -= record.nbytes
            if record.task != 0:
                tape.tasks[record.task - 1].current -= record.nbytes

    cdef void failed(self, size_t nbytes) noexcept:
        cdef pending_exception_t pending
        add_event(self, &self.tape.failures, nbytes)
        if self._at_failure is not None:
            pending = save_exception()
            try:
                self._at_failure(nbytes)
            except BaseException as error:
                pass_on(error)
            restore_exception(pending)

    cdef void copied(self, size_t nbytes) noexcept:
        add_event(self, &self.tape.copies, nbytes)


def pages_swapped_out():
    """Return how many pages the system has swapped out so far, None where that or what is resident is not told."""
    cdef uint64_t probe = 0
    try:
        with open("/proc/vmstat", "rb") as file:
            lines = [line for line in file if line.startswith(b"pswpout ")]
    except OSError:
        return None
    return lines[0] if lines and tx_resident_bytes(&probe, sizeof(probe)) else None


cdef tape_t* noting = NULL  # with the lock of preloaded.c
cdef tx_native_hooks_t native_hooks
native_hooks.made, native_hooks.gone, native_hooks.unmapped = native_made, native_gone, native_unmapped


cdef void stop_noting(record self) noexcept:
    """Note no blocks of other libraries any more."""
    global noting
    if noting == &self.native:
        listen(NULL)
        preloaded.lock()
        noting = NULL
        preloaded.unlock()


cdef void native_made(void* data, size_t nbytes, int is_mapping, void* caller) noexcept nogil:
    """Note a block of another library. See Note [Two tapes]."""
    cdef origin_t origin
    cdef block_record_t made
    take_origin(&origin, caller, is_mapping)
    memset(&made, 0, sizeof(made))
    made.data, made.nbytes, made.freed_ns, made.last_written_ns = data, nbytes, STILL_ALIVE, NEVER
    made.allocator, made.thread, made.kind = origin.library, current_thread_number(), NATIVE_BLOCK
    made.is_mapping, made.source = is_mapping, origin.thread
    preloaded.lock()
    if noting != NULL:
        native_end(noting, data)  # if its end was not told
        made.stack = number_of_origin(&origin)
        native_append(noting, &made)
    preloaded.unlock()


cdef void native_append(tape_t* tape, block_record_t* made) noexcept nogil:
    cdef size_t count = tape.living.count
    tape_append(tape, made)
    if tape.living.count != count:
        count_native(tape, made, made.nbytes)


cdef size_t native_gone(void* data) noexcept nogil:
    """Note the end of a block, and return its bytes; 0 if it was not noted."""
    cdef size_t nbytes = 0
    preloaded.lock()
    if noting != NULL:
        nbytes = native_end(noting, data)
    preloaded.unlock()
    return nbytes


cdef size_t native_end(tape_t* tape, void* data) noexcept nogil:
    cdef uint64_t position
    if not block_table_take(&tape.living, data, &position):
        return 0
    tape.records[position].freed_ns = tx_now_ns() - tape.started_ns
    count_native(tape, &tape.records[position], 0 - tape.records[position].nbytes)
    return tape.records[position].nbytes


cdef void count_native(tape_t* tape, const block_record_t* one, size_t change) noexcept nogil:
    """Count bytes that are in a part of the process which others count, too."""
    if not one.is_mapping:
        tape.bytes_in_heap += change
    elif one.allocator == PYTHON_ARENAS:
        tape.bytes_in_arenas += change
    elif one.is_mapping == TX_SHARED_MAPPING:
        tape.bytes_in_shared += change


cdef size_t untouched_of(tape_t* tape) noexcept nogil:
    """Return how many bytes of large mappings are not resident; they stay meanwhile, for their end takes the lock."""
    cdef const block_record_t* one
    cdef size_t i, untouched = 0
    preloaded.lock()
    for i in range(tape.living.capacity):
        if tape.living.entries[i].data != NULL:
            one = &tape.records[tape.living.entries[i].number]
            if one.is_mapping and one.allocator != PYTHON_ARENAS and one.nbytes >= MEASURED_BYTES:
                untouched += one.nbytes - min(one.nbytes, tx_resident_bytes(one.data, one.nbytes))
    preloaded.unlock()
    return untouched


cdef size_t native_unmapped(void* begin, size_t nbytes, bint is_own) noexcept nogil:
    """Note the end of mappings from here on, of one in part perhaps, and return the bytes that ended.

    What tensix unmaps was not noted, except arenas of the interpreter, which are freed through ``tx_arena_free``.
    """
    cdef size_t ended = 0
    cdef uint64_t position
    preloaded.lock()
    if noting != NULL:
        if block_table_find(&noting.living, begin, &position) and noting.records[position].nbytes == nbytes:
            ended = native_end(noting, begin)
        elif not is_own:
            while True:
                more = end_mapping_in(noting, <uintptr_t>begin, <uintptr_t>begin + nbytes)
                if more == 0:
                    break
                ended += more
    preloaded.unlock()
    return ended


cdef size_t end_mapping_in(tape_t* tape, uintptr_t begin, uintptr_t end) noexcept nogil:
    """End one mapping that reaches into a region, let what is left of it begin, and return the bytes that ended."""
    cdef block_record_t* found
    cdef block_record_t before, after
    cdef uintptr_t first, last
    cdef size_t i
    for i in range(tape.living.capacity):
        if tape.living.entries[i].data == NULL:
            continue
        found = &tape.records[tape.living.entries[i].number]
        first, last = <uintptr_t>found.data, <uintptr_t>found.data + found.nbytes
        if not found.is_mapping or first >= end or begin >= last:
            continue
        before = after = found[0]
        native_end(tape, found.data)
        if first < begin:
            before.nbytes = begin - first
            native_append(tape, &before)
        if last > end:
            after.data, after.nbytes = <void*>end, last - end
            native_append(tape, &after)
        return min(last, end) - max(first, begin)
    return 0


RUNNING = []  # recordings, the latest last


@names_signature
def mark(name):
    """Give this moment a name in every recording that runs: the page, the summary and comparisons show it.

    Parameters
    ----------
    name : str
        Such as ``"epoch 3"``. A recording keeps as many marks as `max_events`.

    Raises
    ------
    TypeError
        If it is not a str.

    Notes
    -----
    Without a recording nothing happens, so marks may stay in a program.

    Thread-safety: any thread may set marks.

    Examples
    --------
    >>> import tensix
    >>> with tensix.memory.record() as recording:
    ...     tensix.memory.mark("begin")
    >>> recording.snapshot()["marks"][0]["name"]
    'begin'
    """
    if not isinstance(name, str):
        raise TypeError(f"mark() needs a name, found {type(name).__name__}.")
    now = tx_now_ns()
    for recording in RUNNING.copy():
        one = <record>recording
        if len(one.marks) < one.tape.max_count:
            one.marks.append({"name": name, "time_ns": now - one.tape.started_ns})


CURRENT_TASK = contextvars.ContextVar("the current task of tensix")


@cython.binding(True)
class task:
    """Name what is allocated in a scope, in this context, in every recording that runs.

    Parameters
    ----------
    key : object
        What tells this task apart. Hashable.
    name : str, optional
        What it has in common with others, such as the name of its function; by default the text of the key.

    Attributes
    ----------
    began_ns, ended_ns : int
        When, as `time.monotonic_ns` has it; None before.

    Raises
    ------
    RuntimeError
        If a scope is entered a second time.

    Notes
    -----
    Tasks nest; a block belongs to the innermost. A block that a task leaves behind, such as its result, stays the
    task's. Threads that a task starts have a context of their own, except those of `asyncio.to_thread`: run their
    functions by ``contextvars.copy_context().run``.

    Lifetime: recordings keep the object.

    Thread-safety: a context variable says which task allocates, so threads and coroutines have a task each.

    Examples
    --------
    >>> import tensix
    >>> with tensix.memory.record() as recording:
    ...     with tensix.memory.cluster.task("sum-0"):
    ...         x = tensix.ones(1000)
    >>> recording.snapshot()["tasks"][0]["peak"]
    4000
    """

    def __init__(self, key, name=None):
        self.key, self.name = key, str(key) if name is None else name
        self.began_ns = self.ended_ns = None

    def __enter__(self):
        if self.began_ns is not None:
            raise RuntimeError("a task is entered once: call task() again for another one.")
        self.began_ns = tx_now_ns()
        self.token = CURRENT_TASK.set(self)
        for recording in RUNNING.copy():
            with cython.critical_section(recording):
                number_of_task(recording, self)
        return self

    def __exit__(self, *exc_info):
        self.ended_ns = tx_now_ns()
        CURRENT_TASK.reset(self.token)


def snapshot(*, holders=True):
    """Return what the latest recording that still runs has recorded so far.

    Parameters
    ----------
    holders : bool, optional
        Look for who holds the living blocks.

    Returns
    -------
    Snapshot

    Raises
    ------
    RuntimeError
        If nothing is being recorded.

    Examples
    --------
    >>> import tensix
    >>> with tensix.memory.record():
    ...     x = tensix.ones(1000)
    ...     print(tensix.memory.snapshot())
    Snapshot(blocks=1, alive=3.91 KiB in 1, copies=0, failures=0)
    """
    if not RUNNING:
        raise RuntimeError("nothing is being recorded: begin with tensix.memory.record().start().")
    return RUNNING[len(RUNNING) - 1].snapshot(holders=holders)


cdef void add_event(record self, events_t* events, size_t nbytes) noexcept:
    """Note a copy or a failure."""
    cdef tape_t* tape = &self.tape
    cdef uint32_t stack = CallSites_capture(self.sites)
    lock_listeners()
    if events.count == events.capacity and events.count < tape.max_count:
        grow(<void**>&events.records, &events.capacity, sizeof(event_record_t))
    if events.count < events.capacity:
        events.records[events.count] = event_record_t(nbytes, tx_now_ns() - tape.started_ns, stack)
        events.count += 1
    else:
        tape.dropped += 1
    unlock_listeners()


cdef uint32_t stack_of_use(record self, uint64_t call) noexcept:
    """Return the stack of an operator call, or of what is done outside of one. See Note [Uses on the tape]."""
    cdef bint collects
    cdef uint32_t stack
    if call != 0 and call == self.call:
        return self.call_stack
    collects = PyGC_Disable()
    stack = CallSites_capture(self.sites)
    if collects:
        PyGC_Enable()
    if call != 0:
        self.call, self.call_stack = call, stack
    return stack


cdef block_record_t* record_of(tape_t* tape, void* data) noexcept nogil:
    """Return the record of a block that cannot be freed now, NULL if it has none; with the lock."""
    cdef uint64_t position
    return &tape.records[position] if block_table_find(&tape.living, data, &position) else NULL


cdef void note_use(record self, block_record_t* one, use_t use, uint64_t call, uint32_t stack) noexcept nogil:
    """Write a use on the tape; with the lock. See Note [Uses on the tape]."""
    cdef block_record_t* made
    cdef bint writes = use == WRITTEN or use == RETURNED
    one.last_used_ns = tx_now_ns() - self.tape.started_ns
    one.last_use_stack = stack
    if use == OWNED:
        one.is_owned = True
    elif use == OUT_OF_SIGHT:
        one.is_out_of_sight = True
    elif use == EXPORTED:
        one.exports += 1
    elif use == RETURNED:
        one.exports -= one.exports != 0
    elif use == READ and call != 0 and call == self.made_in and one.data != self.made:
        self.made_in = 0
        made = record_of(&self.tape, self.made)
        if made != NULL and made.call == call:
            made.source = one.number
    if writes:
        one.last_written_ns = one.last_used_ns
        one.is_rewritten |= call == 0 or call != one.call


cdef inline void begin_record(block_record_t* made, const new_block_t* block) noexcept nogil:
    """Fill in what is known of a block without asking Python."""
    memset(made, 0, sizeof(block_record_t))
    made.data, made.nbytes, made.freed_ns = block.data, block.nbytes, STILL_ALIVE
    made.last_written_ns, made.thread = NEVER, thread_of_stamp(block.stamp)
    made.kind = current_kind()


cdef uint32_t number_of_task(record self, object one) noexcept:
    """Return the number of a task, from 1; 0 for None, or if there is no memory. See Note [Tasks on the tape]."""
    cdef tape_t* tape = &self.tape
    if one is None:
        return 0
    number = self.task_numbers.get(one)
    if number is not None:
        return number
    self.tasks.append(one)
    lock_listeners()
    if tape.task_count == tape.task_capacity and tape.task_count < tape.max_count:
        grow(<void**>&tape.tasks, &tape.task_capacity, sizeof(task_use_t))
    if tape.task_count < min(tape.task_capacity, tape.max_count):
        tape.tasks[tape.task_count] = task_use_t(0, 0)
        tape.task_count += 1
        number = tape.task_count
    unlock_listeners()
    if number is None:
        self.tasks.pop()
        return 0
    self.task_numbers[one] = number
    return number


cdef tuple use_of_task(tape_t* tape, size_t position):
    """Return how many bytes the blocks of a task have now, and the most that they had."""
    lock_listeners()  # they move when another task begins
    cdef task_use_t found = tape.tasks[position]
    unlock_listeners()
    return found.current, found.peak


cdef uint32_t number_in(record self, list met, PyObject* thing) noexcept:
    """Return the number of an allocator or operator among those that were met, from 1; 0 if there is no memory."""
    cdef uint64_t number
    cdef bint is_known = True
    lock_listeners()
    number = block_table_number(&self.numbers, thing)
    unlock_listeners()
    if number == 0:
        met.append(<object>thing)
        number = len(met)
        lock_listeners()
        is_known = block_table_put(&self.numbers, thing, number)
        unlock_listeners()
        if not is_known:
            met.pop()
    return <uint32_t>number if is_known else 0


cdef int note_thread(record self, uint32_t thread) noexcept:
    """Remember the name of this thread, without giving one to a thread that Python does not know."""
    cdef pending_exception_t pending = save_exception()
    try:
        ident = threading.get_ident()
        self.threads[thread] = f"thread {ident}"
        names = [known.name for known in threading.enumerate() if known.ident == ident] if may_run_python() else []
        if names:
            self.threads[thread] = names[0]
    except BaseException as error:
        pass_on(error)
    restore_exception(pending)
    return 0


cdef void tape_append(tape_t* tape, block_record_t* made) noexcept nogil:
    """Put a new block on the tape, if there is memory. See Note [The tape]."""
    cdef task_use_t* use
    made.allocated_ns = tx_now_ns() - tape.started_ns
    tape.numbers += 1
    made.number = tape.numbers
    if reserve_record(tape) and block_table_put(&tape.living, made.data, tape.count):
        tape.records[tape.count] = made[0]
        tape.count += 1
        tape.live += made.nbytes
        if made.task != 0:
            use = &tape.tasks[made.task - 1]
            use.current += made.nbytes
            use.peak = max(use.peak, use.current)
    else:
        tape.dropped += 1


cdef inline bint is_high(record self, size_t nbytes) noexcept:
    """Whether a block makes a new peak, or is large where half as much is in use. See Note [Moments of a recording]."""
    cdef size_t live = self.tape.live
    return live >= LEAST_EXAMINED and (
        live * 50 >= self.highest * 51 or (nbytes * 64 >= live and live * 2 >= self.highest))


cdef bint is_wanted(record self, uint32_t stack) except -1:
    """Whether to examine variables, of such a block."""
    cdef size_t live = self.tape.live
    if live * 50 < self.highest * 51 and live * 50 < <size_t>self.examined.get(stack, 0) * 51:
        return False
    self.highest = max(self.highest, live)
    self.examined[stack] = live
    return self.examining_ns < MOST_EXAMINING + (tx_now_ns() - self.tape.started_ns) // 50


cdef int examine(record self, const block_record_t* made) noexcept:
    """Note which variables hold what is in use. See Note [Moments of a recording]."""
    cdef pending_exception_t pending = save_exception()
    cdef bint collects = PyGC_Disable()
    self.is_examining = True
    try:
        if may_run_python() and is_wanted(self, made.stack):
            began = time.thread_time_ns()  # while other processes run, it stands still
            frames, held, types = moment(self.sites.origins, self.tape.live // SMALLEST_PART)
            seen = [(number, *rest) for address, *rest in held if (number := number_of(self, address))]
            if frames:
                self.moments.append((made.number, frames, seen, types))
            self.examining_ns += time.thread_time_ns() - began
    except BaseException as error:
        pass_on(error)
    self.is_examining = False
    if collects:
        PyGC_Enable()
    restore_exception(pending)
    return 0


cdef uint64_t number_of(record self, uintptr_t address) except? 0:
    """Return the number of the block at an address, 0 if it is not on the tape."""
    cdef block_record_t* one
    cdef uint64_t number
    lock_listeners()
    one = record_of(&self.tape, <void*>address)
    number = 0 if one == NULL else one.number
    unlock_listeners()
    return number


cdef bint reserve_record(tape_t* tape) noexcept nogil:
    """Make space for one more record, forgetting freed blocks if there must be; return whether there is."""
    cdef void* larger
    cdef size_t capacity
    if tape.count < tape.capacity:
        return True
    if tape.file >= 0 and tape.count >= SPILL_COUNT and tape.count - tape.living.count >= tape.count // 4:
        remove_freed(tape)
        return True
    if tape.capacity < tape.max_count:
        capacity = min(2 * tape.capacity + 1024, tape.max_count)
        larger = realloc(tape.records, capacity * sizeof(block_record_t))
        if larger != NULL:
            tape.records, tape.capacity = <block_record_t*>larger, capacity
            return True
    if tape.count - tape.living.count < max(<size_t>1, tape.count // WORTH_FORGETTING):
        return False
    remove_freed(tape)
    return tape.count < tape.capacity


cdef void open_file(tape_t* tape, int file) noexcept:
    tape.file, tape.file_capacity = file, tape.max_count
    tx_identify(file, tape.identity)


cdef bint has_file(const tape_t* tape) noexcept nogil:
    """Return whether the file is a tape's still: a program may close it, and open another by the same number."""
    cdef uint64_t[3] found
    return tape.file >= 0 and tx_identify(tape.file, found) and memcmp(found, tape.identity, sizeof(found)) == 0


cdef void tape_free(tape_t* tape) noexcept nogil:
    if has_file(tape):
        tx_close(tape.file)
    block_table_clear(&tape.living)
    free(tape.records)
    free(tape.copies.records)
    free(tape.failures.records)
    free(tape.tasks)


cdef void remove_freed(tape_t* tape) noexcept nogil:
    """Take freed blocks off the tape: all to its file, else the oldest, at most half of it. See Note [The tape]."""
    cdef block_record_t buffer[256]
    if tape.file >= 0 and not has_file(tape):
        tape.dropped += min(tape.file_total, tape.file_capacity)
        tape.file, tape.file_total = -1, 0
    cdef size_t excess = tape.count if tape.file >= 0 else (tape.count + 1) // 2
    cdef size_t kept = 0, filled = 0, i
    for i in range(tape.count):
        if excess and tape.records[i].freed_ns != STILL_ALIVE:
            excess -= 1
            if tape.file < 0:
                tape.dropped += 1
                continue
            buffer[filled] = tape.records[i]
            filled += 1
            if filled == 256:
                write_records(tape, buffer, filled)
                filled = 0
            continue
        if kept != i:
            tape.records[kept] = tape.records[i]
            if tape.records[kept].freed_ns == STILL_ALIVE:
                block_table_put(&tape.living, tape.records[kept].data, kept)
        kept += 1
    write_records(tape, buffer, filled)
    tape.count = kept


cdef void write_records(tape_t* tape, const block_record_t* records, size_t count) noexcept nogil:
    """Write records to the file, each in its place; those that cannot be written, and those below, are lost."""
    cdef size_t i = 0, place, run
    while i < count:
        place = tape.file_total % tape.file_capacity
        run = min(count - i, tape.file_capacity - place)
        if not tx_copy_at(
                tape.file, <void*>&records[i], run * sizeof(block_record_t), place * sizeof(block_record_t), True):
            tape.dropped += count - i
            return
        if tape.file_total >= tape.file_capacity:  # over older ones
            tape.dropped += run
        tape.file_total += run
        i += run


@cython.final
cdef class TapeReader:
    """Read the records of this moment, those in the file first, a part at a time.

    What is in memory is copied at once: it moves when the program goes on.
    """

    cdef tape_t tape                # with a copy of the records
    cdef size_t in_file
    cdef block_record_t part[1024]  # PART_COUNT

    def __dealloc__(self):
        free(self.tape.records)

    cdef size_t count(self) noexcept:
        return self.in_file + self.tape.count

    cdef const block_record_t* read(self, size_t first, size_t* count) except NULL:
        """Return records from a position on, and how many there are in a row."""
        if first >= self.in_file:
            count[0] = min(<size_t>PART_COUNT, self.count() - first)
            return &self.tape.records[first - self.in_file]
        count[0] = min(<size_t>PART_COUNT, self.in_file - first)
        cdef size_t nbytes = count[0] * sizeof(block_record_t)
        if not tx_copy_at(self.tape.file, self.part, nbytes, first * sizeof(block_record_t), False) or not has_file(
                &self.tape):  # asked afterwards: bytes of another file mean nothing
            raise OSError("the file of a recording cannot be read: was it closed or cut off, or is its disk gone?")
        return self.part


cdef TapeReader reader_of(tape_t* tape, bint is_native):
    cdef TapeReader reader = TapeReader()
    if is_native:  # a copy of this moment: frees without the GIL may go on
        preloaded.lock()
    else:
        lock_listeners()
    if tape.file >= 0:
        remove_freed(tape)
    reader.tape, reader.in_file = tape[0], min(tape.file_total, tape.file_capacity)
    reader.tape.records = <block_record_t*>malloc(max(tape.count, <size_t>1) * sizeof(block_record_t))
    if reader.tape.records != NULL and tape.count:
        memcpy(reader.tape.records, tape.records, tape.count * sizeof(block_record_t))
    if is_native:
        preloaded.unlock()
    else:
        unlock_listeners()
    if reader.tape.records == NULL:
        raise MemoryError(f"no memory for a snapshot of {reader.tape.count:,} blocks.")
    return reader


cdef dict held_by_stack(tape_t* tape, bint is_native):
    """Return how many bytes the blocks that are alive take, by the numbers of their stacks and tasks."""
    cdef TapeReader reader = reader_of(tape, is_native)
    cdef size_t i
    held = {}
    for i in range(reader.tape.count):
        if reader.tape.records[i].freed_ns == STILL_ALIVE:
            key = reader.tape.records[i].stack, reader.tape.records[i].task
            held[key] = held.get(key, 0) + reader.tape.records[i].nbytes
    return held


cdef object snapshot_of(record self, bint wants_holders, object take):
    """Return a snapshot without its blocks; `take` gets them as columns, a part after the other."""
    cdef tape_t* tape = &self.tape
    cdef const block_record_t* records
    cdef size_t i, first = 0, count = 0
    duration = tx_now_ns() - tape.started_ns if self.is_listening else self.duration_ns
    cdef TapeReader reader = reader_of(tape, False)
    readers, paths = [reader], []
    if self.native.started_ns:
        readers.append(reader_of(&self.native, True))
        paths = ["?", *library_paths()]
    numbering = StackNumbering(self, paths)
    known_threads, known_operators = self.threads.copy(), self.operators.copy()  # the program goes on
    threads = {thread: position for position, thread in enumerate(known_threads)}
    thread_names, allocators = list(known_threads.values()), list(map(repr_of, self.allocators.copy()))
    first_library = len(allocators)
    allocators += map(name_of_library, paths)
    unknown = len(allocators)
    tasks = self._tasks()
    operators = [operator.schema.qualified_name for operator in known_operators]
    clones = {number for number, operator in enumerate(known_operators, 1) if operator.schema.name == "clone"}
    positions = positions_of_sources(reader, clones)
    moments = self.moments.copy()
    facts = import_module("tensix.profiling.liveness").facts_of(moments, self.deaths) if moments else []
    numbers = dict.fromkeys([number for fact in facts for number in (fact["block"], *fact["blocks"])])
    untouched = []
    living, blocks_left_out = {}, 0  # address -> bytes and position
    names = {known.ident: known.name for known in threading.enumerate()}
    take(empty_columns())
    for reader in readers:
        first = 0
        while first < reader.count():
            records = reader.read(first, &count)
            columns = empty_columns()
            if tasks:
                columns["task"] = [
                    position if 0 <= position < len(tasks) else None
                    for position in [<int64_t>records[i].task - 1 for i in range(count)]
                ]
            for i in range(count):
                add_to_columns(columns, &records[i], numbering, threads, clones, positions)
                if records[i].is_untouched:
                    untouched.append(first + i)
                if records[i].kind != NATIVE_BLOCK and records[i].number in numbers:
                    numbers[records[i].number] = first + i
                if records[i].kind == NATIVE_BLOCK:
                    columns["allocator"][i] += first_library
                    if records[i].source != 0:
                        ident = records[i].source
                        self.threads.setdefault(records[i].thread, names.get(ident, f"thread {ident}"))
                    continue
                if records[i].allocator == UNKNOWN:
                    columns["allocator"][i] = unknown
                    allocators[unknown:] = ["?"]
                if wants_holders and records[i].freed_ns == STILL_ALIVE:
                    living[<uintptr_t>records[i].data] = records[i].nbytes, first + i
            take(columns)
            first += count
            if len(living) > MOST_HELD:
                blocks_left_out += len(living) - MOST_HELD
                living = dict(heapq.nlargest(MOST_HELD, living.items(), key=lambda item: item[1][0]))
    dropped = sum([(<TapeReader>one).tape.dropped for one in readers])
    reader = readers = None  # they take memory
    holders, left_out = holders_of(living) if wants_holders else ([], 0)
    made = Snapshot({
        "format": FORMAT, "version": VERSION, "tensix": __version__,
        "program": " ".join(sys.argv) or "python",
        "started": self.started, "duration_ns": duration, "dropped": dropped,
        "copies": events_of(&tape.copies, numbering), "failures": events_of(&tape.failures, numbering),
        "frames": [frame._asdict() for frame in numbering.frames],
        "stacks": [list(frames) for frames in numbering.stacks],
        "call_sites": numbering.call_sites,
        "allocators": allocators,
        "threads": thread_names + [
            self.threads.get(number, f"thread {number} without Python") for number in list(threads)[len(thread_names):]
        ],
        "operators": operators,
        "holders": [
            {"block": living[found][1], "text": text} | ({} if kept is None else {"finished": kept})
            for found, text, kept in holders
        ],
        "left_out": left_out,
        "blocks_left_out": blocks_left_out,
    })
    if facts:
        made["moments"] = [
            fact | {"block": numbers[fact["block"]], "blocks": [numbers[one] for one in fact["blocks"]]}
            for fact in facts if None not in map(numbers.get, (fact["block"], *fact["blocks"]))
        ]
    if untouched and self.swapped is not None and self.swapped == pages_swapped_out():
        made["untouched"] = untouched
    if self.marks:
        made["marks"] = self.marks.copy()
    if tasks:
        made["tasks"] = [
            {
                "key": str(one.key), "name": one.name, "peak": peak, "left": current,
                "began_ns": max(one.began_ns - tape.started_ns, 0),
                "ended_ns": None if one.ended_ns is None else max(one.ended_ns - tape.started_ns, 0),
            }
            for _, (one, current, peak) in tasks
        ]  # fmt: skip
    if self.resident is not None:
        made["resident"] = self.resident.columns()
    return made


def name_of_library(path):
    """Return what to call a library: an extension module as it is imported, else the name of its file."""
    folder, _, file = path.rpartition("/")
    name, is_module, _ = file.partition(".cpython-") if ".cpython-" in file else file.partition(".abi3.")
    _, is_installed, package = folder.rpartition("-packages/")
    return f"{package}/{name}".replace("/", ".") if is_module and is_installed else name if is_module else file


cdef dict empty_columns():
    names = ("address", "nbytes", "allocated_ns", "freed_ns", "stack", "thread", "allocator", "kind", "operator",
             "last_used_ns", "last_use_stack", "last_written_ns", "copy_of")  # fmt: skip
    return {name: [] for name in names}


cdef int add_to_columns(
        dict columns, const block_record_t* one, object numbering, dict threads, set clones, dict positions) except -1:
    """Add a block, with what was seen of its uses. See Note [Uses on the tape]."""
    cdef bint is_known = one.is_owned and not one.is_out_of_sight and one.exports == 0
    cdef uint64_t source = source_of(one, clones)
    columns["address"].append(<uintptr_t>one.data)
    columns["nbytes"].append(one.nbytes)
    columns["allocated_ns"].append(one.allocated_ns)
    columns["freed_ns"].append(None if one.freed_ns == STILL_ALIVE else one.freed_ns)
    if one.kind == NATIVE_BLOCK:
        columns["stack"].append(numbering.native_stack(one.stack))
    else:
        columns["stack"].append(numbering.stack(one.stack, one.task))
    columns["thread"].append(threads.setdefault(one.thread, len(threads)))
    columns["allocator"].append(one.allocator)
    columns["kind"].append(one.kind)
    columns["operator"].append(one.operator - 1 if one.operator else None)
    columns["last_used_ns"].append(one.last_used_ns if is_known else None)
    columns["last_use_stack"].append(numbering.stack(one.last_use_stack) if is_known else None)
    columns["last_written_ns"].append(one.last_written_ns if is_known and one.last_written_ns != NEVER else None)
    columns["copy_of"].append(positions.get(source))
    return 0


cdef uint64_t source_of(const block_record_t* one, set clones) except? 0:
    """Return the number of the block that this one is still a copy of; 0 if it is none."""
    cdef bint is_known = one.is_owned and not one.is_out_of_sight and one.exports == 0
    return one.source if is_known and not one.is_rewritten and one.operator in clones else 0


cdef dict positions_of_sources(TapeReader reader, set clones):
    """Return the positions of the blocks of which others are copies, by their numbers."""
    cdef const block_record_t* records
    cdef size_t i, first, count = 0
    positions = {}
    for wants in (True, False):
        first = 0
        while first < reader.count():
            records = reader.read(first, &count)
            for i in range(count):
                if wants and source_of(&records[i], clones) != 0:
                    positions[records[i].source] = None
                elif not wants and records[i].number in positions:
                    positions[records[i].number] = first + i
            first += count
        if not positions:
            break
    return positions


cdef list events_of(const events_t* events, object numbering):
    cdef list found = []
    cdef event_record_t one
    cdef size_t i
    for i in range(events.count):
        lock_listeners()  # the records move when the program goes on
        one = events.records[i]
        unlock_listeners()
        found.append({"time_ns": one.time_ns, "nbytes": one.nbytes, "stack": numbering.stack(one.stack)})
    return found


@cython.binding(True)
class StackNumbering:
    """Number frames and stacks: what differs only inside tensix is one stack to a user.

    Attributes
    ----------
    frames, stacks : dict
        Frames, and tuples of their numbers, in the order of theirs.
    call_sites : list
        For each stack the number of the frame that its blocks belong to; None if it has no frames.
    """

    def __init__(self, recording, paths):
        self.recording, self.sites, self.paths = recording, (<record>recording).sites, paths  # paths of libraries
        self.frames, self.stacks, self.call_sites, self.known, self.known_native = {}, {}, [], {}, {}

    def stack(self, site, task_number=0):
        """Return the number of the stack of a call site, in a task. See Note [Tasks on the tape]."""
        name = self.recording._task_name(task_number)
        number = self.known.get((site, name))
        if number is None:
            frames = self.sites.frames(site)
            place = self.recording._place(site, name)
            if not place.line and name is not None:
                frames.append(place)
            number = self.known[site, name] = self.number(frames, place if frames else None)
        return number

    def native_stack(self, site):
        """Return the number of a stack that begins in another library."""
        number = self.known_native.get(site)
        if number is None:
            frames, place = self.recording._native_frames(site)
            path = self.paths[frames_of(site)[0]]
            library = Frame(path, 0, name_of_library(path))
            number = self.known_native[site] = self.number([library, *frames], place if frames else library)
        return number

    def number(self, frames, place):
        """Return the number of a stack whose blocks belong to one of its frames."""
        frames = tuple(self.frames.setdefault(frame, len(self.frames)) for frame in frames)
        number = self.stacks.setdefault(frames, len(self.stacks))
        if number == len(self.call_sites):  # it is new
            self.call_sites.append(None if place is None else self.frames[place])
        return number
