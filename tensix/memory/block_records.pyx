"""Records of the blocks that NumPy and PyTorch free by their addresses, where a header does not say enough.

See Note [Blocks by address] in ``numpy_memory.pyx``.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from tensix.core.lock cimport take_at_forks, tx_lock_release, tx_lock_t, tx_lock_take
from tensix.memory.block_table cimport block_table_number, block_table_put, block_table_t, block_table_take

cdef tx_lock_t LOCK = 0
cdef block_table_t records  # address -> record; with the lock
record_count = 0


cdef bint record_put(PyObject* allocator, size_t nbytes, const data_ptr_t* block) noexcept nogil:
    """Make a record of a block, which owns it and a reference to its allocator; return whether there is memory."""
    global record_count
    cdef record_t* record = <record_t*>malloc(sizeof(record_t))
    cdef bint is_put
    if record == NULL:
        return False
    record.block, record.nbytes, record.allocator = block[0], nbytes, allocator
    tx_lock_take(&LOCK)
    is_put = block_table_put(&records, block.data, <uint64_t>record)
    record_count = records.count
    tx_lock_release(&LOCK)
    if not is_put:
        free(record)
    return is_put


cdef bint record_find(void* data, record_t* out) noexcept nogil:
    """Copy a block's record, which still owns what it has; return whether there is one."""
    cdef record_t* record
    if record_count == 0:
        return False
    tx_lock_take(&LOCK)
    record = <record_t*>block_table_number(&records, data)
    if record != NULL:
        out[0] = record[0]
    tx_lock_release(&LOCK)
    return record != NULL


cdef bint record_take(void* data, record_t* out) noexcept nogil:
    """Move out a block and its allocator; return whether there was a record."""
    global record_count
    cdef uint64_t found = 0
    if record_count == 0:
        return False
    tx_lock_take(&LOCK)
    block_table_take(&records, data, &found)
    record_count = records.count
    tx_lock_release(&LOCK)
    if found == 0:
        return False
    out[0] = (<record_t*>found)[0]
    free(<void*>found)
    return True


take_at_forks(&LOCK)
