"""Intrusive reference counting: the target.

Fields and vtable are part of the ABI: ``tensix/abi.pxd`` says the same of them.
"""
from libc.stdint cimport int32_t, uint32_t, uint64_t


cdef class IntrusiveTarget:
    cdef uint64_t combined_refcount  # see Note [The combined reference count]
    cdef int32_t handle_count        # strong counts held by Python handles; guarded by the GIL
    cdef int32_t weak_handle_count   # the same for weak counts
    cdef void destroy(self, bint holds_gil) noexcept nogil
    cpdef release_resources(self)


# Without the GIL. None is a null pointer and is accepted everywhere.
cdef void incref(IntrusiveTarget target) noexcept nogil
cdef void decref(IntrusiveTarget target) noexcept nogil
cdef bint lock(IntrusiveTarget target) noexcept nogil
cdef uint32_t use_count(IntrusiveTarget target) noexcept nogil
cdef uint32_t weak_use_count(IntrusiveTarget target) noexcept nogil
cdef void weak_incref(IntrusiveTarget target) noexcept nogil
cdef void weak_decref(IntrusiveTarget target) noexcept nogil

# Private to tensix: what handles do when a count has died, and how a new target gets its first count.
cdef void IntrusiveTarget_on_death(IntrusiveTarget self, int death, bint holds_gil) noexcept nogil
cdef int IntrusiveTarget_start_unique(IntrusiveTarget self) except -1
cdef int IntrusiveTarget_check_unclaimed(IntrusiveTarget self, str function) except -1
cdef int IntrusiveTarget_check_weak_unclaimed(IntrusiveTarget self, str function) except -1
cdef str IntrusiveTarget_no_owner(IntrusiveTarget self, str function)
cdef str IntrusiveTarget_owned_already(IntrusiveTarget self)
cdef str IntrusiveTarget_describe(IntrusiveTarget self)

# Private to tensix: told of every target that gets its first owner; NULL while there is no watcher.
# See Note [Watching targets].
ctypedef void (*first_owner_listener_t)(IntrusiveTarget) noexcept
cdef first_owner_listener_t first_owner_listener
