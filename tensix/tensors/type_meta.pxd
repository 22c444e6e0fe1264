"""What an element type is, as small numbers: an identifier, and an index into the table of all types."""
from cpython.object cimport PyObject
from libc.stdint cimport uint16_t

# What types that are more than their bytes need; called with the GIL, save the last.
ctypedef void (*placement_new_t)(void* elements, size_t count) noexcept nogil
ctypedef void (*placement_copy_t)(const void* source, void* target, size_t count) noexcept nogil
ctypedef void (*placement_delete_t)(void* elements, size_t count) noexcept nogil

cdef enum:
    MAX_TYPES = 255


cdef struct type_meta_data_t:
    size_t itemsize
    placement_new_t construct     # these three: NULL where bytes are all there is
    placement_copy_t copy
    placement_delete_t destroy
    bint is_reference             # each element is a reference to a Python object; the three are ours
    bint is_assignable
    bint destroy_is_python        # perhaps: not to be called after finalisation


cdef class TypeIdentifier:
    cdef readonly uint16_t underlying_id


cdef class TypeMeta:
    cdef uint16_t index


cdef type_meta_data_t* type_meta_data(uint16_t index) noexcept nogil  # valid for ever
cdef object type_meta_class(uint16_t index)
cdef TypeMeta TypeMeta_of_index(uint16_t index)

# Elements in memory, for the owner of the memory.
ctypedef PyObject** reference_p
cdef int construct_elements(uint16_t type_index, void* elements, size_t count, size_t* done) except -1
cdef int check_assignable(uint16_t type_index, void* source, void* target, size_t count) except -1
cdef int assign_elements(uint16_t type_index, void* source, void* target, size_t count) except -1
cdef void copy_references(void* source, void* target, size_t count) noexcept
cdef void copy_structs(type_meta_data_t* data, void* source, void* target, size_t count) noexcept
cdef bint destroy_elements(type_meta_data_t* data, void* elements, size_t count) noexcept nogil
