"""Private: a number for each living block, found by its address, or for anything else that has 64 bits of its own.

A hash table with open addressing, and without marks for what was taken.
"""
from libc.stdint cimport uint64_t, uintptr_t
from libc.stdlib cimport calloc, free


cdef struct block_entry_t:
    void* data          # NULL: free
    uint64_t number


# Zeroed memory is an empty table. Its users keep other threads out meanwhile.
cdef struct block_table_t:
    block_entry_t* entries
    size_t capacity     # a power of two, at least 4/3 of the blocks
    size_t count


cdef inline size_t block_table_home(const block_table_t* self, void* data) noexcept nogil:
    """Return where the search for a block begins."""
    return <size_t>((<uint64_t><uintptr_t>data * 0x9E3779B97F4A7C15U) >> 20) & (self.capacity - 1)


cdef inline bint block_table_put(block_table_t* self, void* data, uint64_t number) noexcept nogil:
    """Enter a block, or give it another number; return whether there was memory."""
    if 4 * (self.count + 1) > 3 * self.capacity and not block_table_grow(self):
        return False
    cdef size_t i = block_table_home(self, data)
    while self.entries[i].data != NULL and self.entries[i].data != data:
        i = (i + 1) & (self.capacity - 1)
    if self.entries[i].data == NULL:
        self.entries[i].data = data
        self.count += 1
    self.entries[i].number = number
    return True


cdef inline bint block_table_find(const block_table_t* self, void* data, uint64_t* number) noexcept nogil:
    """Tell a block's number; return whether it is there."""
    if self.count == 0:
        return False
    cdef size_t i = block_table_home(self, data)
    while self.entries[i].data != data:
        if self.entries[i].data == NULL:
            return False
        i = (i + 1) & (self.capacity - 1)
    number[0] = self.entries[i].number
    return True


cdef inline uint64_t block_table_number(const block_table_t* self, void* data) noexcept nogil:
    """Return the number of a block, 0 if it is not there."""
    cdef uint64_t number = 0
    block_table_find(self, data, &number)
    return number


cdef inline bint block_table_take(block_table_t* self, void* data, uint64_t* number) noexcept nogil:
    """Take a block out and tell its number; return whether it was there."""
    if self.count == 0:
        return False
    cdef size_t mask = self.capacity - 1
    cdef size_t hole = block_table_home(self, data)
    while self.entries[hole].data != data:
        if self.entries[hole].data == NULL:
            return False
        hole = (hole + 1) & mask
    number[0] = self.entries[hole].number
    self.count -= 1
    cdef size_t i = hole
    while True:  # close the gap with what was pushed away from its home across it
        i = (i + 1) & mask
        if self.entries[i].data == NULL:
            break
        if ((i - block_table_home(self, self.entries[i].data)) & mask) >= ((i - hole) & mask):
            self.entries[hole] = self.entries[i]
            hole = i
    self.entries[hole].data = NULL
    return True


cdef inline void block_table_clear(block_table_t* self) noexcept nogil:
    """Forget all blocks and free the table's memory."""
    free(self.entries)
    self.entries = NULL
    self.capacity = self.count = 0


cdef inline bint block_table_grow(block_table_t* self) noexcept nogil:
    """Make the table twice as large; return whether there was memory."""
    cdef block_table_t larger
    cdef size_t i
    larger.capacity = 2 * self.capacity if self.capacity else 64
    larger.count = 0
    larger.entries = <block_entry_t*>calloc(larger.capacity, sizeof(block_entry_t))
    if larger.entries == NULL:
        return False
    for i in range(self.capacity):
        if self.entries[i].data != NULL:
            block_table_put(&larger, self.entries[i].data, self.entries[i].number)
    free(self.entries)
    self[0] = larger
    return True
