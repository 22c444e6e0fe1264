"""Private: counting what is in use without locked instructions.

Note [Counting with the GIL]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A locked instruction costs as much as the rest of the counting together. Allocations happen with the GIL, so what they
count is a plain number. So do nearly all frees; those that do not have a number of their own, which is atomic. In use
is what came less what went on either way; a peak can only be passed by an allocation.

Note [A peak for one branch]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
What every process counts is to cost next to nothing. So a peak is not compared with what is in use: what is counted is
how much may still come before the peak is passed. An allocation takes from that number and a free adds to it; one that
finds it below 0 may have passed the peak. That is one branch more than to count alone. Frees without the GIL, counted
apart, do not add to it: it then falls below 0 early, and what is in use tells whether there is a new peak.
"""
from libc.stdint cimport int64_t, uint64_t
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


cdef struct high_water_t:  # see Note [A peak for one branch]
    int64_t below             # how much may come before the mark is passed
    int64_t mark              # the peak, plus what had gone without the GIL when it was last computed
    int64_t peak
    uint64_t went_elsewhere   # without the GIL


cdef inline int64_t high_water_current(high_water_t* self) noexcept:
    return self.mark - self.below - <int64_t>tx_load_relaxed(&self.went_elsewhere)


cdef inline bint high_water_add(high_water_t* self, uint64_t amount) noexcept:
    """Return whether there may be a new peak, which `high_water_move` then sees to."""
    self.below -= <int64_t>amount
    return self.below < 0


cdef inline void high_water_remove(high_water_t* self, uint64_t amount, bint with_gil) noexcept nogil:
    if with_gil:
        self.below += <int64_t>amount
    else:
        tx_add_fetch_relaxed(&self.went_elsewhere, amount)


cdef inline void high_water_move(high_water_t* self, int64_t peak) noexcept:
    """Set the peak, and the mark by what has gone without the GIL until now."""
    cdef int64_t elsewhere = <int64_t>tx_load_relaxed(&self.went_elsewhere)
    cdef int64_t held = self.mark - self.below
    self.peak = peak
    self.mark = peak + elsewhere
    self.below = self.mark - held
