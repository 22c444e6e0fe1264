"""Private: the one 64-bit word that holds both counts of an intrusive target.

What it means and costs: Note [The combined reference count] in ``intrusive_target.pyx``.
"""
from libc.stdint cimport uint32_t, uint64_t
from tensix.core.atomics cimport (
    tx_compare_exchange_acquire,
    tx_fetch_add_relaxed,
    tx_fetch_sub_acq_rel,
    tx_load_acquire,
    tx_load_relaxed,
    tx_store_relaxed,
)

cdef enum:
    ADAPTED_COUNT = 0x0FFFFFFF  # "never dies through counting", for targets that some arena owns

cdef enum Death:
    """What a decrement asks its caller to do."""
    NOT_OWNED = -1   # misuse: the count was 0 already, nothing was changed
    STILL_ALIVE = 0
    DELETE = 1       # nobody is left: run the destructor, give back the counts' Python reference
    RELEASE = 2      # weak handles are left: release_resources(), then drop the weak unit of the strong side


cdef inline uint64_t strong_unit() noexcept nogil:
    return 1

cdef inline uint64_t weak_unit() noexcept nogil:
    return <uint64_t>1 << 32

cdef inline uint64_t unique_word() noexcept nogil:
    return strong_unit() | weak_unit()

cdef inline uint64_t dead_word() noexcept nogil:
    return <uint64_t>1 << 63

cdef inline uint32_t strong_of(uint64_t word) noexcept nogil:
    return <uint32_t>word

cdef inline uint32_t weak_of(uint64_t word) noexcept nogil:
    return <uint32_t>(word >> 32) & 0x7FFFFFFF

cdef inline bint is_dead(uint64_t word) noexcept nogil:
    """Whether the strong count once was above 0 and no longer is."""
    return strong_of(word) == 0 and word != 0


cdef inline bint incref_word(uint64_t* word) noexcept nogil:
    """Add a strong count; False, with nothing changed, if there is none to add to.

    Whoever adds rightly holds a count, so the word cannot fall to zero between the look and the addition.
    """
    if strong_of(tx_load_relaxed(word)) == 0:
        return False
    tx_fetch_add_relaxed(word, strong_unit())
    return True


cdef inline Death decref_word(uint64_t* word) noexcept nogil:
    """Take a strong count away."""
    cdef uint64_t seen = tx_load_acquire(word)
    if seen == unique_word():
        tx_store_relaxed(word, dead_word())
        return DELETE
    if strong_of(seen) == 0:
        return NOT_OWNED
    seen = tx_fetch_sub_acq_rel(word, strong_unit()) - strong_unit()
    if strong_of(seen) != 0:
        return STILL_ALIVE
    if weak_of(seen) == 1:
        tx_store_relaxed(word, dead_word())
        return DELETE
    return RELEASE


cdef inline bint weak_incref_word(uint64_t* word) noexcept nogil:
    """Add a weak count; False, with nothing changed, if there is no count of either kind."""
    if weak_of(tx_load_relaxed(word)) == 0:
        return False
    tx_fetch_add_relaxed(word, weak_unit())
    return True


cdef inline Death weak_decref_word(uint64_t* word) noexcept nogil:
    """Take a weak count away."""
    cdef uint64_t seen = tx_load_acquire(word)
    if seen == weak_unit():
        tx_store_relaxed(word, dead_word())
        return DELETE
    if weak_of(seen) == 0 or weak_of(seen) == 1:  # with a strong count left, the one unit is the strong side's
        return NOT_OWNED
    seen = tx_fetch_sub_acq_rel(word, weak_unit()) - weak_unit()
    if weak_of(seen) != 0:
        return STILL_ALIVE
    tx_store_relaxed(word, dead_word())
    return DELETE


cdef inline Death drop_strong_side_unit(uint64_t* word) noexcept nogil:
    """Take away the weak unit that the strong side held, after release_resources()."""
    if weak_of(tx_fetch_sub_acq_rel(word, weak_unit()) - weak_unit()) != 0:
        return STILL_ALIVE
    tx_store_relaxed(word, dead_word())
    return DELETE


cdef inline bint lock_word(uint64_t* word) noexcept nogil:
    """Add a strong count if one is left."""
    cdef uint64_t seen = tx_load_relaxed(word)
    while strong_of(seen) != 0:
        if tx_compare_exchange_acquire(word, &seen, seen + strong_unit()):
            return True
    return False
