"""Sharing the work of a loop among threads.

Note [Threads]
~~~~~~~~~~~~~~
A large loop is cut into chunks that do not depend on each other. The thread that wants the work done publishes them,
wakes helpers, and takes chunks as they do; it returns when the last chunk is finished, by any of them. A helper that
wakes late finds nothing left and goes back to sleep: no one waits for a thread that has no work.

There is one pool, and one loop at a time has it. A loop that finds it in use, since another Python thread runs one, is
run by its own thread alone. Helpers are started when they are first needed and run C code only; they know nothing of
Python, so neither the GIL nor the end of the interpreter concerns them. After ``fork`` the child has none of them and
starts its own.

No helper sleeps while there is work. The thread that publishes chunks takes each helper's flag after that, and a helper
that has set its flag checks for chunks once more. Setting and taking read and write the flag at once, so one of them
comes first. If it is setting, the flag is found, and the helper woken. If it is taking, the helper reads what was
written there; taking releases and setting acquires, so the helper then sees the chunks. The flag is therefore exchanged
without reading it first: such a read could be answered too early.

On ARM a load may be done before the exchange in front of it has written. But then no other exchange of that flag came
in between, or it would not have written: one that comes later finds the flag set. ``tests/models/parallel.pml`` is a
model of this, in which loads may be as stale as ARM permits.

How a loop is cut depends on shapes and never on the number of threads, wherever that could change a result.
"""
import os

from cpython.number cimport PyNumber_Index
from libc.stdint cimport int64_t, uint64_t
from tensix.core.atomics cimport (
    tx_add_fetch_acq_rel, tx_compare_exchange_acq_rel, tx_exchange_acq_rel, tx_fetch_sub_acq_rel, tx_load_acquire,
    tx_load_relaxed, tx_store_relaxed,
)

cdef extern from "pythread.h" nogil:  # none of these asks for the GIL
    ctypedef void* PyThread_type_lock
    int NOWAIT_LOCK, WAIT_LOCK
    unsigned long PyThread_start_new_thread(void (*function)(void*) noexcept nogil, void* argument)
    PyThread_type_lock PyThread_allocate_lock()
    int PyThread_acquire_lock(PyThread_type_lock lock, int mode)
    void PyThread_release_lock(PyThread_type_lock lock)

__all__ = ["get_num_threads", "set_num_threads"]

cdef enum:
    MAX_THREADS = 1024


cdef struct helper_t:
    PyThread_type_lock wake  # held while there is nothing to do
    uint64_t is_asleep       # the thread that changes it from 1 to 0 releases the lock


cdef struct pool_t:
    PyThread_type_lock in_use
    PyThread_type_lock finished  # held until the last chunk is done
    helper_t helpers[1024]
    int started
    chunk_function_t function    # these three do not change from a claim to the end of the claimed chunk
    void* context
    int64_t chunks
    uint64_t unclaimed
    uint64_t unfinished


cdef pool_t POOL
cdef uint64_t NUM_THREADS = 1  # loops read it without the GIL


cdef void parallel_for(int64_t chunks, chunk_function_t function, void* context) noexcept nogil:
    """Call ``function(context, chunk)`` once for every chunk, on several threads. See Note [Threads]."""
    cdef int helpers = <int>min(<int64_t>tx_load_relaxed(&NUM_THREADS), chunks) - 1
    cdef int64_t chunk
    cdef int i
    if helpers <= 0 or not PyThread_acquire_lock(POOL.in_use, NOWAIT_LOCK):
        for chunk in range(chunks):
            function(context, chunk)
        return
    start_helpers(helpers)
    POOL.function, POOL.context, POOL.chunks = function, context, chunks
    tx_add_fetch_acq_rel(&POOL.unfinished, chunks)
    tx_add_fetch_acq_rel(&POOL.unclaimed, chunks)
    for i in range(min(helpers, POOL.started)):
        if take(&POOL.helpers[i].is_asleep):
            PyThread_release_lock(POOL.helpers[i].wake)
    run_chunks()
    PyThread_acquire_lock(POOL.finished, WAIT_LOCK)
    PyThread_release_lock(POOL.in_use)


