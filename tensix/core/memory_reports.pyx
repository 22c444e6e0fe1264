"""Reports of every allocation, free, failure and copy, from all threads, to the listeners.

Without a listener a report costs a load and two branches. The facts are those of PyTorch's
``c10/core/Allocator.h``, whose process-wide reporter (the per-thread one missed worker threads) is the one kept.

Note [Who reports]
~~~~~~~~~~~~~~~~~~
Code that makes memory reports it, and no other code does, so that a block is heard of once: an allocator that hands on
what another one made says nothing. One that keeps freed blocks, such as `CachingAllocator`, reports in place of its
upstream, for what it keeps is not in use. A block carries the stamp that its report returned until it is freed.

Note [Stamps]
~~~~~~~~~~~~~
Whenever somebody begins to listen, an epoch begins. A block's stamp is the epoch in which it was allocated, below the
number of the thread that did it; 0 if there was no listener. So a listener hears of the end of those blocks alone whose
allocation it heard of, and may ask which thread allocated them, without a table of them.

Note [Listening]
~~~~~~~~~~~~~~~~
The C methods of a `MemoryListener` are called. Listeners come and go with the GIL and the lock of this module both
held; hence code that holds one of the two may walk over them (Note [Without the GIL] in ``free_threading.pxd``: they
come and go while other threads are stopped). A free without the GIL takes the lock. One with the GIL
does so only if a listener needs it (`needs_lock`): one with a table, which a free without the GIL must not find half
changed, and which `allocated` therefore changes with the lock held. One that only counts keeps atomic numbers, and
needs no lock. `freed` never runs Python and never waits for the GIL. A fork takes the lock first, so that a child
finds it free.

`allocated`, `failed` and `copied` run with the GIL and may run Python. Their listener is kept alive meanwhile; the list
may change under them, so slots are emptied, not closed up. Otherwise a listener is not kept alive: it stops with its
object, and gets no call that runs Python once its reference count is zero, while its fields are being cleared.
What `freed` uses goes after `stop_listening`: a ``__dealloc__`` that frees it calls that first.

A thread that allocates without the GIL takes it to call `allocated` if Python knows the thread. Others, such as those
of a thread pool in C, might be waited for by the one that has the GIL: `allocated_without_python` is called instead, as
`freed` is with the lock and no Python; `allocated` calls it if it is not overridden. A failure in such a thread is not
told.

The Python listeners, `MemoryReporter`, are called last and with the GIL.

Note [Watching uses]
~~~~~~~~~~~~~~~~~~~~
A listener may ask for uses too (`watches_uses`): each time a storage gives out the address of its block, for reading or
for writing, to a kernel or to somebody outside. While no one asks, that costs nothing, for the branch is there already:

* every storage that is made while uses are watched is guarded (Note [One flag before the rare states]), so all code
  that wants its address comes by the code for the rare states, which reports it. The free list of storages is empty
  meanwhile: what is taken from it was made before.
* every operator call takes the way of those in which somebody intervenes (``tensix/dispatch/local_state.pyx``), which
  notes the operator for its thread.

The first watcher that begins and the last that ends throw these switches; a storage loses its guard when it is next
asked for its address. Storages that are older than the first watcher are not seen; nor does a listener know their
blocks, unless they get others, which makes them watched as well. What passes the storage by takes its block out of
sight, so that nothing is concluded about it.

`used` runs with the GIL, on ways where nothing else may run: it runs no Python, and has the collector wait. A use is
told when it begins, and once more when it ends if others may run meanwhile.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy
from tensix.core.assertions cimport TX_ASSERT
from tensix.core.atomics cimport tx_add_fetch_relaxed, tx_load_relaxed
from tensix.core.device cimport CPU, DEVICE_TYPE_COUNT, Device_get, device_type_from_any
from tensix.core.free_threading cimport (
    GIL_EXISTS, TX_COUNT, stolen, tx_change_t, tx_allow_taking, tx_take_reference, tx_while_stopped,
)
from tensix.core.lock cimport take_at_forks, tx_lock_release, tx_lock_t, tx_lock_take
from tensix.core.python_reference cimport decref_with_gil, may_run_python
from tensix.core.usage cimport high_water_change, high_water_current, high_water_t

from tensix._support.format_size import format_size
from tensix.core.free_threading import change_lock

__all__ = ["MemoryReporter", "max_memory_allocated", "memory_allocated", "reset_peak_memory_stats"]

cdef extern from "Python.h" nogil:
    void* PyGILState_GetThisThreadState()

cdef extern from *:
    """
    #include "tensix/core/thread_local.h"
    static TX_THREAD_LOCAL int tx_inside_report = 0;
    static TX_THREAD_LOCAL uint32_t tx_thread_number = 0;
    static TX_THREAD_LOCAL int tx_kind = 0;
    static TX_THREAD_LOCAL tx_operation_t tx_operation = {NULL, 0, 0};
    """
    int tx_inside_report  # a reporter that allocates is not told about its own allocations
    uint32_t tx_thread_number  # from 1; 0 before it is asked for
    int tx_kind  # of the block that this thread allocates now
    operation_t tx_operation

cdef extern from "tensix/core/callers.h":
    void tx_set_elsewhere(uint64_t* elsewhere)

cdef high_water_t tallies[DEVICE_TYPE_COUNT]
given_out = tallies
REMARKS = []
MOST_LINES = 3  # that hold most, in an error
cdef tuple REPORTERS = ()  # replaced whole, so that a report walks over one state of it
cdef object CHANGES = change_lock()  # of the reporters
cdef int reporter_count = 0
cdef int locking_count = 0  # listeners that need the lock
cdef switch_t switches[4]  # what is thrown when uses begin to be watched, and when that ends
cdef int switch_count = 0
cdef uint64_t operation_count = 0
cdef PyObject** slots = NULL  # borrowed, NULL in one that is free. See Note [Listening]
cdef int slot_count = 0
cdef int slot_end = 0  # those from here on are free
cdef uint64_t epoch = 0
cdef uint64_t thread_count = 0
use_watchers = 0
cdef tx_lock_t LOCK = 0


cdef class MemoryListener:
    """Listen in C to what happens to memory, once: while used as a context manager, or until its object goes.

    See Note [Listening].
    """

    def __dealloc__(self):
        stop_listening(self)

    def __enter__(self):
        start_listening(self)
        return self

    def __exit__(self, *exc_info):
        stop_listening(self)

    cdef void allocated(self, const new_block_t* block) noexcept:
        self.allocated_without_python(block)

    cdef void allocated_without_python(self, const new_block_t* block) noexcept nogil:
        pass

    cdef void freed(self, void* data, size_t nbytes, uint64_t stamp) noexcept nogil:
        pass

    cdef void failed(self, size_t nbytes) noexcept:
        pass

    cdef void copied(self, size_t nbytes) noexcept:
        pass

    cdef void used(self, void* data, use_t use) noexcept:
        pass

    cdef str only_once(self):
        return "a listener listens once."


cdef class MemoryReporter:
    """MemoryReporter()\n--\n
    Listen to allocations while used as a context manager; subclass it and override the reports.

    Notes
    -----
    Thread-safety: reports come from whatever thread allocates or frees, with the GIL held and before the next
    thing happens there. What a report raises goes to `sys.unraisablehook`. Allocations made inside a report are
    not reported.

    Examples
    --------
    >>> from tensix.core import MemoryReporter, Storage
    >>> class Printer(MemoryReporter):
    ...     def report_memory_usage(self, address, nbytes, total_allocated, device):
    ...         print(nbytes)
    >>> with Printer():
    ...     Storage(100).reset()
    100
    -100
    """

    def report_memory_usage(self, address, nbytes, total_allocated, device):
        """Take one event: `nbytes` bytes were allocated at `address`, or freed if negative.

        Parameters
        ----------
        address : int
            Of the block; when freed, it is still mapped but about to go.
        nbytes : int
            Positive for an allocation, negative for a free; never 0.
        total_allocated : int
            Bytes that the allocators of this device type had given out just after the event.
        device : Device
            Where the block is.
        """

    def report_out_of_memory(self, nbytes, total_allocated, device):
        """Take one failure: `nbytes` bytes could not be allocated.

        Parameters
        ----------
        nbytes : int
            Bytes asked for.
        total_allocated : int
            Bytes that the allocators of this device type had given out then.
        device : Device
            Where the block was to be.
        """

    def __enter__(self):
        change_reporters(self, 1)
        return self

    def __exit__(self, *exc_info):
        change_reporters(self, -1)


def listeners():
    """Return the listeners in C that listen now, the latest last."""
    cdef dict found = {}
    cdef int i
    for i in range(slot_end):
        if take_listener(slots[i], epoch):
            found[(<MemoryListener>slots[i]).since] = stolen(slots[i])
    return [found[since] for since in sorted(found)]


def remarks():
    """Return what there is to say about a failure besides its numbers: sentences, each after a space.

    The newest profile or recording knows the lines that hold most; functions in `REMARKS` return further sentences.
    """
    try:
        return "".join([f" {sentence}" for say in (lines_that_hold_most, *REMARKS) if (sentence := say())])
    except Exception:  # there is no memory for words
        return ""


def lines_that_hold_most():
    """Return a sentence, or nothing."""
    knowing = [listener for listener in listeners() if hasattr(listener, "_held_by_line")]
    held = knowing.pop()._held_by_line() if knowing else {}
    most = sorted([place for place in held if held[place] > 0], key=held.get, reverse=True)[:MOST_LINES]
    lines = ", ".join([f"{format_size(held[place])} by {place}" for place in most])
    return f"Most is held by these lines: {lines}." if lines else ""


cdef void report_out_of_memory(size_t nbytes, int8_t device_type) noexcept:
    """Tell that a block could not be allocated."""
    cdef PyObject* listener
    cdef uint64_t now = epoch
    cdef int i
    for i in range(slot_end):
        listener = slots[i]
        if take_listener(listener, now):
            (<MemoryListener>listener).failed(nbytes)
            decref_with_gil(listener)
    if reporter_count != 0 and may_run_python():
        tell_all("report_out_of_memory", (nbytes, bytes_given_out(device_type), Device_get(device_type, -1)))


cdef void report_copy(size_t nbytes) noexcept:
    """Tell that bytes which were shared copy-on-write had to be copied."""
    cdef uint64_t now = epoch
    cdef PyObject* listener
    cdef int i
    for i in range(slot_end):
        listener = slots[i]
        if take_listener(listener, now):
            (<MemoryListener>listener).copied(nbytes)
            decref_with_gil(listener)


cdef uint64_t bytes_given_out(int8_t device_type) noexcept nogil:
    """Return the bytes of a device type that are allocated and not freed, by all reports."""
    return <uint64_t>high_water_current(&given_out[device_type])


def memory_allocated(device="cpu"):
    """Return how many bytes are in use.

    Parameters
    ----------
    device : str or Device, optional
        Of which device type.

    Returns
    -------
    int
        Bytes asked for and not freed yet, of all blocks of this process: :doc:`/memory` says which are heard of.

    Notes
    -----
    PyTorch has this name in ``torch.cuda``. It is counted always, without a scope.

    Thread-safety: exact whichever threads allocate and free. The child of a fork goes on counting from what its parent
    had.

    Examples
    --------
    >>> import tensix
    >>> before = tensix.memory.memory_allocated()
    >>> x = tensix.ones(1000)
    >>> tensix.memory.memory_allocated() - before
    4000
    """
    return bytes_given_out(device_type_from_any(device))


def max_memory_allocated(device="cpu"):
    """Return the most bytes that were in use at one time, since the process began or `reset_peak_memory_stats`.

    Parameters
    ----------
    device : str or Device, optional
        Of which device type.

    Returns
    -------
    int

    Notes
    -----
    Thread-safety: as for `memory_allocated`. A peak is taken when something is allocated.

    Examples
    --------
    >>> import tensix
    >>> tensix.memory.reset_peak_memory_stats()
    >>> before = tensix.memory.memory_allocated()
    >>> x = tensix.ones(1000)
    >>> del x
    >>> tensix.memory.max_memory_allocated() - before
    4000
    """
    return tx_load_relaxed(<uint64_t*>&given_out[device_type_from_any(device)].peak)


def reset_peak_memory_stats(device="cpu"):
    """Let the peak begin again at what is in use now.

    Parameters
    ----------
    device : str or Device, optional
        Of which device type.

    Notes
    -----
    There is one peak for the whole process; a part of a program that wants its own opens a scope of `statistics`.

    Thread-safety: any thread may do so.

    Examples
    --------
    >>> import tensix
    >>> tensix.memory.reset_peak_memory_stats()
    >>> tensix.memory.max_memory_allocated() == tensix.memory.memory_allocated()
    True
    """
    high_water_change(&given_out[device_type_from_any(device)], 0, True)


cdef uint64_t tell_allocation(void* data, size_t nbytes, int8_t device_type, PyObject* allocator) noexcept:
    """Update the peak, call the listeners, and return the block's stamp."""
    cdef uint64_t now = epoch
    cdef new_block_t block = new_block_t(data, nbytes, 0, allocator)
    cdef PyObject* listener
    cdef int i
    high_water_change(&given_out[device_type], 0, False)
    if listener_count == 0:
        return 0
    block.stamp = now | <uint64_t>current_thread_number() << EPOCH_BITS
    for i in range(slot_end):
        listener = slots[i]
        if take_listener(listener, now):  # by hand: half of what a variable of its class would cost
            (<MemoryListener>listener).allocated(&block)
            decref_with_gil(listener)
    tell_reporters(data, <int64_t>nbytes, device_type)
    return block.stamp


