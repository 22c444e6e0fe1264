from typing import SupportsIndex, final

from tensix.core.allocator import Allocator
from tensix.core.data_ptr import DataPtr
from tensix.tensors.type_meta import TypeMeta

__all__ = ["ElementAllocator"]

@final
class ElementAllocator(Allocator):
    """Make blocks of constructed elements; `TypedStorage` is the comfortable way to have one."""
    def __init__(self, type_meta: TypeMeta, upstream: Allocator | None = None) -> None: ...
    @property
    def type_meta(self) -> TypeMeta: ...
    @property
    def upstream(self) -> Allocator: ...
    def allocate(self, nbytes: int) -> DataPtr: """Return a block of default-constructed elements."""
    def clone(self, address: SupportsIndex, nbytes: SupportsIndex) -> DataPtr:
        """Return a block with a copy of every element; parameters as for `Allocator.clone`."""
    def copy_data(self, dst: SupportsIndex, src: SupportsIndex, nbytes: SupportsIndex) -> None:
        """Assign elements to others; parameters as for `Allocator.copy_data`."""
    def is_simple_data_ptr(self, data_ptr: DataPtr) -> bool: """Return False: the context knows the elements."""
