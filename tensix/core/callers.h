/* Which threads are in a call that may read blocks. See Note [Blocks that others may read] in cow_context.pyx. */
#ifndef TENSIX_CALLERS_H
#define TENSIX_CALLERS_H

#include "tensix/core/free_threading.h"

#if defined(Py_GIL_DISABLED)

#include "tensix/core/lock.h"
#include "tensix/core/thread_local.h"

typedef struct tx_caller {
    uint64_t calls; /* odd while the thread may read; it changes with each call */
    int depth;      /* of calls in calls */
    int is_listed;
    struct tx_caller *next, *previous;
} tx_caller_t;

#if defined(__GNUC__)
__attribute__((visibility("hidden")))
#endif
extern TX_THREAD_LOCAL tx_caller_t tx_caller;
void tx_list_caller(tx_caller_t *caller);

static inline void tx_begin_call(void)
{
    tx_caller_t *caller = &tx_caller;
    if (caller->depth++ != 0) return;
    if (!caller->is_listed) tx_list_caller(caller);
    tx_exchange_acq_rel(&caller->calls, caller->calls + 1 + (caller->calls & 1)); /* and a barrier */
}

static inline void tx_end_call(void)
{
    tx_caller_t *caller = &tx_caller;
    if (--caller->depth == 0) tx_store_release(&caller->calls, caller->calls + 1);
}

/* Before an address is read: outside of calls the thread may read until it calls something, or is stopped. */
static inline void tx_note_reading(void)
{
    tx_caller_t *caller = &tx_caller;
    if (caller->depth != 0 || (caller->calls & 1) != 0) return;
    if (!caller->is_listed) tx_list_caller(caller);
    tx_exchange_acq_rel(&caller->calls, caller->calls + 1);
}

int tx_wait_for_callers(void);
void tx_end_readings(void);

#else

#define tx_begin_call() ((void)0)
#define tx_end_call() ((void)0)
#define tx_note_reading() ((void)0)
#define tx_wait_for_callers() 1
#define tx_end_readings() ((void)0)

#endif
#endif /* TENSIX_CALLERS_H */