cdef uint64_t report_allocation_without_gil(
        void* data, size_t nbytes, int8_t device_type, PyObject* allocator) noexcept nogil:
    """Count a block that is given out to any thread, and return its stamp. See Note [Listening]."""
    cdef new_block_t block = new_block_t(data, nbytes, 0, allocator)
    cdef int i
    high_water_add(&given_out[device_type], nbytes, False)
    if listener_count == 0:
        return 0
    if python_knows_thread():
        with gil:
            return tell_allocation(data, nbytes, device_type, allocator)
    lock_listeners()
    block.stamp = epoch | <uint64_t>current_thread_number() << EPOCH_BITS
    for i in range(slot_end):
        if listened(slots[i], epoch):
            (<MemoryListener>slots[i]).allocated_without_python(&block)
    unlock_listeners()
    tell_reporters(data, <int64_t>nbytes, device_type)
    return block.stamp


cdef void tell_free(void* data, size_t nbytes, int8_t device_type, uint64_t stamp, bint has_gil) noexcept nogil:
    cdef bint locks = not has_gil or locking_count != 0
    cdef uint64_t then = stamp & ((<uint64_t>1 << EPOCH_BITS) - 1)
    cdef int i
    if locks:
        lock_listeners()
    for i in range(slot_end):
        if listened(slots[i], then):
            (<MemoryListener>slots[i]).freed(data, nbytes, stamp)
    if locks:
        unlock_listeners()
    tell_reporters(data, -<int64_t>nbytes, device_type)


