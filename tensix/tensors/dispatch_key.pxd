"""Dispatch keys as bits, and the slot of an operator's table that a set of them selects."""
from libc.stdint cimport int8_t, uint64_t

cdef extern from "tensix/bits.h" nogil:
    int tx_highest_bit(uint64_t word)

cdef enum:
    BACKEND_BITS = 16
    FUNCTIONALITY_COUNT = 20  # with Undefined, which has no bit
    SLOT_COUNT = 110          # of an operator's table: 6 functionalities per backend, 13 others, Undefined

cdef int[20] FIRST_SLOT       # functionality -> its first slot
cdef uint64_t[22] DEVICE_KEYS    # device type -> Dense on its backend, 0 if there is none
cdef uint64_t[20] BACKEND_MASK  # functionality -> all backend bits if it has a slot for each, else 0


cdef inline int slot_of(uint64_t bits) noexcept nogil:
    """Return the slot of the highest functionality, and within it of the highest backend."""
    cdef uint64_t functionalities = bits >> BACKEND_BITS
    if functionalities == 0:
        return 0
    cdef int functionality = tx_highest_bit(functionalities) + 1
    cdef uint64_t backends = bits & BACKEND_MASK[functionality]
    return FIRST_SLOT[functionality] + (tx_highest_bit(backends) if backends != 0 else 0)


cdef class DispatchKeySet:
    cdef readonly uint64_t bits


cdef inline uint64_t dense_keys_of_device(int8_t device_type) except? 0:
    """Return the keys of a strided tensor on a device type."""
    cdef uint64_t keys = DEVICE_KEYS[device_type]
    return keys if keys != 0 else refuse_device_type(device_type)

cdef uint64_t refuse_device_type(int8_t device_type) except? 0
cdef uint64_t bits_of_key(object key) except? 0
