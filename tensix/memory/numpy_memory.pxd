"""Private: what NumPy has of tensix's memory, found by its address."""
from tensix.core.data_ptr cimport data_ptr_t

cdef object RESULTS_HANDLER   # NumPy's handler while it computes for tensix
cdef bint allocates_array     # whether the block that is allocated now is for an array of the program; with the GIL

cdef object allocator_of_block(void* data)
cdef void take_block(void* data, data_ptr_t* out) noexcept
cdef object take_failure()
