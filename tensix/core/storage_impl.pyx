"""The counted owner of a block of bytes: block, size, allocator, and the rare states that guard its use.

Note [One flag before the rare states]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Writing asks for the address very often and is refused, warned about or made to copy very seldom. ``guarded`` says
whether any such state is set; without it the address is one load and one branch away. Code that changes a
state calls ``refresh_guard``. Order of the guards when writing: data that may not be read, data that may not be
written, read-only, the warning, the materializer. Then the use is reported, if it is watched: Note [Watching uses].

Two tensors alias exactly if they have the same `StorageImpl`; storages that share bytes copy-on-write are
different ones. The facts are those of PyTorch 2.13's ``c10/core/StorageImpl.h``; a materializer that is left behind
by `set_data_ptr_noswap` there is cleared here.

Note [Storages in use]
~~~~~~~~~~~~~~~~~~~~~~
An operation that gives up the GIL, or lets other code run while it holds an address, would read freed memory if the
block went meanwhile. So it begins a use of each storage that it reads, which is a strong count and a plain count under
the GIL. What it writes is exported instead: see Note [Exports]. While a storage is in use,

* resizing, freeing or exchanging its block is refused, as while it is exported;
* it can be cloned lazily, for reading does not disturb the clone, and so it may have to copy before a write. The block
  that it gives up then is retired: it is freed when the last use ends.

Operations that keep the GIL from the moment they take addresses need no use: nothing can happen in between. They take
addresses after the last call that may run other code; see Note [Addresses in use] in tensix/tensors/tensor_impl.py.
Therefore all code that exchanges a block does so by `StorageImpl_exchange`, and looks for uses there: Note [Without the
GIL] in ``free_threading.pxd``.
"""
cimport cython
import warnings

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport uint8_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from tensix.core.allocator cimport Allocator, Allocator_allocate, current_allocator, nbytes_from_any
from tensix.core.assertions cimport TX_ASSERT
from tensix.core.combined_refcount cimport is_dead
from tensix.core.data_ptr cimport (
    DataPtr, DataPtr_borrow, DataPtr_move_out, DataPtr_wrap, data_ptr_destroy, data_ptr_destroy_with_gil, data_ptr_move,
    data_ptr_operations_t, data_ptr_t,
)
from tensix.core.device cimport CPU, Device_get
from tensix.core.free_list cimport free_list_accepts, free_list_install, free_list_keep, free_list_t, free_list_take
from tensix.core.free_threading cimport TX_COUNT, tx_while_stopped
from tensix.core.intrusive_target cimport IntrusiveTarget, use_count
from tensix.core.memory_reports cimport (
    OUT_OF_SIGHT, OWNED, READ, WRITTEN, call_when_watched, report_use, use_t, use_watchers,
)
from tensix.core.shared_context cimport shared_context_new, shared_context_t, shared_context_wrap
from tensix.core.python_reference cimport restore_exception, pending_exception, pending_exception_t, save_exception

__all__ = ["StorageImpl"]

cdef extern from "tensix/core/free_threading.h":
    void swap_owners "TX_SWAP_OWNERS" (StorageImpl one, StorageImpl other) nogil
    object exchange_owner "TX_EXCHANGE_OWNER" (StorageImpl storage, object allocator)
    object exchange_text "TX_EXCHANGE_ACCESS_ERROR" (StorageImpl storage, object text)


cdef struct two_storages_t:
    PyObject* one
    PyObject* other
    bint is_refused


