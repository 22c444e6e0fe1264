"""Private: blocks that other libraries free by address. See Note [Blocks by address] in ``numpy_memory.pyx``."""
from cpython.ref cimport PyObject
from tensix.core.cpu_allocator cimport CPUBlock_keeper, may_be_read_in_front
from tensix.core.data_ptr cimport data_ptr_t
from tensix.memory.caching_allocator cimport kept_block_t


cdef struct record_t:
    data_ptr_t block
    size_t nbytes           # asked for
    PyObject* allocator     # owned, or NULL

cdef size_t record_count    # read without the lock: a block that this thread has does not come or go meanwhile

cdef bint record_put(PyObject* allocator, size_t nbytes, const data_ptr_t* block) noexcept nogil
cdef bint record_find(void* data, record_t* out) noexcept nogil
cdef bint record_take(void* data, record_t* out) noexcept nogil


cdef inline kept_block_t* kept_block_at(void* data) noexcept nogil:
    """Return the block of a `CachingAllocator` at an address; NULL if it is not one, or has a record."""
    return <kept_block_t*>CPUBlock_keeper(data) if may_be_read_in_front(data) else NULL
