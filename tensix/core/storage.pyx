"""The thin handle on a storage, and the table of factories that make storages for a device type."""
cimport cython
from sys import modules

from libc.stdint cimport uintptr_t
from tensix.core.allocator cimport (
    Allocator, Allocator_allocate, Allocator_clone, Allocator_copy_data, current_allocator, nbytes_from_any,
)
from tensix.core.cow_context cimport cow_is_cow, cow_lazy_clone
from tensix.core.data_ptr cimport DataPtr, data_ptr_destroy, data_ptr_t
from tensix.core.device cimport META, Device, Device_from_any, device_type_from_any, device_type_name
from tensix.core.free_threading cimport TX_COUNT
from tensix.core.handle cimport drop_handle, retain
from tensix.core.intrusive_ptr cimport IntrusivePtr
from tensix.core.intrusive_target cimport IntrusiveTarget_start_unique, use_count, weak_use_count
from tensix.core.memory_reports cimport report_copy
from tensix.core.weak_intrusive_ptr cimport WeakIntrusivePtr
from tensix.core.refcounted_deleter cimport refcounted_alias, refcounted_apply, refcounted_is_shared_alias
from tensix.core.storage_impl cimport (
    StorageImpl, StorageImpl_allocate, StorageImpl_begin_use, StorageImpl_check_readable, StorageImpl_check_movable,
    StorageImpl_const_data, StorageImpl_end_use, StorageImpl_exchange, StorageImpl_mutable_data, StorageImpl_new,
    StorageImpl_watch,
)

__all__ = ["NullError", "Storage", "get_storage_impl_create", "make_storage_impl", "set_storage_impl_create"]

cdef extern from "tensix/core/free_threading.h":
    object exchange_target "TX_EXCHANGE_TARGET" (Storage owner, object target)


