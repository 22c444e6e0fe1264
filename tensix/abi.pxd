"""The classes as other people's modules see them. Each name ends in the version of the ABI.

See Note [The version in the names] in ``abi.py``. Fields stand here because a subclass is laid out behind them and a
count is taken inline; they are not for use. ``tests/cython/abi.txt`` records all of this.
"""
cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, int32_t, uint32_t, uint64_t

# Called once, with the context, from any thread, with or without the GIL.
ctypedef void (*deleter_t)(void* ctx) noexcept nogil


cdef struct data_ptr_t:
    void* data              # where the bytes are; not owned
    void* ctx               # what the deleter gets; NULL: nothing is owned
    deleter_t deleter       # NULL: nothing to do
    PyObject* keep_alive    # owned reference to whatever the deleter needs, or NULL
    int8_t device_type      # 0: the CPU
    int8_t device_index     # -1: the only one
    const void* operations  # what tensix knows of a deleter of its own; NULL with any other


cdef class IntrusiveTarget_1:
    cdef uint64_t combined_refcount
    cdef int32_t handle_count
    cdef int32_t weak_handle_count
    cdef void destroy(self, bint holds_gil) noexcept nogil
    cpdef release_resources(self)


cdef class StrongCount_1:
    cdef PyObject* target
    cdef PyObject* get(self) noexcept nogil
    cdef PyObject* release(self) noexcept nogil
    cdef void reset(self) noexcept nogil
    cdef void reclaim(self, IntrusiveTarget_1 target) noexcept nogil
    cdef void reclaim_copy(self, IntrusiveTarget_1 target) noexcept nogil
    cdef void swap(self, StrongCount_1 other) noexcept nogil
    cdef uint32_t use_count(self) noexcept nogil


cdef class Allocator_1:
    cdef object __weakref__
    cdef dict __dict__
    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1
    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1
    cdef int c_copy_data(self, void* dst, const void* src, size_t nbytes) except -1
    cdef int c_try_allocate(self, size_t nbytes, data_ptr_t* out) noexcept nogil


# Of these only the size is laid down. They are final for Cython alone: a class over them could not take part in how
# their objects are recycled.
@cython.final
cdef class IntrusivePtr_1:
    cdef void* _private


@cython.final
cdef class WeakIntrusivePtr_1:
    cdef void* _private


@cython.final
cdef class Storage_1:
    cdef void* _private


@cython.final
cdef class Tensor_1:
    cdef void* _private[2]