@cython.no_gc  # what it holds, an allocator, holds no storages; tensors must not pay for the collector
cdef class StorageImpl(IntrusiveTarget):
    """StorageImpl(nbytes=0, data_ptr=None, allocator=None, resizable=False)\n--\n
    Own a block of bytes; the target that `Storage` handles and tensors count.

    Parameters
    ----------
    nbytes : int, optional
        Size in bytes.
    data_ptr : DataPtr or None, optional
        The block, moved in; None asks the allocator for one.
    allocator : Allocator or None, optional
        The allocator that makes and resizes the block; None with no `data_ptr` means the current CPU allocator.
    resizable : bool, optional
        Whether `Storage.resize_` may change the size; needs an allocator.

    Raises
    ------
    ValueError
        If it is to be resizable but has no allocator.
    RuntimeError
        From every method, once the last owner is gone.

    Notes
    -----
    Lifetime: the bytes go with the last strong count, whatever bare references are left.

    Thread-safety: reading needs none; writing the same bytes from two threads is the caller's business.

    Examples
    --------
    >>> from tensix.core import StorageImpl, make_intrusive
    >>> pointer = make_intrusive(StorageImpl, 100)
    >>> impl = pointer.get()
    >>> impl.nbytes(), impl.data_ptr() % 64
    (100, 0)
    >>> pointer.reset()
    >>> impl.nbytes()
    Traceback (most recent call last):
    RuntimeError: the StorageImpl has expired: its last owner is gone and its bytes with it.
    """

    def __cinit__(self):
        self.is_watched = self.guarded = use_watchers != 0

    def __init__(self, nbytes=0, DataPtr data_ptr=None, Allocator allocator=None, bint resizable=False):
        cdef size_t size = nbytes_from_any(nbytes)
        cdef bint is_new = data_ptr is None
        cdef data_ptr_t block
        if is_new:
            if allocator is None:
                allocator = current_allocator(CPU)
            Allocator_allocate(allocator, size, &block)
            data_ptr = DataPtr_wrap(&block)
        elif resizable and allocator is None:
            raise ValueError("For resizable storage, allocator must be provided.")
        # Asked last: a number or an allocator may call this, too.
        if self.combined_refcount != 0 or self.block.ctx != NULL or self.size_bytes != 0:
            raise RuntimeError("a StorageImpl is filled once: make a new one instead of calling __init__ again.")
        DataPtr_move_out(data_ptr, &self.block)
        self.size_bytes, self.owner, self.is_resizable = size, allocator, resizable
        if is_new:
            StorageImpl_report_use(self, OWNED)

    def __dealloc__(self):
        data_ptr_destroy(&self.block)
        free_retired_of_dead(self)

    def __copy__(self):
        raise TypeError("a StorageImpl cannot be copied: its identity is what aliasing means. Use Storage.clone().")

    cdef void destroy(self, bint holds_gil) noexcept nogil:
        free_block(self, holds_gil)

    cpdef release_resources(self):
        """Free the bytes, if nothing uses them; weak handles may still refer to the dead storage."""
        if not is_dead(self.combined_refcount):  # an address that is given out keeps nothing
            free_contents(self, KEEPS_SIZE | KEEPS_MATERIALIZER)
        else:
            data_ptr_destroy(&self.block)

    @property
    def allocator(self):
        """The allocator that makes and resizes the block, or None."""
        check_alive(self)
        return self.owner

    @allocator.setter
    def allocator(self, Allocator allocator):
        check_alive(self)
        if self.is_resizable and allocator is None:
            raise RuntimeError("cannot take the allocator from a resizable storage: set resizable to False first.")
        exchange_owner(self, allocator)

    @property
    def device(self):
        """Where the bytes are."""
        check_alive(self)
        return Device_get(self.block.device_type, self.block.device_index)

    @property
    def resizable(self):
        """Whether the size may change; setting it needs an allocator."""
        check_alive(self)
        return bool(self.is_resizable)

    @resizable.setter
    def resizable(self, bint resizable):
        check_alive(self)
        if resizable and self.owner is None:
            raise RuntimeError("For resizable storage, allocator must be provided: set the allocator first.")
        self.is_resizable = resizable

    @property
    def readonly(self):
        """Whether writing is refused; once true it stays, a writable copy is made by `Storage.clone`."""
        check_alive(self)
        return bool(self.is_readonly)

    @readonly.setter
    def readonly(self, bint readonly):
        check_alive(self)
        if self.is_readonly and not readonly:
            raise RuntimeError("a read-only storage stays read-only: make a writable one with clone().")
        if readonly and not self.is_readonly and StorageImpl_is_in_use(self):
            self.is_foreign = True  # its users were told that they may write
        self.is_readonly = readonly
        refresh_guard(self)

    def nbytes(self):
        """Return the size in bytes."""
        check_alive(self)
        return self.size_bytes

    def set_nbytes(self, nbytes):
        """Change the recorded size; no byte is allocated or freed."""
        check_alive(self)
        cdef size_t size = nbytes_from_any(nbytes)
        self.was_shrunk = self.was_shrunk or size < self.size_bytes
        self.size_bytes = size

    def data_ptr(self):
        """Return the address for reading, 0 for none; never materializes.

        Raises
        ------
        RuntimeError
            If the data may not be accessed.
        """
        check_alive(self)
        return <uintptr_t>StorageImpl_const_data(self)

    def mutable_data_ptr(self):
        """Return the address for writing, 0 for none; a copy-on-write storage gets its own bytes first.

        Raises
        ------
        RuntimeError
            If the storage is read-only or the data may not be accessed.
        OutOfMemoryError
            If there is no memory for the copy; the storage is unchanged then.
        """
        check_alive(self)
        return <uintptr_t>StorageImpl_mutable_data(self)

    def data_ptr_object(self):
        """Return a borrowed view of the block's `DataPtr`; it stays current."""
        check_alive(self)
        return DataPtr_borrow(&self.block, self)

    def set_data_ptr(self, DataPtr data_ptr not None):
        """Move another block in, after materializing, and return the old one."""
        check_alive(self)
        StorageImpl_check_movable(self, "exchange")
        cdef data_ptr_t block
        StorageImpl_mutable_data(self)  # may run other code, which may have exported the block
        exchange_for(self, data_ptr, &block, 0, KEEPS_SIZE | KEEPS_MATERIALIZER)
        return DataPtr_wrap(&block)

    def set_data_ptr_noswap(self, DataPtr data_ptr not None):
        """Move another block in and free the old one, without materializing."""
        check_alive(self)
        cdef data_ptr_t block
        exchange_for(self, data_ptr, &block, 0, KEEPS_SIZE)
        data_ptr_destroy(&block)

    def swap_data_ptr(self, StorageImpl other not None):
        """Exchange block, size and allocator with another storage, after materializing both; both must be writable."""
        check_alive(self)
        check_alive(other)
        StorageImpl_check_movable(self, "exchange")
        StorageImpl_check_movable(other, "exchange")
        cdef two_storages_t two = two_storages_t(<PyObject*>self, <PyObject*>other, True)
        StorageImpl_report_use(self, OUT_OF_SIGHT)  # the other one may not be watched
        StorageImpl_report_use(other, OUT_OF_SIGHT)
        while two.is_refused:
            StorageImpl_mutable_data(self)  # may be cloned again while the other one copies
            StorageImpl_mutable_data(other)
            StorageImpl_check_movable(self, "exchange")
            StorageImpl_check_movable(other, "exchange")
            tx_while_stopped(swap_contents, &two)

    def reset(self):
        """Free the bytes and set the size to 0."""
        check_alive(self)
        free_contents(self, 0)

    def unique_storage_share_external_pointer(self, DataPtr data_ptr not None, nbytes):
        """Take external memory over in place of the own block; the storage has no allocator afterwards.

        Raises
        ------
        RuntimeError
            If anybody else owns the storage.
        """
        check_alive(self)
        cdef size_t size = nbytes_from_any(nbytes)
        if use_count(self) != 1:
            raise RuntimeError(
                "UniqueStorageShareExternalPointer can only be called when use_count == 1, "
                f"found {use_count(self)}: others would see their bytes change."
            )
        cdef data_ptr_t block
        exchange_for(self, data_ptr, &block, size, 0)
        self.is_resizable = False
        exchange_owner(self, None)
        data_ptr_destroy(&block)  # last: it may run any code

    def set_throw_on_mutable_data_ptr(self):
        """Refuse every later access for writing."""
        check_alive(self)
        self.throw_on_mutable = True
        refresh_guard(self)

    def set_throw_on_immutable_data_ptr(self):
        """Refuse every later access, for reading too."""
        check_alive(self)
        self.throw_on_immutable = True
        refresh_guard(self)

    def set_warn_deprecated_on_mutable_data_ptr(self):
        """Warn once, at the next access for writing."""
        check_alive(self)
        self.warn_on_mutable = True
        refresh_guard(self)

    def release_data_and_set_meta_custom_data_ptr_error_msg(self, str message not None):
        """Free the bytes; later accesses raise an error with `message`."""
        check_alive(self)
        free_contents(self, KEEPS_SIZE)
        exchange_text(self, message)
        self.throw_on_immutable = True
        refresh_guard(self)

    def clear_meta_custom_data_ptr_error_msg(self):
        """Allow access again; the bytes stay gone until a new block is set."""
        check_alive(self)
        exchange_text(self, None)
        self.throw_on_immutable = False
        refresh_guard(self)

    def __repr__(self):
        if is_dead(self.combined_refcount):
            return "StorageImpl(expired)"
        return f"StorageImpl(nbytes={self.size_bytes}, data={<uintptr_t>self.block.data:#x}, device='{self.device}')"


