"""The handle on a storage."""
from tensix.core.storage_impl cimport StorageImpl


cdef class Storage:
    cdef StorageImpl target  # None when null


# With the GIL.
cdef StorageImpl owned(Storage self)
cdef Storage Storage_from_new(StorageImpl impl)
cdef Storage Storage_from_owned(StorageImpl impl)
cdef StorageImpl StorageImpl_lazy_clone(StorageImpl impl)
