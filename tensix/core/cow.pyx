"""Copy-on-write by PyTorch's names and to the letter; `Storage.lazy_clone` is what most code wants.

How it works: Note [Copy before giving up the share] in ``cow_context.pyx``.
"""
from tensix.core.cow_context cimport cow_is_cow, cow_is_simple, cow_lazy_clone
from tensix.core.data_ptr cimport DataPtr
from tensix.core.storage cimport Storage, Storage_from_new, owned
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_mutable_data

__all__ = ["has_simple_data_ptr", "is_cow_data_ptr", "lazy_clone_storage", "materialize_cow_storage"]


def lazy_clone_storage(Storage storage not None):
    """Return a storage that shares the bytes copy-on-write, or None if this block cannot be shared.

    Returns
    -------
    Storage or None
        None where an ordinary clone is needed: the block's context is more than the allocation.

    Examples
    --------
    >>> from tensix.core import Storage, cow
    >>> storage = Storage(64)
    >>> cow.lazy_clone_storage(storage).data_ptr() == storage.data_ptr()
    True
    """
    clone = cow_lazy_clone(owned(storage))
    return None if clone is None else Storage_from_new(clone)


def has_simple_data_ptr(Storage storage not None):
    """Return whether the block's context is nothing but the allocation, so that it can be shared."""
    return cow_is_simple(owned(storage))


def is_cow_data_ptr(DataPtr data_ptr not None):
    """Return whether a block is shared copy-on-write."""
    return cow_is_cow(data_ptr.seen)


def materialize_cow_storage(Storage storage not None):
    """Give a copy-on-write storage its own bytes now, copying them unless it is the last to share them.

    Raises
    ------
    RuntimeError
        If the storage is not copy-on-write, or read-only.
    """
    cdef StorageImpl impl = owned(storage)
    if not cow_is_cow(&impl.block):
        raise RuntimeError("cannot materialize: the storage is not copy-on-write. Ask is_cow() first.")
    StorageImpl_mutable_data(impl)