@cython.binding(True)
class NullError(RuntimeError, AttributeError):
    """A null storage or an undefined tensor was asked for what it does not have, such as a device.

    It is a RuntimeError, as in C++, and an AttributeError, so that `hasattr`, `inspect.getmembers` and debuggers skip
    the attribute.

    Examples
    --------
    >>> import tensix
    >>> hasattr(tensix.Tensor(), "device"), hasattr(tensix.ones(2), "device")
    (False, True)
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    def __init__(self, message):  # for its signature: inspect finds none of CPython's exceptions
        super().__init__(message)


@cython.final
@cython.freelist(32)
@cython.no_gc  # a StorageImpl takes no part in collection either
cdef class Storage:
    """Storage(nbytes=0, allocator=None, resizable=False)\n--\n
    Own a storage with one strong count.

    Parameters
    ----------
    nbytes : int, optional
        Size in bytes.
    allocator : Allocator or None, optional
        The allocator that makes the block; None means the current CPU allocator.
    resizable : bool, optional
        Whether `resize_` is allowed.

    Raises
    ------
    ValueError, OverflowError
        If the size is negative, or beyond 64 bits.
    OutOfMemoryError
        If there is no memory.

    Notes
    -----
    Lifetime: the bytes live as long as any `Storage` or tensor owns them. Equality and hash are those of the
    storage owned, not of its bytes.

    Thread-safety: as any Python object; bytes are not locked.

    Examples
    --------
    >>> from tensix.core import Storage
    >>> storage = Storage(100)
    >>> clone = storage.lazy_clone()
    >>> clone.data_ptr() == storage.data_ptr(), clone.is_cow()
    (True, True)
    >>> clone.mutable_data_ptr() == storage.data_ptr()
    False
    """

    def __init__(self, nbytes=0, Allocator allocator=None, bint resizable=False):
        cdef size_t size = nbytes_from_any(nbytes)
        if allocator is None:
            allocator = current_allocator(0)
        cdef StorageImpl impl = StorageImpl_allocate(size, allocator, resizable)
        if self.target is not None:  # asked last: a number or an allocator may call this, too
            raise RuntimeError("a Storage is filled once: make a new one instead of calling __init__ again.")
        Storage_own_new(self, impl)

    def __dealloc__(self):
        drop_handle(self.target)

    @staticmethod
    @cython.binding(True)
    def from_data_ptr(nbytes, DataPtr data_ptr not None, Allocator allocator=None, resizable=False):
        """Make a storage of an existing block, which is moved in.

        Parameters
        ----------
        nbytes : int
            Size in bytes.
        data_ptr : DataPtr
            The block; empty afterwards.
        allocator : Allocator or None, optional
            The allocator that resizes the block and makes its copies.
        resizable : bool, optional
            Whether `resize_` is allowed; needs an allocator.
        """
        return Storage_from_new(StorageImpl(nbytes, data_ptr, allocator, resizable))

    @staticmethod
    @cython.binding(True)
    def from_impl(IntrusivePtr impl not None):
        """Make a handle of a pointer to a `StorageImpl`, which keeps its own count; null gives a null storage."""
        cdef Storage made = Storage.__new__(Storage)
        if impl.target is None:
            return made
        if not isinstance(impl.target, StorageImpl):
            raise TypeError(f"from_impl() needs a pointer to a StorageImpl, found one to {type(impl.target).__name__}.")
        retain(impl.target)
        return Storage_from_owned(<StorageImpl>impl.target)

    @staticmethod
    @cython.binding(True)
    def create_legacy(device="cpu"):
        """Make an empty, resizable storage from the device's allocator."""
        cdef Device where = Device_from_any(device)
        return Storage_from_new(StorageImpl_allocate(0, current_allocator(where.type_code), True))

    @property
    def impl(self):
        """The bare `StorageImpl`, or None."""
        return self.target

    @property
    def allocator(self):
        """The allocator that makes and resizes the block, or None."""
        return owned(self).allocator

    @property
    def device(self):
        """Where the bytes are."""
        return owned(self).device

    @property
    def device_type(self):
        """The type of the device, such as ``"cpu"``."""
        return owned(self).device.type

    @property
    def resizable(self):
        """Whether the size may change; setting it needs an allocator."""
        return owned(self).resizable

    @resizable.setter
    def resizable(self, resizable):
        owned(self).resizable = resizable

    @property
    def readonly(self):
        """Whether writing is refused; can be set, not unset."""
        return owned(self).readonly

    @readonly.setter
    def readonly(self, readonly):
        owned(self).readonly = readonly

    def nbytes(self):
        """Return the size in bytes."""
        return owned(self).size_bytes

    def data_ptr(self):
        """Return the address for reading, 0 for none; never materializes."""
        return <uintptr_t>StorageImpl_const_data(owned(self))

    def mutable_data_ptr(self):
        """Return the address for writing; a copy-on-write storage gets its own bytes first.

        Raises
        ------
        RuntimeError
            If the storage is read-only.
        OutOfMemoryError
            If there is no memory for the copy; the storage is unchanged then.
        """
        return <uintptr_t>StorageImpl_mutable_data(owned(self))

    def data_ptr_object(self):
        """Return a borrowed view of the block's `DataPtr`; it stays current."""
        return owned(self).data_ptr_object()

    def set_data_ptr(self, data_ptr):
        """Move another block in, after materializing, and return the old one; sizes do not change."""
        return owned(self).set_data_ptr(data_ptr)

    def set_data_ptr_noswap(self, data_ptr):
        """Move another block in and free the old one, without materializing."""
        owned(self).set_data_ptr_noswap(data_ptr)

    def resize_(self, nbytes):
        """Change the size, keeping the first bytes that fit; new bytes are not initialised.

        Returns
        -------
        Storage
            Itself. Addresses change; a copy-on-write storage gets its own bytes.

        Raises
        ------
        RuntimeError
            If it is not resizable or read-only, or others use its memory. Nothing changes then, nor when memory
            runs out.
        """
        cdef StorageImpl impl = owned(self)
        cdef size_t size = nbytes_from_any(nbytes)
        check_resizable(impl, size)
        if size != impl.size_bytes:
            StorageImpl_check_movable(impl, "resize")
            resize(impl, size)
        return self

    def clone(self):
        """Return a storage with a copy of the bytes, made at once and writable."""
        return Storage_from_new(StorageImpl_clone(owned(self)))

    def lazy_clone(self):
        """Return a storage that shares the bytes until one of the two is written (copy-on-write).

        Bytes that others could change behind our back are copied at once: external memory whose context is not
        plainly the allocation, and storages whose memory was handed out for writing.

        Returns
        -------
        Storage
            Writable, also if this one is read-only.
        """
        return Storage_from_new(StorageImpl_lazy_clone(owned(self)))

    def maybe_apply_refcounted_deleter(self):
        """Put the block under a reference count of its own, so that `share` can be called; idempotent."""
        refcounted_apply(owned(self))

    def share(self):
        """Return another storage over the same bytes: each write through one is seen through the other.

        Returns
        -------
        Storage
            A different `StorageImpl`, not resizable; the block lives as long as one of them.
        """
        return Storage_from_new(refcounted_alias(owned(self)))

    def is_cow(self):
        """Return whether the bytes may be shared copy-on-write, so that a first write may copy."""
        return cow_is_cow(&owned(self).block)

    def is_shared(self):
        """Return whether the bytes are in memory that other processes can have too, of a `SharedMemoryAllocator`."""
        module = modules.get("tensix.memory.shared_memory_allocator")  # which is loaded before it makes any
        address = <uintptr_t>owned(self).block.data
        return module is not None and module.SharedMemoryAllocator.locate(address) is not None

    def is_alias_of(self, Storage other not None):
        """Return whether a write to one is seen by the other; copy-on-write sharers are not aliases."""
        if self.target is None or other.target is None:
            return False
        return self.target is other.target or refcounted_is_shared_alias(self.target, other.target)

    def use_count(self):
        """Return how many handles and tensors own the storage, 0 for null."""
        return use_count(self.target)

    def weak_use_count(self):
        """Return the number of weak handles plus one, 0 for null."""
        return weak_use_count(self.target)

    def unique(self):
        """Return whether this handle is the only owner."""
        return use_count(self.target) == 1

    def weak(self):
        """Return a weak pointer to the `StorageImpl`; it keeps no byte alive."""
        return WeakIntrusivePtr.reclaim_copy(self.target)

    def reset(self):
        """Give the storage up and become null."""
        drop_handle(exchange_target(self, None))

    def unsafe_release_storage_impl(self):
        """Give out the bare `StorageImpl` with its strong count and become null."""
        cdef StorageImpl impl = exchange_target(self, None)
        if impl is not None:
            TX_COUNT(impl.handle_count, -1)
        return impl

    def __bool__(self):
        return self.target is not None

    def __eq__(self, other):
        return self.target is (<Storage>other).target if isinstance(other, Storage) else NotImplemented

    def __hash__(self):
        return hash(<uintptr_t><void*>self.target)

    def __sizeof__(self):
        """Return the bytes of the handle, of the storage that it owns and of the storage's block."""
        if self.target is None:
            return Storage.__basicsize__
        memory = 0 if self.target.block.device_type == META else self.target.size_bytes  # meta has none
        return Storage.__basicsize__ + StorageImpl.__basicsize__ + memory

    def __copy__(self):
        if self.target is None:
            return Storage.__new__(Storage)
        retain(self.target)
        return Storage_from_owned(self.target)

    def __deepcopy__(self, dict memo not None):
        """Return a handle on a copy, one for all handles and tensors that are copied together; read-only stays so."""
        cdef Storage made
        if self.target is None:
            return Storage.__new__(Storage)
        made = memo.get(id(self.target))
        if made is None or made.target is None:
            made = Storage_from_new(StorageImpl_clone(self.target))
            made.target.readonly = self.target.is_readonly
            memo[id(self.target)] = made
        return made.__copy__()

    def __repr__(self):
        if self.target is None:
            return "Storage(null)"
        flags = "".join(
            f", {name}" for name, is_set in (
                ("resizable", self.target.is_resizable), ("readonly", self.target.is_readonly),
                ("copy-on-write", self.is_cow()),
            ) if is_set
        )
        return (
            f"Storage(nbytes={self.target.size_bytes}, device='{self.device}', "
            f"data={<uintptr_t>self.target.block.data:#x}{flags})"
        )


