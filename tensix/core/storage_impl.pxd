"""The counted owner of a block of bytes. Fields are private to tensix; the class is opaque to others."""
from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t, uint32_t
from tensix.core.allocator cimport Allocator
from tensix.core.assertions cimport TX_ASSERT, TX_ASSERT_GIL
from tensix.core.combined_refcount cimport incref_word, is_dead
from tensix.core.data_ptr cimport data_ptr_operations_t, data_ptr_t
from tensix.core.free_threading cimport GIL_EXISTS, TX_COUNT
from tensix.core.handle cimport drop
from tensix.core.intrusive_target cimport IntrusiveTarget
from tensix.core.lock cimport tx_lock_release, tx_lock_t, tx_lock_take
from tensix.core.memory_reports cimport READ, use_t

# Makes the bytes of a storage its own before they are written; with the GIL.
ctypedef int (*materializer_t)(StorageImpl) except -1

cdef struct retired_t:  # a block that was given up while the storage was in use
    data_ptr_t block
    retired_t* next

cdef extern from "tensix/core/callers.h" nogil:
    void tx_note_reading()
    void tx_wait_for_callers()
    void tx_end_readings(void* nothing)

cdef enum:                   # what an exchange of the block leaves alone
    KEEPS_SIZE = 1
    KEEPS_MATERIALIZER = 2


cdef class StorageImpl(IntrusiveTarget):
    cdef data_ptr_t block
    cdef size_t size_bytes
    cdef uint8_t guarded            # the summary flag: whether it is watched, or a state that guards the use is set
    cdef uint8_t is_watched         # each use is reported; see Note [Watching uses]
    cdef uint8_t was_shrunk         # a tensor may refer beyond the end: it has to compare before it reads
    cdef uint8_t is_resizable
    cdef uint8_t is_readonly
    cdef uint8_t throw_on_mutable
    cdef uint8_t throw_on_immutable
    cdef uint8_t warn_on_mutable    # once
    cdef uint8_t is_foreign         # others own the block too, permanently: they may change its bytes at any time
    cdef uint8_t has_escaped      # its address was handed out; see Note [Exports]
    cdef uint32_t uses              # how many operations read the block now; see Note [Storages in use]
    cdef uint32_t exports           # how many others view the block now; see Note [Exports]
    cdef uint32_t version           # how often the bytes were written in place, by tensix
    cdef Allocator owner            # the allocator, or None
    cdef materializer_t materializer
    cdef str access_error           # text of the error if the data must not be accessed, or None
    cdef retired_t* retired         # freed with the last use; see Note [Storages in use]
    cdef tx_lock_t sharing          # without the GIL. See Note [Blocks that others may read] in ``cow_context.pyx``


cdef inline void lock_sharing(StorageImpl self) noexcept nogil:
    if not GIL_EXISTS:
        tx_lock_take(&self.sharing)

cdef inline void unlock_sharing(StorageImpl self) noexcept nogil:
    if not GIL_EXISTS:
        tx_lock_release(&self.sharing)

cdef inline bint StorageImpl_has_guards(StorageImpl self) noexcept nogil:
    """Return whether a rare state stands before a use."""
    return (
        self.throw_on_mutable or self.throw_on_immutable or self.warn_on_mutable or self.is_readonly
        or self.materializer != NULL
    )

cdef inline bint StorageImpl_is_guarded(StorageImpl self) noexcept nogil:
    """Return what ``guarded`` has to be."""
    return self.is_watched or StorageImpl_has_guards(self)

cdef inline void* StorageImpl_mutable_data(StorageImpl self) except? NULL:
    """Return the address for writing; one branch unless a rare state is set."""
    TX_ASSERT(not is_dead(self.combined_refcount), "a storage with an owner", self.combined_refcount)
    TX_ASSERT(self.guarded == StorageImpl_is_guarded(self), "the flag of the states that guard the use", self.guarded)
    while self.guarded:  # what runs meanwhile may set another state
        if StorageImpl_pass_guards(self):
            break
    tx_note_reading()
    return self.block.data

cdef inline const void* StorageImpl_const_data(StorageImpl self) except? NULL:
    """Return the address for reading; never materializes."""
    TX_ASSERT(not is_dead(self.combined_refcount), "a storage with an owner", self.combined_refcount)
    TX_ASSERT(self.guarded == StorageImpl_is_guarded(self), "the flag of the states that guard the use", self.guarded)
    if self.guarded:
        StorageImpl_pass_read_guards(self)
    tx_note_reading()
    return self.block.data

cdef inline int StorageImpl_begin_use(StorageImpl self) except -1:
    """Keep the block for an operation that reads it without the GIL, or while other code may run.

    With the GIL. See Note [Storages in use].
    """
    if not incref_word(&self.combined_refcount):
        StorageImpl_refuse_expired()
    TX_COUNT(self.handle_count, 1)
    TX_COUNT(self.uses, 1)
    return 0

cdef inline void StorageImpl_end_use(StorageImpl self) noexcept:
    """Take that back; with the GIL."""
    TX_ASSERT_GIL()
    TX_ASSERT(self.uses > 0, "a use that was begun", self.uses)
    if self.guarded:
        StorageImpl_report_use(self, READ)
    TX_COUNT(self.handle_count, -1)
    if TX_COUNT(self.uses, -1) == 0 and self.retired != NULL:
        free_retired_if_unused(self)
    drop(self)

cdef int StorageImpl_refuse_expired() except -1
cdef void free_retired_if_unused(StorageImpl self) noexcept
cdef int StorageImpl_pass_guards(StorageImpl self) except -1
cdef int StorageImpl_pass_read_guards(StorageImpl self) except -1
cdef int StorageImpl_check_readable(StorageImpl self) except -1
cdef void StorageImpl_report_use(StorageImpl self, use_t use) noexcept
cdef void StorageImpl_watch(StorageImpl self) noexcept
cdef bint StorageImpl_is_in_use(StorageImpl self) noexcept nogil
cdef int StorageImpl_check_movable(StorageImpl self, str what) except -1
cdef int StorageImpl_set_materializer(StorageImpl self, materializer_t materializer) except -1
cdef void StorageImpl_clear_materializer(StorageImpl self) noexcept nogil
cdef int StorageImpl_share(
    StorageImpl self, const data_ptr_operations_t* operations, materializer_t materializer) except -1
cdef bint StorageImpl_exchange(StorageImpl self, data_ptr_t* block, size_t size, int keeps) except -1
cdef retired_t* retired_new() except NULL
cdef void StorageImpl_let_go_of(StorageImpl self, data_ptr_t* block, retired_t* retired) noexcept
cdef StorageImpl StorageImpl_new()
cdef StorageImpl StorageImpl_allocate(size_t nbytes, Allocator allocator, bint resizable)
