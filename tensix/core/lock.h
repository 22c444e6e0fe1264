/* A lock for a few instructions at a time, taken by any thread, with or without the GIL. Zeroed memory is an open one.
 *
 * Open to open again takes one locked instruction. A thread that finds it taken tries for a moment, and then lets the
 * system run other threads, for the one that has the lock may have been interrupted.
 *
 * tx_at_fork has the system call functions around a fork. Python's own hooks run Python code between them and the fork,
 * and other threads meanwhile: a lock that is taken in one would be waited for by a thread that holds the GIL.
 */
#ifndef TENSIX_LOCK_H
#define TENSIX_LOCK_H

#include "tensix/atomics.h"
#if defined(_WIN32)
#include <windows.h>
#define tx_let_others_run() SwitchToThread()
#define tx_at_fork(before, in_parent, in_child) ((void)(before), (void)(in_parent), (void)(in_child), 0)
#else
#include <pthread.h>
#include <sched.h>
#define tx_let_others_run() sched_yield()
#define tx_at_fork(before, in_parent, in_child) pthread_atfork((before), (in_parent), (in_child))
#endif

typedef uint64_t tx_lock_t;

enum { TX_TRIES = 100 };

#if defined(__GNUC__)
__attribute__((noinline, cold, unused))
#endif
static void tx_lock_wait(tx_lock_t *lock)
{
    int tries = 0;
    do {
        while (tx_load_relaxed(lock) != 0) {
            if (++tries > TX_TRIES) tx_let_others_run();
        }
    } while (tx_exchange_acq_rel(lock, 1) != 0);
}

static inline void tx_lock_take(tx_lock_t *lock)
{
    if (tx_exchange_acq_rel(lock, 1) != 0) tx_lock_wait(lock);
}

static inline void tx_lock_release(tx_lock_t *lock)
{
    tx_store_release(lock, 0);
}

#endif /* TENSIX_LOCK_H */