cdef dict FACTORIES = {}  # device type -> callable


def set_storage_impl_create(device_type, fn):
    """Register the factory that makes the storages of a device type.

    Parameters
    ----------
    device_type : str or Device
        Such as ``"privateuseone"``.
    fn : callable or None
        ``fn(nbytes, data_ptr, allocator, resizable) -> StorageImpl``, a new one without owners. None takes the
        registration back.

    Raises
    ------
    RuntimeError
        If another factory is registered.
    """
    type_code = device_type_from_any(device_type)
    if fn is None:
        FACTORIES.pop(type_code, None)
        return
    if not callable(fn):
        raise TypeError(f"a storage factory must be callable, found {type(fn).__name__}.")
    if FACTORIES.setdefault(type_code, fn) is not fn:
        raise RuntimeError(
            f"device type {device_type_name(type_code)} has a storage factory already: {FACTORIES[type_code]!r}. "
            "Take it back with set_storage_impl_create(device_type, None) first."
        )


def get_storage_impl_create(device_type):
    """Return the factory that makes the storages of a device type, or None if there is none.

    Parameters
    ----------
    device_type : str or Device
        Such as ``"privateuseone"``.

    Examples
    --------
    >>> import tensix
    >>> tensix.get_storage_impl_create("cpu") is None
    True
    """
    return FACTORIES.get(device_type_from_any(device_type))


