"""Private: the functions of ``lock.h``."""
from libc.stdint cimport uint64_t


cdef extern from "tensix/core/lock.h" nogil:
    ctypedef uint64_t tx_lock_t
    void tx_lock_take(tx_lock_t* lock)
    void tx_lock_release(tx_lock_t* lock)
    void tx_let_others_run()
