"""A storage that knows its elements."""
from tensix.core.storage cimport Storage
from tensix.tensors.type_meta cimport TypeMeta


cdef class TypedStorage:
    cdef Storage handle
    cdef readonly TypeMeta type_meta