def make_storage_impl(nbytes, DataPtr data_ptr=None, Allocator allocator=None, resizable=False, device="cpu"):
    """Make a storage by the device's factory, or a plain one if it has none.

    Parameters
    ----------
    nbytes : int
        Size in bytes.
    data_ptr : DataPtr or None, optional
        The block, moved in; None or a null one asks the allocator for one.
    allocator : Allocator or None, optional
        None with no block means the device's current allocator.
    resizable : bool, optional
        Whether the size may change.
    device : str or Device, optional
        Whose factory is asked.

    Returns
    -------
    Storage
        The only owner of what was made.
    """
    cdef Device where = Device_from_any(device)
    factory = FACTORIES.get(where.type_code)
    if factory is None:
        if data_ptr is not None and not data_ptr:
            data_ptr = None
        if data_ptr is None and allocator is None:
            allocator = current_allocator(where.type_code)
        return Storage_from_new(StorageImpl(nbytes, data_ptr, allocator, resizable))
    made = factory(nbytes, data_ptr, allocator, resizable)
    if not isinstance(made, StorageImpl):
        raise TypeError(f"the storage factory of {where.type} must return a StorageImpl, found {type(made).__name__}.")
    return Storage_from_new(made)


cdef StorageImpl owned(Storage self):
    """Return the storage; raise if the handle is null."""
    if self.target is None:
        raise NullError("the Storage is null: it was reset or released and owns nothing.")
    return self.target


cdef int Storage_own_new(Storage self, StorageImpl impl) except -1:
    IntrusiveTarget_start_unique(impl)
    impl.handle_count = 1
    self.target = impl
    return 0


cdef Storage Storage_from_new(StorageImpl impl):
    """Return the first owner of a new storage."""
    cdef Storage made = Storage.__new__(Storage)
    Storage_own_new(made, impl)
    return made


cdef Storage Storage_from_owned(StorageImpl impl):
    """Return a handle that takes over a strong count."""
    cdef Storage made = Storage.__new__(Storage)
    TX_COUNT(impl.handle_count, 1)
    made.target = impl
    return made


cdef int check_resizable(StorageImpl impl, size_t size) except -1:
    if not impl.is_resizable:
        raise RuntimeError(
            f"cannot resize to {size:,} bytes: the storage is not resizable. Make it with resizable=True."
        )
    if impl.is_readonly:
        raise RuntimeError("cannot resize a read-only storage. Make a writable copy with clone().")
    return StorageImpl_check_readable(impl)


cdef int resize(StorageImpl impl, size_t size) except -1:
    """Move the first bytes to a block of another size.

    Allocating and copying may run other code, which may export the storage or freeze it: what was checked before is
    checked again before the blocks are exchanged.
    """
    cdef data_ptr_t block
    cdef Allocator allocator = impl.owner  # kept for the calls, which may replace it
    Allocator_allocate(allocator, size, &block)
    try:
        copy_to(&block, impl, size, allocator)
        check_resizable(impl, size)
        if not StorageImpl_exchange(impl, &block, size, 0):
            StorageImpl_check_movable(impl, "resize")
        StorageImpl_watch(impl)
    finally:
        data_ptr_destroy(&block)  # last: it may run any code
    return 0


cdef int copy_to(data_ptr_t* block, StorageImpl impl, size_t size, Allocator allocator) except -1:
    """Copy as many of the first bytes as a block of `size` bytes holds."""
    cdef size_t kept = min(size, impl.size_bytes)
    if kept == 0 or impl.block.data == NULL:
        return 0
    StorageImpl_begin_use(impl)
    try:
        Allocator_copy_data(allocator, block.data, impl.block.data, kept)
    finally:
        StorageImpl_end_use(impl)
    return 0


cdef StorageImpl StorageImpl_clone(StorageImpl impl):
    """Return a new storage, without owners, with a copy of the bytes."""
    cdef StorageImpl clone = StorageImpl_new()
    cdef Allocator allocator = impl.owner
    cdef size_t nbytes = impl.size_bytes
    if allocator is None:
        allocator = current_allocator(impl.block.device_type)
    StorageImpl_const_data(impl)
    clone.size_bytes, clone.was_shrunk = nbytes, impl.was_shrunk
    clone.owner, clone.is_resizable = allocator, impl.is_resizable
    StorageImpl_begin_use(impl)
    try:
        Allocator_clone(allocator, impl.block.data, nbytes, &clone.block)
    finally:
        StorageImpl_end_use(impl)
    StorageImpl_watch(clone)
    return clone


cdef StorageImpl StorageImpl_lazy_clone(StorageImpl impl):
    """Return a new storage, without owners, that shares the bytes, or holds a copy where they cannot be shared."""
    clone = cow_lazy_clone(impl)
    if clone is None:
        clone = StorageImpl_clone(impl)
        report_copy(clone.size_bytes)
    return clone
