/* A thread that calls a function with the GIL, every quarter of a second, until the function returns 0.
 *
 * It is a thread of C with a Python thread state of its own: `threading` does not list it. All signals are blocked in
 * it, so that they interrupt the program's own threads. It waits for a lock, which is released to end it. Any thread
 * may start it.
 */
#ifndef TENSIX_TICKER_H
#define TENSIX_TICKER_H

#include <Python.h>
#include <stdlib.h>
#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define TX_TICK_MICROSECONDS 250000

typedef struct {
    int (*tick)(void *ticker);
    PyThread_type_lock end; /* held until the thread is to end */
#if !defined(_WIN32)
    pthread_t thread;
#endif
    long native_id;         /* of the thread, as the system has it; 0 where that is not known */
} tx_ticker_t;

static void *tx_ticker = NULL; /* the thread that runs, NULL while there is none; for the caller, who guards it */

static void tx_ticker_free(tx_ticker_t *self)
{
    if (self->end != NULL) PyThread_free_lock(self->end);
    free(self);
}

/* Wait until the system no longer counts a thread that was joined, a tenth of a second at most: CPython warns of forks
 * in processes with threads. */
static void tx_wait_for_exit(long native_id)
{
#if defined(__linux__)
    int tries = 0;
    while (native_id > 0 && tries++ < 1000 && syscall(SYS_tgkill, getpid(), native_id, 0) == 0) usleep(100);
#else
    (void)native_id;
#endif
}

static void *tx_ticker_run(void *argument)
{
    tx_ticker_t *self = (tx_ticker_t *)argument;
    PyThreadState *state = NULL;
    int ends_by_itself = 0;
#if defined(__linux__)
    self->native_id = syscall(SYS_gettid);
#endif
    while (!ends_by_itself && PyThread_acquire_lock_timed(self->end, TX_TICK_MICROSECONDS, 0) != PY_LOCK_ACQUIRED) {
        if (state == NULL) state = PyThreadState_New(PyInterpreterState_Main());
        if (state == NULL) continue; /* no memory: try again at the next tick */
        PyEval_RestoreThread(state);
        ends_by_itself = !self->tick(self);
        PyEval_SaveThread();
    }
    if (state != NULL) {
        PyEval_RestoreThread(state);
        PyThreadState_Clear(state);
        PyThreadState_DeleteCurrent();
    }
#if defined(_WIN32)
    tx_ticker_free(self);
#else
    if (ends_by_itself) {
        pthread_detach(pthread_self());
        tx_ticker_free(self);
    }
#endif
    return NULL;
}

#if defined(_WIN32)
static void tx_ticker_begin(void *argument) { tx_ticker_run(argument); }
static int tx_ticker_make_thread(tx_ticker_t *self)
{
    return PyThread_start_new_thread(tx_ticker_begin, self) == PYTHREAD_INVALID_THREAD_ID;
}
#else
static int tx_ticker_make_thread(tx_ticker_t *self)
{
    sigset_t all, before;
    int failed;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return -1;
    failed = pthread_create(&self->thread, NULL, tx_ticker_run, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}
#endif

/* Start the thread and return it; NULL if there is no memory for it or the system refuses. */
static void *tx_ticker_start(int (*tick)(void *ticker))
{
    tx_ticker_t *self = (tx_ticker_t *)calloc(1, sizeof(tx_ticker_t));
    if (self == NULL) return NULL;
    self->tick = tick;
    self->end = PyThread_allocate_lock();
    if (self->end != NULL) PyThread_acquire_lock(self->end, NOWAIT_LOCK);
    if (self->end != NULL && tx_ticker_make_thread(self) == 0) return self;
    tx_ticker_free(self);
    return NULL;
}

/* End the thread, which has not ended by itself, and wait for its end, without the GIL meanwhile. */
static void tx_ticker_end(void *ticker)
{
    tx_ticker_t *self = (tx_ticker_t *)ticker;
    PyThread_release_lock(self->end);
#if !defined(_WIN32)
    Py_BEGIN_ALLOW_THREADS
    pthread_join(self->thread, NULL);
    tx_wait_for_exit(self->native_id);
    Py_END_ALLOW_THREADS
    tx_ticker_free(self);
#endif
}

#endif /* TENSIX_TICKER_H */
