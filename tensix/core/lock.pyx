"""Locks that a fork takes first, so that its child finds them open and what they guard whole.

No thread takes one of these while it has another one, so their order does not matter.
"""

cdef enum:
    MOST_LOCKS = 64

cdef tx_lock_t* locks[MOST_LOCKS]
cdef int lock_count = 0


cdef int take_at_forks(tx_lock_t* lock) except -1:
    """Have forks take a lock, which is static."""
    global lock_count
    if lock_count == MOST_LOCKS:
        raise MemoryError("no place for one more lock: raise MOST_LOCKS.")
    locks[lock_count] = lock
    lock_count += 1
    return 0


cdef void take_all() noexcept nogil:
    cdef int i
    for i in range(lock_count):
        tx_lock_take(locks[i])


cdef void release_all() noexcept nogil:
    cdef int i
    for i in range(lock_count):
        tx_lock_release(locks[i])


if tx_at_fork(take_all, release_all, release_all):
    raise MemoryError("no memory to register for forks.")
