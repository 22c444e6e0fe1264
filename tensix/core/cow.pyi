from tensix.core.data_ptr import DataPtr
from tensix.core.storage import Storage

__all__ = ["has_simple_data_ptr", "is_cow_data_ptr", "lazy_clone_storage", "materialize_cow_storage"]

def lazy_clone_storage(storage: Storage) -> Storage | None:
    """Return a storage that shares the bytes copy-on-write, or None if this block cannot be shared."""
def has_simple_data_ptr(storage: Storage) -> bool:
    """Return whether the block's context is nothing but the allocation, so that it can be shared."""
def is_cow_data_ptr(data_ptr: DataPtr) -> bool: """Return whether a block is shared copy-on-write."""
def materialize_cow_storage(storage: Storage) -> None:
    """Give a copy-on-write storage its own bytes now, copying them unless it is the last to share them."""
