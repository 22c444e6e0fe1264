"""Private: blocks that several storages share permanently, writes included."""
from tensix.core.data_ptr cimport data_ptr_t
from tensix.core.storage_impl cimport StorageImpl


cdef bint refcounted_is_shared(const data_ptr_t* block) noexcept nogil
cdef bint refcounted_is_shared_alias(StorageImpl a, StorageImpl b) noexcept
cdef int refcounted_apply(StorageImpl storage) except -1
cdef StorageImpl refcounted_alias(StorageImpl storage)