cdef free_list_t FREE

cdef void deallocate(PyObject* dead) noexcept:
    """Deallocate an instance, as the type's tp_dealloc. See Note [Free lists]."""
    if free_list_accepts(&FREE, dead):
        strip(<StorageImpl>dead)
        free_list_keep(&FREE, dead)
    else:
        FREE.chain(dead)

free_list_install(&FREE, StorageImpl, deallocate)


cdef void strip(StorageImpl self) noexcept:
    """Leave the fields as those of a new storage."""
    TX_ASSERT(self.uses == 0 and self.exports == 0, "a dead storage that nothing uses", self.uses + self.exports)
    if self.block.deleter != NULL or self.block.data != NULL:  # never owned, so destroy() was not called
        self.destroy(True)
    free_retired_of_dead(self)
    self.owner = None
    self.combined_refcount = 0
    self.handle_count = self.weak_handle_count = 0
    self.size_bytes = 0
    self.version = 0
    self.is_resizable = self.was_shrunk = self.is_foreign = self.has_escaped = False
    if self.guarded or self.access_error is not None:
        self.access_error, self.materializer = None, NULL
        self.throw_on_mutable = self.throw_on_immutable = self.warn_on_mutable = self.is_readonly = False
        self.guarded = self.is_watched = False


cdef inline void free_block(StorageImpl self, bint holds_gil) noexcept nogil:
    if not holds_gil:
        data_ptr_destroy(&self.block)
    elif pending_exception() == NULL:
        data_ptr_destroy_with_gil(&self.block)
    else:
        destroy_block_aside(&self.block)


