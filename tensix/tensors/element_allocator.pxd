"""Blocks of elements that are constructed and destroyed."""
from libc.stdint cimport uint16_t
from tensix.core.allocator cimport Allocator
from tensix.core.data_ptr cimport data_ptr_t
from tensix.core.storage_impl cimport StorageImpl
from tensix.tensors.type_meta cimport TypeMeta, type_meta_data_t


cdef struct placement_delete_context_t:
    data_ptr_t block               # upstream's
    type_meta_data_t* type
    uint16_t type_index
    size_t count                   # how many elements are constructed


cdef class ElementAllocator(Allocator):
    cdef readonly TypeMeta type_meta
    cdef readonly Allocator upstream


cdef placement_delete_context_t* elements_of_storage(StorageImpl storage) except NULL
