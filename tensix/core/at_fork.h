/* Functions that the system calls around a fork. Python's own hooks run Python code between them and the fork, and
 * other threads meanwhile: a lock that is taken in one would be waited for by a thread that holds the GIL.
 */
#ifndef TENSIX_AT_FORK_H
#define TENSIX_AT_FORK_H

#if defined(_WIN32)
static __inline int tx_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before; (void)in_parent; (void)in_child;
    return 0;
}
#else
#include <pthread.h>
static inline int tx_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child);
}
#endif

#endif /* TENSIX_AT_FORK_H */
