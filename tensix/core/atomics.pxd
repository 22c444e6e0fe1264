"""Private: the functions of tensix/atomics.h. Public .pxd files never cimport this one."""
from libc.stdint cimport uint64_t


cdef extern from "tensix/atomics.h" nogil:
    uint64_t tx_load_relaxed(const uint64_t* word)
    uint64_t tx_load_acquire(const uint64_t* word)
    void tx_store_relaxed(uint64_t* word, uint64_t value)
    void tx_store_release(uint64_t* word, uint64_t value)
    uint64_t tx_add_fetch_relaxed(uint64_t* word, uint64_t amount)
    uint64_t tx_add_fetch_acq_rel(uint64_t* word, uint64_t amount)
    uint64_t tx_fetch_sub_acq_rel(uint64_t* word, uint64_t amount)
    uint64_t tx_exchange_acq_rel(uint64_t* word, uint64_t value)
    bint tx_compare_exchange_acq_rel(uint64_t* word, uint64_t* expected, uint64_t desired)
