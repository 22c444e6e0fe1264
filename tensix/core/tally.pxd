"""Private: counting what is in use without locked instructions.

Note [Counting with the GIL]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A locked instruction costs as much as the rest of the counting together. Allocations happen with the GIL, so what they
count is a plain number. So do nearly all frees; those that do not have a number of their own, which is atomic. In use
is what came less what went on either way; a peak can only be passed by an allocation.
"""
from libc.stdint cimport uint64_t
from tensix.core.atomics cimport tx_add_fetch_relaxed, tx_load_relaxed


cdef struct tally_t:
    uint64_t came             # with the GIL
    uint64_t went             # with the GIL
    uint64_t went_elsewhere   # without it
    uint64_t peak


cdef inline uint64_t tally_current(tally_t* self) noexcept nogil:
    return self.came - self.went - tx_load_relaxed(&self.went_elsewhere)


cdef inline void tally_add(tally_t* self, uint64_t amount) noexcept:
    cdef uint64_t current
    self.came += amount
    current = tally_current(self)
    if current > self.peak:
        self.peak = current


cdef inline void tally_remove(tally_t* self, uint64_t amount, bint with_gil) noexcept nogil:
    if with_gil:
        self.went += amount
    else:
        tx_add_fetch_relaxed(&self.went_elsewhere, amount)
