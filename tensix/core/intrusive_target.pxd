"""Intrusive reference counting: the target. Class and free functions are public; fields and vtable are frozen."""
from libc.stdint cimport int32_t, uint32_t, uint64_t, uintptr_t


cdef class IntrusiveTarget:
    cdef uint64_t combined_refcount  # see Note [The combined reference count]
    cdef int32_t handle_count        # strong counts held by Python handles; guarded by the GIL
    cdef int32_t weak_handle_count   # the same for weak counts
    cdef void destroy(self, bint holds_gil) noexcept nogil
    cpdef release_resources(self)


cdef extern from * nogil:
    """
    /* The common case of counting, inline in C and in C++ where the compiler has GCC's builtins. 1: done; 0: nothing
       was changed, call the function, which knows the rare cases. See Note [The combined reference count]. */
    #if defined(__GNUC__)
    static inline int tx_try_incref(uint64_t *word)
    {
        if ((int64_t)__atomic_add_fetch(word, 1, __ATOMIC_RELAXED) < 0) return 1;
        __atomic_sub_fetch(word, 1, __ATOMIC_RELAXED);
        return 0;
    }
    static inline int tx_try_decref(uint64_t *word)
    {
        if ((uint32_t)__atomic_load_n(word, __ATOMIC_ACQUIRE) <= 1) return 0;
        if ((uint32_t)__atomic_fetch_sub(word, 1, __ATOMIC_ACQ_REL) > 1) return 1;
        __atomic_add_fetch(word, 1, __ATOMIC_ACQ_REL);
        return 0;
    }
    #else
    static int tx_try_incref(uint64_t *word) { (void)word; return 0; }
    static int tx_try_decref(uint64_t *word) { (void)word; return 0; }
    #endif
    """
    bint tx_try_incref(uint64_t* word)
    bint tx_try_decref(uint64_t* word)


# Without the GIL. None stands for a null pointer and is accepted everywhere.
cdef inline void incref(IntrusiveTarget target) noexcept nogil:
    if target is not None and not tx_try_incref(&target.combined_refcount):
        IntrusiveTarget_incref(target)

cdef inline void decref(IntrusiveTarget target) noexcept nogil:
    if target is not None and not tx_try_decref(&target.combined_refcount):
        IntrusiveTarget_decref(target)

cdef bint lock(IntrusiveTarget target) noexcept nogil
cdef uint32_t use_count(IntrusiveTarget target) noexcept nogil
cdef uint32_t weak_use_count(IntrusiveTarget target) noexcept nogil
cdef void weak_incref(IntrusiveTarget target) noexcept nogil
cdef void weak_decref(IntrusiveTarget target) noexcept nogil

# Private to tensix: what handles do when a count has died, and how a newborn gets its first count.
cdef void IntrusiveTarget_incref(IntrusiveTarget self) noexcept nogil
cdef void IntrusiveTarget_decref(IntrusiveTarget self) noexcept nogil
cdef void IntrusiveTarget_on_death(IntrusiveTarget self, int death, bint holds_gil) noexcept nogil
cdef int IntrusiveTarget_start_unique(IntrusiveTarget self) except -1
cdef int IntrusiveTarget_check_unclaimed(IntrusiveTarget self, str function) except -1
cdef int IntrusiveTarget_check_weak_unclaimed(IntrusiveTarget self, str function) except -1
cdef str IntrusiveTarget_no_owner(IntrusiveTarget self, str function)
cdef str IntrusiveTarget_not_newborn(IntrusiveTarget self)
cdef str IntrusiveTarget_describe(IntrusiveTarget self)
cdef bint compare_addresses(uintptr_t a, uintptr_t b, int op) noexcept

# Private to tensix: told of every target that gets its first owner; NULL while nobody watches. See Note [Births].
ctypedef void (*birth_listener_t)(IntrusiveTarget) noexcept
cdef birth_listener_t birth_listener