cdef void start_helpers(int wanted) noexcept nogil:
    """Start helpers until there are so many; with fewer, when the system refuses, the work takes longer."""
    cdef helper_t* helper
    while POOL.started < wanted:
        helper = &POOL.helpers[POOL.started]
        helper.is_asleep = 0
        if helper.wake == NULL:
            helper.wake = PyThread_allocate_lock()
            if helper.wake == NULL:
                return
            PyThread_acquire_lock(helper.wake, WAIT_LOCK)
        if PyThread_start_new_thread(help_forever, helper) == <unsigned long>-1:
            return
        POOL.started += 1


cdef void help_forever(void* argument) noexcept nogil:
    """Run a helper thread: take chunks while there are any, then sleep."""
    cdef helper_t* self = <helper_t*>argument
    while True:
        run_chunks()
        tx_add_fetch_acq_rel(&self.is_asleep, 1)
        if tx_load_acquire(&POOL.unclaimed) != 0 and take(&self.is_asleep):
            continue  # published before it was to be seen that this helper sleeps
        PyThread_acquire_lock(self.wake, WAIT_LOCK)


cdef void run_chunks() noexcept nogil:
    """Claim and run chunks until none is left."""
    cdef uint64_t left = tx_load_acquire(&POOL.unclaimed)
    while left != 0:
        if not tx_compare_exchange_acq_rel(&POOL.unclaimed, &left, left - 1):
            continue
        POOL.function(POOL.context, POOL.chunks - <int64_t>left)
        if tx_fetch_sub_acq_rel(&POOL.unfinished, 1) == 1:
            PyThread_release_lock(POOL.finished)
        left = tx_load_acquire(&POOL.unclaimed)


cdef bint take(uint64_t* flag) noexcept nogil:
    """Change a flag to 0 and return whether it was 1. See Note [Threads]."""
    return tx_exchange_acq_rel(flag, 0) == 1


def reset_pool():
    """Forget all helpers: at import, and in the child of a fork, which has none."""
    cdef int i
    for i in range(POOL.started):
        POOL.helpers[i].wake = NULL  # never released: the thread that held it does not exist in the child
    POOL.started = 0
    POOL.unclaimed = POOL.unfinished = 0
    POOL.in_use = PyThread_allocate_lock()
    POOL.finished = PyThread_allocate_lock()
    if POOL.in_use == NULL or POOL.finished == NULL:
        raise MemoryError("could not allocate the locks of the threads.")
    PyThread_acquire_lock(POOL.finished, WAIT_LOCK)


def set_num_threads(n):
    """Let large operations use so many threads, the calling one included.

    At the start it is the environment variable ``TENSIX_NUM_THREADS``, or the number of cores that the process may
    use. Results do not depend on it.

    Raises
    ------
    ValueError
        If the number is not 1 or more, or beyond 1024.

    Examples
    --------
    >>> before = tensix.get_num_threads()
    >>> tensix.set_num_threads(1)
    >>> tensix.get_num_threads()
    1
    >>> tensix.set_num_threads(before)
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"set_num_threads() takes an int, found {type(n).__name__}.")
    n = PyNumber_Index(n)
    if not 1 <= n <= MAX_THREADS:
        raise ValueError(f"set_num_threads() takes 1 to {MAX_THREADS}, found {n}.")
    tx_store_relaxed(&NUM_THREADS, n)


def get_num_threads():
    """Return how many threads large operations use, the calling one included."""
    return NUM_THREADS


def initial_num_threads():
    """Return what the environment says, else the number of cores that the process may use."""
    given = os.environ.get("TENSIX_NUM_THREADS", "")
    if not given:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores, MAX_THREADS)
    if not given.isdecimal() or not 1 <= int(given) <= MAX_THREADS:
        raise ValueError(f"the environment variable TENSIX_NUM_THREADS must be 1 to {MAX_THREADS}, found {given!r}.")
    return int(given)


reset_pool()
set_num_threads(initial_num_threads())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=reset_pool)