cdef void destroy_block_aside(data_ptr_t* block) noexcept nogil:
    """Free a block while an exception is pending: deleters may run Python code."""
    cdef pending_exception_t pending
    with gil:
        pending = save_exception()
        data_ptr_destroy(block)
        restore_exception(pending)


cdef void keep_no_dead(bint watched) noexcept:
    """Keep the free list empty while uses are watched. See Note [Watching uses]."""
    FREE.type = NULL if watched else <PyTypeObject*>StorageImpl
    while watched and FREE.count != 0:
        FREE.count -= 1
        FREE.chain(FREE.objects[FREE.count])

call_when_watched(keep_no_dead)


cdef StorageImpl StorageImpl_new():
    """Return an empty storage without owners."""
    return <StorageImpl>free_list_take(&FREE) if FREE.count else StorageImpl.__new__(StorageImpl)


cdef int check_alive(StorageImpl self) except -1:
    if is_dead(self.combined_refcount):
        raise RuntimeError("the StorageImpl has expired: its last owner is gone and its bytes with it.")
    return 0


cdef void refresh_guard(StorageImpl self) noexcept nogil:
    self.guarded = StorageImpl_is_guarded(self)


cdef int StorageImpl_check_readable(StorageImpl self) except -1:
    if self.throw_on_immutable:
        raise RuntimeError(self.access_error or "Cannot access data pointer of Storage that is invalid.")
    return 0


cdef int StorageImpl_pass_read_guards(StorageImpl self) except -1:
    """Refuse, or report, a use for reading."""
    StorageImpl_check_readable(self)
    StorageImpl_report_use(self, READ)
    return 0


cdef void StorageImpl_report_use(StorageImpl self, use_t use) noexcept:
    """Report a use of the storage to its watcher, if there is one. See Note [Watching uses]."""
    if not self.is_watched:
        return
    if use_watchers == 0:
        self.is_watched = False
        refresh_guard(self)
    elif self.block.data != NULL:
        report_use(self.block.data, OUT_OF_SIGHT if self.is_foreign else use)


cdef void StorageImpl_watch(StorageImpl self) noexcept:
    """Watch a storage that has got a block of its own, if uses are watched."""
    if use_watchers != 0:
        self.is_watched = self.guarded = True
        StorageImpl_report_use(self, OWNED)


cdef bint StorageImpl_is_in_use(StorageImpl self) noexcept nogil:
    """Whether somebody outside may read and write the block now, or ever again."""
    return self.has_escaped or self.exports != 0


cdef int StorageImpl_check_movable(StorageImpl self, str what) except -1:
    """Refuse to `what` a block that others use. See Note [Exports] and Note [Storages in use]."""
    if self.uses != 0 or StorageImpl_is_in_use(self):
        raise RuntimeError(
            f"cannot {what} the memory of this storage: an array, a buffer, a DLPack capsule or an operation that has "
            "not ended uses it. Drop or end those first, or work on a clone()."
        )
    return 0


