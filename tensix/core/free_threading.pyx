"""What is there once of what takes the place of the GIL; nothing where there is one.

Threads that are in a call which may read blocks are listed: Note [Blocks that others may read] in ``cow_context.pyx``.

Note [Stopping others and forks]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A thread that asks to stop the others while one forks waits with a lock of CPython's, which is locked for ever in the
child (3.13.15). So who stops the others takes a lock first, which a fork waits for. Its hook runs last before a fork,
and first after it: it is registered before all that stop threads themselves. A thread that asks to stop the others
while the interpreter ends hangs with that lock of CPython's, and the end waits for it. So the thread that ends the
program takes the same lock, and keeps it.
"""
import atexit
import os
from _thread import RLock

from tensix.core.lock cimport fork_hook_t, take_at_forks, tx_at_fork, tx_lock_t

cdef extern from *:
    """
    #include "tensix/core/callers.h"
    #include "tensix/core/gil.h"
    static tx_lock_t tx_callers_lock = 0;
    #if defined(Py_GIL_DISABLED)
    static PyMutex tx_stopping = {0};
    static TX_THREAD_LOCAL int tx_holds_stopping = 0; /* how often this thread has taken it */
    static void tx_end_stopping(void) { if (--tx_holds_stopping == 0) PyMutex_Unlock(&tx_stopping); }
    static void tx_begin_stopping(void) { if (tx_holds_stopping++ == 0) PyMutex_Lock(&tx_stopping); }

    typedef struct { tx_change_t change; void *what; } tx_stopped_change_t;

    static int tx_change_and_end(PyObject *object, void *call)
    {
        (void)object;
        ((tx_stopped_change_t *)call)->change(((tx_stopped_change_t *)call)->what);
        return 0; /* no other object is wanted */
    }

    void tx_while_stopped(tx_change_t change, void *what)
    {
        tx_stopped_change_t call = {change, what};
        if (tx_is_finalizing()) { /* the others hang */
            change(what);
            return;
        }
        tx_begin_stopping();
        PyUnstable_GC_VisitObjects(tx_change_and_end, &call);
        tx_end_stopping();
    }

    enum { TX_TRIES_FOR_A_CALL = 2000 };
    TX_THREAD_LOCAL tx_caller_t tx_caller = {0, 0, 0, 0, 0, NULL, NULL};
    uint64_t *tx_elsewhere = NULL;
    static tx_caller_t *tx_callers = NULL;

    static void tx_remove_caller(void *what)
    {
        tx_caller_t *caller = (tx_caller_t *)what;
        tx_lock_take(&tx_callers_lock);
        if (caller->next != NULL) caller->next->previous = caller->previous;
        if (caller->previous != NULL) caller->previous->next = caller->next;
        else tx_callers = caller->next;
        caller->is_listed = 0;
        tx_add_fetch_relaxed(tx_elsewhere, caller->held);
        tx_lock_release(&tx_callers_lock);
    }

    #if defined(_WIN32)
    static DWORD tx_callers_key = FLS_OUT_OF_INDEXES;
    static int tx_make_callers_key(void)
    {
        tx_callers_key = FlsAlloc((PFLS_CALLBACK_FUNCTION)tx_remove_caller);
        return tx_callers_key == FLS_OUT_OF_INDEXES;
    }
    #define tx_remember_caller(caller) FlsSetValue(tx_callers_key, (caller))
    #else
    #include <pthread.h>
    static pthread_key_t tx_callers_key;
    static int tx_make_callers_key(void) { return pthread_key_create(&tx_callers_key, tx_remove_caller); }
    #define tx_remember_caller(caller) pthread_setspecific(tx_callers_key, (caller))
    #endif

    void tx_list_caller(tx_caller_t *caller)
    {
        tx_remember_caller(caller);
        tx_lock_take(&tx_callers_lock);
        caller->next = tx_callers;
        caller->previous = NULL;
        if (tx_callers != NULL) tx_callers->previous = caller;
        tx_callers = caller;
        caller->is_listed = 1;
        tx_lock_release(&tx_callers_lock);
    }

    /* Wait until calls of other threads have ended that have begun before, or are where they can be stopped. */
    void tx_wait_for_callers(void)
    {
        tx_caller_t *own = &tx_caller;
        int have_ended = 1, may_read = tx_load_relaxed(&own->calls) & 1;
        /* What is read in this thread's own call is read afterwards: others need not wait for it. */
        if (may_read) tx_store_release(&own->calls, tx_load_relaxed(&own->calls) + 1);
        tx_lock_take(&tx_callers_lock);
        for (tx_caller_t *other = tx_callers; other != NULL; other = other->next) {
            uint64_t seen;
            int tries = 0;
            /* Not a load: a call that begins later has to see what was exchanged before. */
            while (((seen = tx_add_fetch_acq_rel(&other->calls, 0)) & 1) != 0 && ++tries < TX_TRIES_FOR_A_CALL) {
                while (tx_load_relaxed(&other->calls) == seen && ++tries < TX_TRIES_FOR_A_CALL) {}
            }
            have_ended = have_ended && tries < TX_TRIES_FOR_A_CALL;
        }
        tx_lock_release(&tx_callers_lock);
        if (may_read) tx_exchange_acq_rel(&own->calls, tx_load_relaxed(&own->calls) + 1);
        if (!have_ended) tx_while_stopped(tx_end_readings, NULL);
    }

    /* Note that no thread reads outside of calls any more; while they are stopped. */
    void tx_end_readings(void *nothing)
    {
        tx_lock_take(&tx_callers_lock);
        for (tx_caller_t *other = tx_callers; other != NULL; other = other->next) {
            if (other->depth == 0 && (other->calls & 1) != 0) tx_store_release(&other->calls, other->calls + 1);
        }
        tx_lock_release(&tx_callers_lock);
    }

    /* What is in all shares and elsewhere. */
    uint64_t tx_shares(const uint64_t *elsewhere)
    {
        uint64_t sum;
        tx_lock_take(&tx_callers_lock);
        sum = tx_load_relaxed(elsewhere);
        for (tx_caller_t *one = tx_callers; one != NULL; one = one->next) sum += tx_load_relaxed(&one->held);
        tx_lock_release(&tx_callers_lock);
        return sum;
    }

    /* Let every thread add as much before it has to look for a peak. */
    void tx_divide(int64_t headroom)
    {
        int64_t count = 0;
        tx_lock_take(&tx_callers_lock);
        for (tx_caller_t *one = tx_callers; one != NULL; one = one->next) count++;
        for (tx_caller_t *one = tx_callers; one != NULL; one = one->next) {
            tx_store_relaxed(&one->most, tx_load_relaxed(&one->held) + (uint64_t)(headroom / count));
        }
        tx_lock_release(&tx_callers_lock);
    }

    /* In the child of a fork there is one thread. */
    static void tx_forget_callers(void)
    {
        for (tx_caller_t *one = tx_callers; one != NULL; one = one->next) {
            if (one != &tx_caller) tx_add_fetch_relaxed(tx_elsewhere, one->held);
        }
        tx_callers = tx_caller.is_listed ? &tx_caller : NULL;
        tx_caller.next = tx_caller.previous = NULL;
    }
    #else
    #define tx_make_callers_key() 0
    #define tx_forget_callers NULL
    #define tx_begin_stopping() ((void)0)
    #define tx_end_stopping() ((void)0)
    #endif
    """
    tx_lock_t tx_callers_lock
    void tx_begin_stopping()
    void tx_end_stopping()
    int tx_make_callers_key()
    fork_hook_t tx_forget_callers

if tx_make_callers_key() or tx_at_fork(NULL, NULL, tx_forget_callers):
    raise MemoryError("no memory to be told of threads that end, and of forks.")
take_at_forks(&tx_callers_lock)


def change_lock():
    """Return a lock for changes that few make; a thread may take it again, and the child of a fork finds it free."""
    lock = RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lock._at_fork_reinit)
    return lock


def keep_for_ever(objects):
    """Count no references to objects that every thread uses: two threads that do so wait for each other."""
    for each in objects if not GIL_EXISTS else ():
        tx_keep_for_ever(each)


def begin_stopping():
    """Let no thread but this one stop others, as a fork or the end of the program begins."""
    tx_begin_stopping()


def end_stopping():
    tx_end_stopping()


if not GIL_EXISTS:
    atexit.register(begin_stopping)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=begin_stopping, after_in_parent=end_stopping, after_in_child=end_stopping)
