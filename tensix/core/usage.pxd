"""Private: counting what is in use without locked instructions.

Note [Counting with the GIL]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A locked instruction costs as much as the rest of the counting together. Allocations happen with the GIL, so they add to
a plain number. So do nearly all frees; the others add to a second number, which is atomic. What is in use is the bytes
allocated less those freed either way; only an allocation can pass the peak.

Note [A peak for one branch]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Every process counts, so counting must be cheap. The peak is not compared with what is in use; what is counted is how
much may still be allocated before the peak is passed. An allocation subtracts from that number and a free adds to it;
an allocation that finds it below 0 may have passed the peak. That is one branch more than counting alone. Frees without
the GIL do not add to it: then it falls below 0 early, and what is in use decides whether there is a new peak.
"""
from libc.stdint cimport int64_t, uint64_t
from tensix.core.atomics cimport tx_add_fetch_relaxed, tx_load_relaxed


cdef struct usage_t:
    uint64_t allocated
    uint64_t freed              # with the GIL
    uint64_t freed_without_gil
    uint64_t peak


cdef inline uint64_t usage_current(usage_t* self) noexcept nogil:
    return self.allocated - self.freed - tx_load_relaxed(&self.freed_without_gil)


cdef inline void usage_add(usage_t* self, uint64_t amount) noexcept:
    cdef uint64_t current
    self.allocated += amount
    current = usage_current(self)
    if current > self.peak:
        self.peak = current


cdef inline void usage_remove(usage_t* self, uint64_t amount, bint with_gil) noexcept nogil:
    if with_gil:
        self.freed += amount
    else:
        tx_add_fetch_relaxed(&self.freed_without_gil, amount)


cdef struct high_water_t:  # see Note [A peak for one branch]
    int64_t below               # how much may be allocated before the mark is passed
    int64_t mark                # the peak, plus what had been freed without the GIL when it was last computed
    int64_t peak
    uint64_t freed_without_gil


cdef inline int64_t high_water_current(high_water_t* self) noexcept:
    return self.mark - self.below - <int64_t>tx_load_relaxed(&self.freed_without_gil)


cdef inline bint high_water_add(high_water_t* self, uint64_t amount) noexcept:
    """Return whether there may be a new peak, which `high_water_move` then sees to."""
    self.below -= <int64_t>amount
    return self.below < 0


cdef inline void high_water_remove(high_water_t* self, uint64_t amount, bint with_gil) noexcept nogil:
    if with_gil:
        self.below += <int64_t>amount
    else:
        tx_add_fetch_relaxed(&self.freed_without_gil, amount)


cdef inline void high_water_move(high_water_t* self, int64_t peak) noexcept:
    """Set the peak, and the mark by what has been freed without the GIL until now."""
    cdef int64_t elsewhere = <int64_t>tx_load_relaxed(&self.freed_without_gil)
    cdef int64_t held = self.mark - self.below
    self.peak = peak
    self.mark = peak + elsewhere
    self.below = self.mark - held