cdef int StorageImpl_pass_guards(StorageImpl self) except -1:
    """Refuse, warn or materialize before a write; without such a guard report it and return whether that is all.

    See Note [One flag before the rare states].
    """
    cdef uintptr_t before = <uintptr_t>self.block.data
    if not StorageImpl_has_guards(self):
        StorageImpl_report_use(self, WRITTEN)
        return True
    StorageImpl_check_readable(self)
    if self.throw_on_mutable:
        raise RuntimeError(
            "Cannot access data pointer of Storage for writing: it was marked as not writable. "
            "If you only read, use data_ptr()."
        )
    if self.is_readonly:
        raise RuntimeError(
            "cannot write to a read-only storage. Make a writable copy with clone() or lazy_clone(); "
            "to read, use data_ptr()."
        )
    if self.warn_on_mutable:
        self.warn_on_mutable = False
        refresh_guard(self)
        warnings.warn("Accessing the data pointer of this storage for writing is deprecated.", stacklevel=2)
    if self.materializer != NULL:
        StorageImpl_report_use(self, READ)
    while self.materializer != NULL:  # it clears itself when done; if it fails, the next write tries again
        self.materializer(self)
    if <uintptr_t>self.block.data != before:
        StorageImpl_watch(self)
    return False


cdef int StorageImpl_set_materializer(StorageImpl self, materializer_t materializer) except -1:
    """Have a function called before the first write."""
    if self.materializer != NULL:
        raise RuntimeError("Cannot set materializer: a materializer is already active on this storage.")
    self.materializer = materializer
    self.guarded = True
    return 0


cdef void StorageImpl_clear_materializer(StorageImpl self) noexcept nogil:
    self.materializer = NULL
    refresh_guard(self)


cdef void free_retired_if_unused(StorageImpl self) noexcept:
    """Free what was in use, if nothing is; a use that begins at this moment is one of another block."""
    cdef retired_t* retired = NULL
    cdef retired_t* next
    lock_sharing(self)
    if TX_COUNT(self.uses, 0) == 0 and not StorageImpl_is_in_use(self):  # after all that the last use has read
        retired, self.retired = self.retired, NULL
    unlock_sharing(self)
    while retired != NULL:
        next = retired.next
        destroy_block_aside(&retired.block)  # an array that was the last use may go while an exception is pending
        free(retired)
        retired = next


cdef inline void free_retired_of_dead(StorageImpl self) noexcept:
    """Free what was kept for somebody who had the address: that is of no use any more."""
    if self.retired != NULL:
        self.has_escaped = False
        free_retired_if_unused(self)


cdef int StorageImpl_refuse_expired() except -1:
    raise RuntimeError("the storage has no owner any more: its bytes are gone.")


cdef struct block_change_t:
    PyObject* storage
    data_ptr_t* block      # the new one, afterwards the one before
    size_t size
    int keeps
    bint is_refused


cdef void change_block(void* what) noexcept nogil:
    cdef block_change_t* change = <block_change_t*>what
    cdef PyObject* self = change.storage
    cdef data_ptr_t before = (<StorageImpl>self).block
    tx_end_readings(NULL)
    change.is_refused = (<StorageImpl>self).uses != 0 or StorageImpl_is_in_use(<StorageImpl>self)
    if change.is_refused:
        return
    (<StorageImpl>self).block = change.block[0]
    change.block[0] = before
    if not change.keeps & KEEPS_SIZE:
        (<StorageImpl>self).was_shrunk = (<StorageImpl>self).was_shrunk or change.size < (<StorageImpl>self).size_bytes
        (<StorageImpl>self).size_bytes = change.size
    if not change.keeps & KEEPS_MATERIALIZER:
        StorageImpl_clear_materializer(<StorageImpl>self)


cdef bint StorageImpl_exchange(StorageImpl self, data_ptr_t* block, size_t size, int keeps) except -1:
    """Move a block in and the one before out; return False, and leave all as it is, if that is in use.

    See Note [Storages in use].
    """
    cdef block_change_t change = block_change_t(<PyObject*>self, block, size, keeps, False)
    tx_while_stopped(change_block, &change)
    return not change.is_refused


cdef retired_t* retired_new() except NULL:
    cdef retired_t* retired = <retired_t*>malloc(sizeof(retired_t))
    if retired == NULL:
        raise MemoryError("no memory to keep a block that an operation still reads.")
    return retired


