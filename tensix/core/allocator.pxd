"""Where memory comes from: the interface, and the registry that says which allocator serves a device type.

Fields and vtable of `Allocator` are part of the ABI: ``tensix/abi.pxd`` says the same of them.
"""
from libc.stdint cimport int8_t
from tensix.core.data_ptr cimport DataPtr, data_ptr_t


cdef class Allocator:
    cdef object __weakref__
    cdef dict __dict__
    # The C twins of the public methods, with the GIL. An allocator written in C overrides these.
    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1
    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1
    cdef int c_copy_data(self, void* dst, const void* src, size_t nbytes) except -1


# Private to tensix.
cdef Allocator current_allocator(int8_t device_type)
cdef int Allocator_clone(Allocator self, const void* src, size_t nbytes, data_ptr_t* out) except -1
cdef size_t nbytes_from_any(object nbytes) except? 0xFFFFFFFFFFFFFFFF
