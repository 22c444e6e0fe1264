"""Private: the one 64-bit word that holds both counts of an intrusive target.

What it means and costs: Note [The combined reference count] in ``intrusive_target.pyx``.
"""
from libc.stdint cimport int64_t, uint32_t, uint64_t
from tensix.core.assertions cimport TX_ASSERT
from tensix.core.atomics cimport (
    tx_add_fetch_acq_rel, tx_add_fetch_relaxed, tx_compare_exchange_acq_rel, tx_fetch_sub_acq_rel, tx_load_acquire,
    tx_load_relaxed, tx_store_relaxed,
)

cdef enum:
    ADAPTED_COUNT = 0x0FFFFFFF  # "never dies through counting", for targets that some arena owns

cdef enum Death:
    """What a decrement asks its caller to do."""
    NOT_OWNED = -1   # misuse: the count was 0 already, nothing was changed
    STILL_ALIVE = 0
    DELETE = 1       # no count is left: run the destructor, give back the counts' Python reference
    RELEASE = 2      # weak handles are left: release_resources(), then drop the weak unit of the strong side


cdef inline uint64_t strong_unit() noexcept nogil:
    return 1

cdef inline uint64_t weak_unit() noexcept nogil:
    return <uint64_t>1 << 32

cdef inline uint64_t alive_bit() noexcept nogil:
    return <uint64_t>1 << 63

cdef inline uint64_t dead_word() noexcept nogil:
    return <uint64_t>1 << 62

cdef inline uint64_t unique_word() noexcept nogil:
    return alive_bit() | weak_unit() | strong_unit()

cdef inline uint32_t strong_of(uint64_t word) noexcept nogil:
    return <uint32_t>word

cdef inline uint32_t weak_of(uint64_t word) noexcept nogil:
    return <uint32_t>(word >> 32) & 0x3FFFFFFF

cdef inline bint is_alive(uint64_t word) noexcept nogil:
    return <int64_t>word < 0

cdef inline bint is_dead(uint64_t word) noexcept nogil:
    """Whether the strong count once was above 0 and no longer is."""
    return strong_of(word) == 0 and word != 0


cdef inline bint incref_word(uint64_t* word) noexcept nogil:
    """Add a strong count; False, with nothing changed, if there is none to add to.

    One locked instruction, whose sign flag is the test: there is nothing to load first.
    """
    cdef uint64_t raised = tx_add_fetch_relaxed(word, strong_unit())
    TX_ASSERT(strong_of(raised) != 0, "fewer than 2**32 strong counts", raised)
    if is_alive(raised):
        return True
    tx_fetch_sub_acq_rel(word, strong_unit())
    return False


cdef inline Death decref_word(uint64_t* word) noexcept nogil:
    """Take a strong count away."""
    cdef uint64_t seen = tx_load_acquire(word)
    while strong_of(seen) <= 1:
        if seen == unique_word():
            tx_store_relaxed(word, dead_word())
            return DELETE
        if strong_of(seen) == 0 or not is_alive(seen):
            return NOT_OWNED
        if tx_compare_exchange_acq_rel(word, &seen, seen - strong_unit() - alive_bit() + dead_word()):
            return RELEASE
    seen = tx_fetch_sub_acq_rel(word, strong_unit())
    TX_ASSERT(strong_of(seen) != 0, "a strong count above 0 before one is taken away", seen)
    if strong_of(seen) > 1:
        return STILL_ALIVE
    if weak_of(tx_add_fetch_acq_rel(word, dead_word() - alive_bit())) != 1:  # the others went at the same time
        return RELEASE
    tx_store_relaxed(word, dead_word())
    return DELETE


cdef inline bint weak_incref_word(uint64_t* word) noexcept nogil:
    """Add a weak count; False, with nothing changed, if there is no count of either kind."""
    if weak_of(tx_load_relaxed(word)) == 0:
        return False
    tx_add_fetch_relaxed(word, weak_unit())
    return True


cdef inline Death weak_decref_word(uint64_t* word) noexcept nogil:
    """Take a weak count away."""
    cdef uint64_t seen = tx_load_acquire(word)
    if seen == dead_word() + weak_unit():
        tx_store_relaxed(word, dead_word())
        return DELETE
    if weak_of(seen) <= 1:  # with a strong count left, the one unit is the strong side's
        return NOT_OWNED
    return drop_weak_unit(word)


cdef inline Death drop_weak_unit(uint64_t* word) noexcept nogil:
    """Take away a weak unit that is there for certain: the strong side's, after release_resources()."""
    cdef uint64_t seen = tx_fetch_sub_acq_rel(word, weak_unit())
    TX_ASSERT(weak_of(seen) != 0, "a weak count above 0 before one is taken away", seen)
    if weak_of(seen - weak_unit()) != 0:
        return STILL_ALIVE
    tx_store_relaxed(word, dead_word())
    return DELETE


cdef inline bint lock_word(uint64_t* word) noexcept nogil:
    """Add a strong count if one is left."""
    cdef uint64_t seen = tx_load_relaxed(word)
    while is_alive(seen) and strong_of(seen) != 0:
        if tx_compare_exchange_acq_rel(word, &seen, seen + strong_unit()):
            return True
    return False
