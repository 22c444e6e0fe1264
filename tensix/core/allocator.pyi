from typing import SupportsIndex

from typing_extensions import disjoint_base

from tensix.core.data_ptr import DataPtr, _Deleter
from tensix.core.device import Device

__all__ = ["Allocator", "OutOfMemoryError", "get_allocator", "set_allocator", "use_allocator"]

class OutOfMemoryError(MemoryError):
    """Say that memory could not be allocated, in numbers or, as ``OutOfMemoryError("the pool is full")``, in words."""
    nbytes: int | None
    alignment: int | None
    in_use: int | None
    limit: int | None
    cached: int | None
    remarks: str
    def __init__(
        self,
        nbytes: int | str,
        alignment: int | None = None,
        in_use: int | None = None,
        limit: int | None = None,
        cached: int | None = None,
    ) -> None: ...

@disjoint_base
class Allocator:
    """Give out memory; subclass it and override `allocate`."""
    def allocate(self, nbytes: int) -> DataPtr:
        """Return a `DataPtr` to at least `nbytes` bytes; a null one is right for 0."""
    def clone(self, address: int, nbytes: int) -> DataPtr:
        """Return a new block holding a copy of `nbytes` bytes at `address`."""
    def is_simple_data_ptr(self, data_ptr: DataPtr) -> bool:
        """Return whether the context is nothing but the allocation, so that it can be wrapped in another one."""
    def raw_deleter(self) -> _Deleter:
        """Return the C function that frees any of our blocks, in a form that `DataPtr` takes; 0 if there is none."""
    def raw_allocate(self, nbytes: SupportsIndex) -> int:
        """Return the address of a block that the caller frees with `raw_deallocate`."""
    def raw_deallocate(self, address: SupportsIndex) -> None: """Free a block by its address alone; 0 is accepted."""
    def copy_data(self, dst: int, src: int, nbytes: int) -> None:
        """Copy bytes between two blocks, which must not overlap."""

class use_allocator:
    """Serve every request made in a scope by one allocator."""
    allocator: Allocator
    def __init__(self, allocator: Allocator, device: str | Device = "cpu") -> None: ...
    def __enter__(self) -> Allocator: ...
    def __exit__(self, *exc_info: object) -> None: ...

def set_allocator(device_type: str | Device, allocator: Allocator | None, priority: int = 0) -> None:
    """Register the allocator of a device type."""
def get_allocator(device_type: str | Device = "cpu") -> Allocator:
    """Return the allocator that serves a device type in this context."""
