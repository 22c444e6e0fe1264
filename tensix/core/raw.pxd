"""A holder of a raw count, for Cython: its fields and methods are part of the ABI, ``tensix/abi.pxd`` says the same."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from tensix.core.intrusive_target cimport IntrusiveTarget


cdef class StrongCount:
    cdef PyObject* target
    cdef PyObject* get(self) noexcept nogil
    cdef PyObject* release(self) noexcept nogil
    cdef void reset(self) noexcept nogil
    cdef void reclaim(self, IntrusiveTarget target) noexcept nogil
    cdef void reclaim_copy(self, IntrusiveTarget target) noexcept nogil
    cdef void swap(self, StrongCount other) noexcept nogil
    cdef uint32_t use_count(self) noexcept nogil
