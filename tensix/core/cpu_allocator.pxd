"""The default allocator: aligned blocks of main memory."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t, uintptr_t
from tensix.core.allocator cimport Allocator
from tensix.core.data_ptr cimport data_ptr_t


cdef extern from * nogil:
    """
    /* Read a word on a page that can be read. Sanitizers know blocks and not pages, and would report an error in front
     * of a block that is not a CPUAllocator's, so they leave this function out. */
    #if defined(__GNUC__)
    __attribute__((no_sanitize("address", "thread")))
    #endif
    static inline uint64_t tx_word_at(const void *address) { return *(const uint64_t *)address; }
    """
    uint64_t tx_word_at(const void* address)


cdef class CPUAllocator(Allocator):
    cdef readonly size_t alignment
    cdef readonly bint zero_fill
    cdef readonly bint junk_fill
    cdef readonly bint huge_pages
    cdef int node  # -1: none
    cdef bint populates  # whether regions of their own get all pages at once

# Private to tensix. See Note [CPU block header].
cdef struct block_header_t:
    uintptr_t base
    size_t nbytes
    uint64_t stamp
    uint64_t seal

cdef enum:
    HAS_OWN_REGION = 1  # in the lowest bits of `base`
    IS_KEPT = 2
    HEADER_ALIGNMENT = 64  # of blocks whose header may be looked for; the default allocator's
    MIN_PAGE_BYTES = 4096  # of any system

cdef inline block_header_t* header_of(void* data) noexcept nogil:
    return <block_header_t*>(<uintptr_t>data - sizeof(block_header_t))

cdef inline bint may_be_read_in_front(void* data) noexcept nogil:
    """Return whether a header in front of any address that is in use lies on the same page, if there is one."""
    return <uintptr_t>data % HEADER_ALIGNMENT == 0 and <uintptr_t>data % MIN_PAGE_BYTES != 0

cdef inline uint64_t seal_of(void* data) noexcept nogil:
    """Return what the seal of a living block at this address is."""
    return <uint64_t>0x7E5517A110CA7ED5 ^ <uintptr_t>data

cdef inline bint is_sealed(void* data) noexcept nogil:
    return header_of(data).seal == seal_of(data)

cdef inline void CPUBlock_set_keeper(void* data, void* keeper) noexcept nogil:
    """Note in the header of an uncounted block who keeps it."""
    header_of(data).stamp = <uint64_t>keeper
    header_of(data).base |= IS_KEPT

cdef inline void* CPUBlock_keeper(void* data) noexcept nogil:
    """Return who keeps a block, NULL if it is not a block that is kept; the 32 bytes in front of it can be read."""
    cdef block_header_t* header = header_of(data)
    return <void*>header.stamp if tx_word_at(&header.seal) == seal_of(data) and header.base & IS_KEPT else NULL

cdef void CPUBlock_zero(void* data, size_t nbytes) noexcept nogil
cdef int CPUAllocator_reserve(CPUAllocator self, size_t nbytes, bint zeroed, data_ptr_t* out) noexcept nogil
cdef int refuse_memory(size_t nbytes, size_t alignment) except -1