cdef void StorageImpl_let_go_of(StorageImpl self, data_ptr_t* block, retired_t* retired) noexcept:
    """Free a block that the storage had, when nothing reads it any more, and `retired`, which is for that."""
    tx_wait_for_callers()
    if TX_COUNT(self.uses, 0) != 0 or StorageImpl_is_in_use(self):  # exported while it was cloned lazily
        data_ptr_move(&retired.block, block)
        lock_sharing(self)
        retired.next, self.retired = self.retired, retired
        unlock_sharing(self)
        free_retired_if_unused(self)  # it may have ended meanwhile
    else:
        free(retired)
        data_ptr_destroy(block)


cdef int StorageImpl_share(
        StorageImpl self, const data_ptr_operations_t* operations, materializer_t materializer) except -1:
    """Move the block into a context, in which it is counted, unless the storage gets another one at this moment."""
    cdef void* ctx = self.block.ctx
    cdef const void* its_operations = self.block.operations
    cdef shared_context_t* context = shared_context_new()
    lock_sharing(self)
    if self.block.ctx == ctx and self.block.operations == its_operations:
        shared_context_wrap(context, &self.block, operations)
        context = NULL
        if materializer != NULL:
            self.materializer, self.guarded = materializer, True
    unlock_sharing(self)
    free(context)  # NULL if it was needed
    return 0


cdef int exchange_for(StorageImpl self, DataPtr data_ptr, data_ptr_t* block, size_t size, int keeps) except -1:
    """Move the contents of `data_ptr` in, and the block before out, which `block` is afterwards."""
    StorageImpl_check_movable(self, "exchange")
    DataPtr_move_out(data_ptr, block)
    StorageImpl_report_use(self, OUT_OF_SIGHT)  # its receiver may do anything
    if not StorageImpl_exchange(self, block, size, keeps):
        data_ptr_move(&data_ptr.own, block)
        StorageImpl_check_movable(self, "exchange")
    return 0


cdef int free_contents(StorageImpl self, int keeps) except -1:
    cdef data_ptr_t block
    memset(&block, 0, sizeof(block))
    block.device_type, block.device_index = self.block.device_type, self.block.device_index
    if not StorageImpl_exchange(self, &block, 0, keeps):
        StorageImpl_check_movable(self, "free")
    data_ptr_destroy(&block)
    return 0


cdef void swap_contents(void* what) noexcept nogil:
    cdef two_storages_t* two = <two_storages_t*>what
    cdef PyObject* one = two.one
    cdef PyObject* other = two.other
    cdef data_ptr_t block = (<StorageImpl>one).block
    cdef size_t nbytes = (<StorageImpl>one).size_bytes
    two.is_refused = (
        (<StorageImpl>one).materializer != NULL or (<StorageImpl>other).materializer != NULL
        or (<StorageImpl>one).uses != 0 or StorageImpl_is_in_use(<StorageImpl>one)
        or (<StorageImpl>other).uses != 0 or StorageImpl_is_in_use(<StorageImpl>other)
    )
    if two.is_refused:
        return
    (<StorageImpl>one).block, (<StorageImpl>other).block = (<StorageImpl>other).block, block
    (<StorageImpl>one).size_bytes, (<StorageImpl>other).size_bytes = (<StorageImpl>other).size_bytes, nbytes
    (<StorageImpl>one).was_shrunk = (<StorageImpl>other).was_shrunk = True  # or neither: comparing costs little
    swap_owners(<StorageImpl>one, <StorageImpl>other)
    swap_bytes(&(<StorageImpl>one).is_resizable, &(<StorageImpl>other).is_resizable)
    swap_bytes(&(<StorageImpl>one).is_foreign, &(<StorageImpl>other).is_foreign)


cdef void swap_bytes(uint8_t* one, uint8_t* other) noexcept nogil:
    one[0], other[0] = other[0], one[0]


cdef StorageImpl StorageImpl_allocate(size_t nbytes, Allocator allocator, bint resizable):
    """Return a new storage without owners, its block made by `allocator`."""
    cdef StorageImpl self = StorageImpl_new()
    Allocator_allocate(allocator, nbytes, &self.block)
    self.size_bytes, self.owner, self.is_resizable = nbytes, allocator, resizable
    if self.is_watched:
        StorageImpl_report_use(self, OWNED)
    return self
