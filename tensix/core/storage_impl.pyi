from typing import NoReturn, SupportsIndex

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.core.data_ptr import DataPtr
from tensix.core.device import Device
from tensix.core.intrusive_target import IntrusiveTarget

__all__ = ["StorageImpl"]

@disjoint_base
class StorageImpl(IntrusiveTarget):
    """Own a block of bytes; the target that `Storage` handles and tensors count."""
    def __init__(
        self,
        nbytes: SupportsIndex = 0,
        data_ptr: DataPtr | None = None,
        allocator: Allocator | None = None,
        resizable: bool = False,
    ) -> None: ...
    def __copy__(self) -> NoReturn: ...
    @property
    def allocator(self) -> Allocator | None: """The allocator that makes and resizes the block, or None."""
    @allocator.setter
    def allocator(self, allocator: Allocator | None) -> None: ...
    @property
    def device(self) -> Device: """Where the bytes are."""
    @property
    def resizable(self) -> bool: """Whether the size may change; setting it needs an allocator."""
    @resizable.setter
    def resizable(self, resizable: bool) -> None: ...
    @property
    def readonly(self) -> bool:
        """Whether writing is refused; once true it stays, a writable copy is made by `Storage.clone`."""
    @readonly.setter
    def readonly(self, readonly: bool) -> None: ...
    def nbytes(self) -> int: """Return the size in bytes."""
    def set_nbytes(self, nbytes: SupportsIndex) -> None: """Change the recorded size; no byte is allocated or freed."""
    def data_ptr(self) -> int: """Return the address for reading, 0 for none; never materializes."""
    def mutable_data_ptr(self) -> int:
        """Return the address for writing, 0 for none; a copy-on-write storage gets its own bytes first."""
    def data_ptr_object(self) -> DataPtr: """Return a borrowed view of the block's `DataPtr`; it stays current."""
    def set_data_ptr(self, data_ptr: DataPtr) -> DataPtr:
        """Move another block in, after materializing, and return the old one."""
    def set_data_ptr_noswap(self, data_ptr: DataPtr) -> None:
        """Move another block in and free the old one, without materializing."""
    def swap_data_ptr(self, other: StorageImpl) -> None:
        """Exchange block, size and allocator with another storage, after materializing both; both must be writable."""
    def reset(self) -> None: """Free the bytes and set the size to 0."""
    def unique_storage_share_external_pointer(self, data_ptr: DataPtr, nbytes: SupportsIndex) -> None:
        """Take external memory over in place of the own block; the storage has no allocator afterwards."""
    def set_throw_on_mutable_data_ptr(self) -> None: """Refuse every later access for writing."""
    def set_throw_on_immutable_data_ptr(self) -> None: """Refuse every later access, for reading too."""
    def set_warn_deprecated_on_mutable_data_ptr(self) -> None: """Warn once, at the next access for writing."""
    def release_data_and_set_meta_custom_data_ptr_error_msg(self, message: str) -> None:
        """Free the bytes; later accesses raise an error with `message`."""
    def clear_meta_custom_data_ptr_error_msg(self) -> None:
        """Allow access again; the bytes stay gone until a new block is set."""
