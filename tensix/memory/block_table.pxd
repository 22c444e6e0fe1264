"""Private: a number for each living block, found by its address."""
from libc.stdint cimport uint64_t


cdef struct block_entry_t:
    void* data          # NULL: free
    uint64_t number


# Zeroed memory is an empty table. Whoever uses it keeps others out meanwhile.
cdef struct block_table_t:
    block_entry_t* entries
    size_t capacity     # a power of two, at least 4/3 of the blocks
    size_t count

cdef bint block_table_put(block_table_t* self, void* data, uint64_t number) noexcept nogil
cdef bint block_table_take(block_table_t* self, void* data, uint64_t* number) noexcept nogil
cdef void block_table_clear(block_table_t* self) noexcept nogil
