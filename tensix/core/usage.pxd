"""Private: counting what is in use, with locked instructions only where there is no GIL.

Note [A peak for one branch]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Every process counts its blocks, so counting must be cheap: a locked instruction costs as much as the rest of it. Nearly
all blocks come and go with the GIL, so they are counted in a plain number, `held`. The others are counted with a lock
in another one, `elsewhere`, which may be below 0. What is in use is the sum.

Whether an allocation with the GIL passes the peak is one comparison, of `held` with a mark: the peak less what is
elsewhere, which changes with it. What passes the mark is a new peak, and takes the lock to set it. Of two allocations
in the same moment, one with the GIL and one without, each may miss the other; the next one finds both.

In a build without the GIL each attached thread has a share of its own in place of `held`, for main memory, and a mark:
all marks and what is elsewhere make up the peak. A thread that passes its mark takes the lock, sums, and divides what
lacks to the peak among all. Any two may miss each other as above. ``tests/models/shares.pml`` is a model of this.
"""
from libc.stdint cimport int64_t, uint64_t
from tensix.core.atomics cimport tx_add_fetch_relaxed, tx_compare_exchange_acq_rel, tx_load_relaxed, tx_store_relaxed
from tensix.core.free_threading cimport GIL_EXISTS, tx_add_with_gil
from tensix.core.lock cimport tx_lock_release, tx_lock_t, tx_lock_take


cdef extern from "tensix/core/callers.h" nogil:
    bint tx_share_add(uint64_t amount)
    uint64_t tx_shares(const uint64_t* elsewhere)
    void tx_divide(int64_t headroom)


cdef struct usage_t:  # all of it atomic
    uint64_t current
    uint64_t total
    uint64_t peak


cdef inline void usage_add(usage_t* self, uint64_t amount) noexcept nogil:
    cdef uint64_t current = tx_add_fetch_relaxed(&self.current, amount)
    cdef uint64_t seen = tx_load_relaxed(&self.peak)
    tx_add_fetch_relaxed(&self.total, amount)
    while current > seen and not tx_compare_exchange_acq_rel(&self.peak, &seen, current):
        pass


cdef inline void usage_remove(usage_t* self, uint64_t amount) noexcept nogil:
    tx_add_fetch_relaxed(&self.current, -amount)


cdef struct high_water_t:  # see Note [A peak for one branch]
    int64_t held        # allocated less freed with the GIL
    int64_t mark        # this and all that follows changes with the lock only
    int64_t peak
    int64_t elsewhere   # allocated less freed without the GIL
    tx_lock_t lock
    bint has_shares     # without the GIL: Note [A peak for one branch]


cdef inline int64_t high_water_current(high_water_t* self) noexcept nogil:
    if self.has_shares:
        return <int64_t>tx_shares(<uint64_t*>&self.elsewhere)
    return <int64_t>(tx_load_relaxed(<uint64_t*>&self.held) + tx_load_relaxed(<uint64_t*>&self.elsewhere))


cdef inline bint high_water_add(high_water_t* self, uint64_t amount, bint has_gil) noexcept nogil:
    """Return whether there may be a new peak, which `high_water_change` by 0 looks for."""
    cdef int64_t held
    if has_gil and not GIL_EXISTS and self.has_shares:
        return tx_share_add(amount)
    if has_gil:
        held = <int64_t>tx_add_with_gil(<uint64_t*>&self.held, amount)
        return held > <int64_t>tx_load_relaxed(<uint64_t*>&self.mark)
    high_water_change(self, <int64_t>amount, False)
    return False


cdef inline void high_water_remove(high_water_t* self, uint64_t amount, bint has_gil) noexcept nogil:
    if has_gil and not GIL_EXISTS and self.has_shares:
        tx_share_add(-amount)
    elif has_gil:
        tx_add_with_gil(<uint64_t*>&self.held, -amount)
    else:
        high_water_change(self, -<int64_t>amount, False)


cdef inline void high_water_change(high_water_t* self, int64_t amount, bint resets) noexcept nogil:
    """Add to what is elsewhere, and see to the peak and the mark; `resets`: the peak begins again."""
    tx_lock_take(&self.lock)
    cdef int64_t elsewhere = <int64_t>tx_add_fetch_relaxed(<uint64_t*>&self.elsewhere, <uint64_t>amount)
    cdef int64_t current = high_water_current(self)
    if resets or current > self.peak:
        tx_store_relaxed(<uint64_t*>&self.peak, <uint64_t>current)
    tx_store_relaxed(<uint64_t*>&self.mark, <uint64_t>(self.peak - elsewhere))
    if self.has_shares:
        tx_divide(self.peak - current)
    tx_lock_release(&self.lock)
