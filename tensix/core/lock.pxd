"""Private: the functions of ``lock.h``, and locks that forks take."""
from libc.stdint cimport uint64_t


cdef extern from "tensix/core/lock.h" nogil:
    ctypedef uint64_t tx_lock_t
    void tx_lock_take(tx_lock_t* lock)
    void tx_lock_release(tx_lock_t* lock)
    void tx_let_others_run()
    ctypedef void (*fork_hook_t)() noexcept nogil
    int tx_at_fork(fork_hook_t before, fork_hook_t in_parent, fork_hook_t in_child)

cdef int take_at_forks(tx_lock_t* lock) except -1
