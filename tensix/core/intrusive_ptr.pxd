"""Intrusive reference counting: the strong pointer."""
from tensix.core.intrusive_target cimport IntrusiveTarget


cdef class IntrusivePtr:
    cdef IntrusiveTarget target  # None when null


# With the GIL.
cdef IntrusivePtr steal_from_new(IntrusiveTarget target)
