"""Private: what NumPy has of tensix's memory, found by its address."""
from tensix.core.data_ptr cimport data_ptr_t
from tensix.memory.caching_allocator cimport kept_block_t

cdef object RESULTS_HANDLER   # NumPy's handler while it computes for tensix

cdef object allocator_of_block(void* data)
cdef void take_block(void* data, data_ptr_t* out) noexcept
cdef object take_failure()

# Declared here, the C compiler does not inline them into what nearly always suffices. See Note [Small arrays].
cdef void* allocate_any(void* ctx, size_t size, bint zeroed) noexcept
cdef void* take_slowly(void* ctx, size_t size, bint zeroed) noexcept
cdef void* give_out_slowly(kept_block_t* kept) noexcept
cdef void release_slowly(void* data, size_t size) noexcept