cdef inline bint listened(PyObject* slot, uint64_t epoch) noexcept nogil:
    """Return whether there is a listener in a slot that listened in an epoch already."""
    return slot != NULL and (<MemoryListener>slot).since <= epoch


cdef inline bint take_listener(PyObject* slot, uint64_t epoch) noexcept:
    """Return whether it did, with a reference, so that it may run Python. See Note [Listening]."""
    return listened(slot, epoch) and tx_take_reference(slot)


cdef void tell_reporters(void* data, int64_t nbytes, int8_t device_type) noexcept nogil:
    if reporter_count != 0 and may_run_python():
        with gil:
            facts = <uintptr_t>data, nbytes, bytes_given_out(device_type), Device_get(device_type, -1)
            tell_all("report_memory_usage", facts)


cdef int tell_all(str report, tuple facts) noexcept:
    global tx_inside_report
    if tx_inside_report:
        return 0
    tx_inside_report = 1
    for reporter in REPORTERS:
        tell(reporter, report, facts)
    tx_inside_report = 0
    return 0


cdef int tell(MemoryReporter reporter, str report, tuple facts) noexcept:
    getattr(reporter, report)(*facts)  # noexcept: Cython hands what it raises to sys.unraisablehook
    return 0


cdef int change_reporters(MemoryReporter reporter, int change) except -1:
    """Let a reporter begin, or end the last of its beginnings."""
    global reporter_count, listener_count
    with CHANGES:
        before = REPORTERS  # goes last
        reporters = list(before)
        if change > 0:
            reporters.append(reporter)
        elif reporter in reporters:
            del reporters[max([i for i, one in enumerate(reporters) if one is reporter])]
        change = len(reporters) - len(before)
        after = tuple(reporters)
        tx_while_stopped(<tx_change_t>exchange_reporters, <void*>after)
        reporter_count += change
        TX_COUNT(listener_count, change)
    return 0


