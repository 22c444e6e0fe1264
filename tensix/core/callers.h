/* Which threads are in a call that may read blocks. See Note [Blocks that others may read] in cow_context.pyx. */
#ifndef TENSIX_CALLERS_H
#define TENSIX_CALLERS_H

#include "tensix/core/free_threading.h"

#if defined(Py_GIL_DISABLED)

#include "tensix/core/lock.h"
#include "tensix/core/thread_local.h"

typedef struct tx_caller {
    uint64_t calls; /* odd while the thread may read */
    int depth;      /* of calls in calls */
    int is_listed;
    uint64_t held, most; /* bytes of its share, and up to how many it may add: Note [A peak for one branch] in usage.pxd */
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
    const uint64_t calls = tx_load_relaxed(&caller->calls); /* other threads read it, too */
    tx_exchange_acq_rel(&caller->calls, calls + 1 + (calls & 1));
}

static inline void tx_end_call(void)
{
    tx_caller_t *caller = &tx_caller;
    if (--caller->depth == 0) tx_store_release(&caller->calls, tx_load_relaxed(&caller->calls) + 1);
}

/* Before an address is read: outside of calls the thread may read until it calls something, or is stopped. */
static inline void tx_note_reading(void)
{
    tx_caller_t *caller = &tx_caller;
    const uint64_t calls = tx_load_relaxed(&caller->calls);
    if (caller->depth != 0 || (calls & 1) != 0) return;
    if (!caller->is_listed) tx_list_caller(caller);
    tx_exchange_acq_rel(&caller->calls, calls + 1);
}

void tx_wait_for_callers(void);
void tx_end_readings(void *nothing);
#define tx_set_elsewhere(address) (tx_elsewhere = (address))

/* Add to this thread's share; return whether it may be a new peak. */
static inline int tx_share_add(uint64_t amount)
{
    tx_caller_t *caller = &tx_caller;
    uint64_t held = caller->held + amount;
    if (!caller->is_listed) tx_list_caller(caller);
    tx_store_relaxed(&caller->held, held);
    return (int64_t)held > (int64_t)tx_load_relaxed(&caller->most);
}

extern uint64_t *tx_elsewhere; /* what is in no share; those of threads that end go there */
uint64_t tx_shares(const uint64_t *elsewhere);
void tx_divide(int64_t headroom);

#else

#define tx_share_add(amount) 0
#define tx_shares(elsewhere) (*(elsewhere))
#define tx_divide(headroom) ((void)0)
#define tx_set_elsewhere(address) ((void)0)

#define tx_begin_call() ((void)0)
#define tx_end_call() ((void)0)
#define tx_note_reading() ((void)0)
#define tx_wait_for_callers() ((void)0)
#define tx_end_readings(nothing) ((void)0)

#endif
#endif /* TENSIX_CALLERS_H */
