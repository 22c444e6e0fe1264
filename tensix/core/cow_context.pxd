"""Private: copy-on-write between storage targets. The public functions are in ``cow`` and `Storage`."""
from tensix.core.data_ptr cimport data_ptr_t
from tensix.core.storage_impl cimport StorageImpl


cdef StorageImpl cow_lazy_clone(StorageImpl source)
cdef bint cow_is_simple(StorageImpl storage) except -1
cdef bint cow_is_cow(const data_ptr_t* block) noexcept nogil