cdef void exchange_reporters(void* reporters) noexcept:
    global REPORTERS
    REPORTERS = <tuple>reporters


cdef struct start_t:
    PyObject* listener
    PyObject** larger     # a longer array of slots, if there is no place in the one that is there
    int count             # of the slots in it
    bint is_entered


cdef int start_listening(MemoryListener listener) except -1:
    """Tell a listener of everything from now on. See Note [Listening]."""
    cdef start_t start = start_t(<PyObject*>listener, NULL, 0, False)
    if listener.since != 0:
        raise RuntimeError(listener.only_once())
    tx_allow_taking(<PyObject*>listener)
    while True:
        tx_while_stopped(enter_listener, &start)
        free(start.larger)  # NULL if it was needed
        if start.is_entered:
            break
        start.count = 2 * slot_count + 4
        start.larger = <PyObject**>calloc(start.count, sizeof(PyObject*))
        if start.larger == NULL:
            raise MemoryError("no memory for one more listener.")
    if listener.watches_uses:
        watch_uses(1)
    return 0


cdef void enter_listener(void* what) noexcept nogil:
    global slots, slot_count, slot_end, epoch, listener_count, locking_count
    cdef start_t* start = <start_t*>what
    cdef int i = 0
    while i < slot_count and slots[i] != NULL:
        i += 1
    if i == slot_count and start.count <= slot_count:
        return
    lock_listeners()
    start.is_entered = True
    if i == slot_count:
        if slot_count:
            memcpy(start.larger, slots, slot_count * sizeof(PyObject*))
        free(slots)
        slots, slot_count, start.larger = start.larger, start.count, NULL
    epoch += 1
    (<MemoryListener>start.listener).since, (<MemoryListener>start.listener).is_listening = epoch, True
    slots[i] = start.listener
    slot_end = max(slot_end, i + 1)
    listener_count += 1
    locking_count += (<MemoryListener>start.listener).needs_lock
    unlock_listeners()


