"""What all allocators over another one share: a node around each of its blocks."""
from cpython.ref cimport PyObject
from tensix.core.allocator cimport Allocator
from tensix.core.data_ptr cimport data_ptr_t, deleter_t


cdef struct adapted_block_t:
    data_ptr_t block      # upstream's; owned
    PyObject* adaptor     # owned
    void* state           # whatever of the adaptor its deleter needs, inside the adaptor
    void* note            # whatever the adaptor writes down about this block
    size_t nbytes         # asked for
    size_t front          # bytes of upstream's block before what is handed out


cdef class Adaptor(Allocator):
    cdef readonly Allocator upstream
    cdef deleter_t free_block   # that of all its blocks, or NULL if it hands upstream's on as they are
    cdef void* state            # what its blocks get to know of it
    cdef bint is_overridden     # whether a Python class has an allocate() of its own
    # The work of allocate(); an adaptor overrides this.
    cdef int adapt(self, size_t nbytes, data_ptr_t* out) except -1


# Private to tensix.
cdef size_t alignment_of(Allocator allocator) except 0
cdef object cached_bytes(Allocator allocator)
cdef adapted_block_t* Adaptor_take(Adaptor self, size_t nbytes, size_t padded, data_ptr_t* out) except? NULL
cdef void adapted_block_move_up(adapted_block_t* node, size_t nbytes, data_ptr_t* out) noexcept nogil
cdef dict adapted_block_facts(void* node)
cdef void adapted_block_free(adapted_block_t* node, bint has_gil) noexcept nogil
