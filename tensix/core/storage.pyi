from collections.abc import Callable
from typing import Any, Self, SupportsIndex, TypeAlias, final

from tensix.core.allocator import Allocator
from tensix.core.data_ptr import DataPtr
from tensix.core.device import Device
from tensix.core.intrusive_ptr import IntrusivePtr
from tensix.core.storage_impl import StorageImpl
from tensix.core.weak_intrusive_ptr import WeakIntrusivePtr

__all__ = ["NullError", "Storage", "get_storage_impl_create", "make_storage_impl", "set_storage_impl_create"]

_Factory: TypeAlias = Callable[[int, DataPtr | None, Allocator | None, bool], StorageImpl]

class NullError(RuntimeError, AttributeError):
    """A null storage or an undefined tensor was asked for what it does not have, such as a device."""
    def __init__(self, message: str) -> None: ...

@final
class Storage:
    """Own a storage with one strong count."""
    def __init__(
        self, nbytes: SupportsIndex = 0, allocator: Allocator | None = None, resizable: bool = False
    ) -> None: ...
    @staticmethod
    def from_data_ptr(
        nbytes: SupportsIndex, data_ptr: DataPtr, allocator: Allocator | None = None, resizable: bool = False
    ) -> Storage: """Make a storage of an existing block, which is moved in."""
    @staticmethod
    def from_impl(impl: IntrusivePtr[StorageImpl]) -> Storage:
        """Make a handle of a pointer to a `StorageImpl`, which keeps its own count; null gives a null storage."""
    @staticmethod
    def create_legacy(device: str | Device = "cpu") -> Storage:
        """Make an empty, resizable storage from the device's allocator."""
    @property
    def impl(self) -> StorageImpl | None: """The bare `StorageImpl`, or None."""
    @property
    def allocator(self) -> Allocator | None: """The allocator that makes and resizes the block, or None."""
    @property
    def device(self) -> Device: """Where the bytes are."""
    @property
    def device_type(self) -> str: """The type of the device, such as ``"cpu"``."""
    @property
    def resizable(self) -> bool: """Whether the size may change; setting it needs an allocator."""
    @resizable.setter
    def resizable(self, resizable: bool) -> None: ...
    @property
    def readonly(self) -> bool: """Whether writing is refused; can be set, not unset."""
    @readonly.setter
    def readonly(self, readonly: bool) -> None: ...
    def nbytes(self) -> int: """Return the size in bytes."""
    def data_ptr(self) -> int: """Return the address for reading, 0 for none; never materializes."""
    def mutable_data_ptr(self) -> int:
        """Return the address for writing; a copy-on-write storage gets its own bytes first."""
    def data_ptr_object(self) -> DataPtr: """Return a borrowed view of the block's `DataPtr`; it stays current."""
    def set_data_ptr(self, data_ptr: DataPtr) -> DataPtr:
        """Move another block in, after materializing, and return the old one; sizes do not change."""
    def set_data_ptr_noswap(self, data_ptr: DataPtr) -> None:
        """Move another block in and free the old one, without materializing."""
    def resize_(self, nbytes: SupportsIndex) -> Self:
        """Change the size, keeping the first bytes that fit; new bytes are not initialised."""
    def clone(self) -> Storage: """Return a storage with a copy of the bytes, made at once and writable."""
    def lazy_clone(self) -> Storage:
        """Return a storage that shares the bytes until one of the two is written (copy-on-write)."""
    def maybe_apply_refcounted_deleter(self) -> None:
        """Put the block under a reference count of its own, so that `share` can be called; idempotent."""
    def share(self) -> Storage:
        """Return another storage over the same bytes: each write through one is seen through the other."""
    def is_cow(self) -> bool:
        """Return whether the bytes may be shared copy-on-write, so that a first write may copy."""
    def is_shared(self) -> bool:
        """Return whether the bytes are in memory that other processes can have too, of a `SharedMemoryAllocator`."""
    def is_alias_of(self, other: Storage) -> bool:
        """Return whether a write to one is seen by the other; copy-on-write sharers are not aliases."""
    def use_count(self) -> int: """Return how many handles and tensors own the storage, 0 for null."""
    def weak_use_count(self) -> int: """Return the number of weak handles plus one, 0 for null."""
    def unique(self) -> bool: """Return whether this handle is the only owner."""
    def weak(self) -> WeakIntrusivePtr[StorageImpl]:
        """Return a weak pointer to the `StorageImpl`; it keeps no byte alive."""
    def reset(self) -> None: """Give the storage up and become null."""
    def unsafe_release_storage_impl(self) -> StorageImpl | None:
        """Give out the bare `StorageImpl` with its strong count and become null."""
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Storage: ...
    def __deepcopy__(self, memo: dict[int, Any]) -> Storage: ...

def set_storage_impl_create(device_type: str | Device, fn: _Factory | None) -> None:
    """Register the factory that makes the storages of a device type."""
def get_storage_impl_create(device_type: str | Device) -> _Factory | None:
    """Return the factory that makes the storages of a device type, or None if there is none."""
def make_storage_impl(
    nbytes: SupportsIndex,
    data_ptr: DataPtr | None = None,
    allocator: Allocator | None = None,
    resizable: bool = False,
    device: str | Device = "cpu",
) -> Storage: """Make a storage by the device's factory, or a plain one if it has none."""