cdef struct stop_t:
    PyObject* listener
    bint was_listening


cdef void stop_listening(MemoryListener listener) noexcept:
    """Tell a listener nothing any more; harmless if it does not listen. No free is in its method when this returns."""
    cdef stop_t stop = stop_t(<PyObject*>listener, False)
    if listener.is_listening:
        tx_while_stopped(remove_listener, &stop)
        if stop.was_listening and listener.watches_uses:
            watch_uses(-1)


cdef void remove_listener(void* what) noexcept nogil:
    global listener_count, locking_count, slot_end
    cdef stop_t* stop = <stop_t*>what
    cdef int i
    stop.was_listening = (<MemoryListener>stop.listener).is_listening
    if not stop.was_listening:
        return
    lock_listeners()
    for i in range(slot_end):
        if slots[i] == stop.listener:
            slots[i] = NULL
    while slot_end != 0 and slots[slot_end - 1] == NULL:
        slot_end -= 1
    (<MemoryListener>stop.listener).is_listening = False
    listener_count -= 1
    locking_count -= (<MemoryListener>stop.listener).needs_lock
    unlock_listeners()


# ---- uses: see Note [Watching uses]


cdef void watch_uses(int change) noexcept:
    """Count a watcher that comes or goes."""
    global use_watchers
    cdef int i
    cdef int now = TX_COUNT(use_watchers, change)
    if now == (change > 0):
        for i in range(switch_count):
            switches[i](now != 0)


cdef void call_when_watched(switch_t switch) noexcept:
    """Have a function called when uses begin to be watched, and when that ends."""
    global switch_count
    TX_ASSERT(switch_count < 4, "a place for another switch", switch_count)
    switches[switch_count] = switch
    switch_count += 1


cdef void report_use(void* data, use_t use) noexcept:
    """Tell what is done with the block of a storage."""
    cdef uint64_t now = epoch
    cdef int i
    cdef PyObject* listener
    for i in range(slot_end):
        listener = slots[i]
        if listened(listener, now) and (<MemoryListener>listener).watches_uses and take_listener(listener, now):
            (<MemoryListener>listener).used(data, use)
            decref_with_gil(listener)


cdef void begin_operation(PyObject* operator) noexcept:
    """Note that this thread calls an operator, unless it is inside another call."""
    tx_operation.depth += 1
    if tx_operation.depth == 1:
        tx_operation.operator, tx_operation.number = operator, tx_add_fetch_relaxed(&operation_count, 1)


cdef void end_operation() noexcept:
    tx_operation.depth -= 1
    if tx_operation.depth == 0:
        tx_operation.operator, tx_operation.number = NULL, 0


cdef const operation_t* current_operation() noexcept:
    """Return the operator call in which this thread is."""
    return &tx_operation


cdef uint32_t current_thread_number() noexcept nogil:
    """Return the number of this thread, from 1, a new one at its first question."""
    global tx_thread_number
    if tx_thread_number == 0:
        tx_thread_number = <uint32_t>tx_add_fetch_relaxed(&thread_count, 1)
    return tx_thread_number


cdef kind_t current_kind() noexcept nogil:
    """Return whose array or tensor the block is for that this thread allocates now."""
    return <kind_t>tx_kind


cdef kind_t exchange_kind(kind_t kind) noexcept nogil:
    """Say for whom this thread allocates from now on, and return for whom it did."""
    global tx_kind
    cdef kind_t before = <kind_t>tx_kind
    tx_kind = kind
    return before


cdef bint python_knows_thread() noexcept nogil:
    """Return whether this thread has a Python thread state, and may take the GIL."""
    return may_run_python() and PyGILState_GetThisThreadState() != NULL


cdef void lock_listeners() noexcept nogil:
    tx_lock_take(&LOCK)


cdef void unlock_listeners() noexcept nogil:
    tx_lock_release(&LOCK)


take_at_forks(&LOCK)
tallies[<int>CPU].has_shares = not GIL_EXISTS
tx_set_elsewhere(<uint64_t*>&tallies[<int>CPU].elsewhere)
for number in range(DEVICE_TYPE_COUNT):
    take_at_forks(&tallies[<int>number].lock)
