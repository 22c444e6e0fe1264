from typing import SupportsIndex

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.core.data_ptr import DataPtr

__all__ = ["CPUAllocator"]

@disjoint_base
class CPUAllocator(Allocator):
    def __init__(
        self,
        alignment: SupportsIndex = 64,
        *,
        zero_fill: bool = False,
        junk_fill: bool = False,
        huge_pages: bool = False,
        numa_node: int | None = None,
    ) -> None: ...
    @property
    def alignment(self) -> int: ...
    @property
    def zero_fill(self) -> bool: ...
    @property
    def junk_fill(self) -> bool: ...
    @property
    def huge_pages(self) -> bool: ...
    @property
    def numa_node(self) -> int | None: ...
    @staticmethod
    def bytes_in_use() -> int: ...
    def allocate(self, nbytes: SupportsIndex) -> DataPtr: ...
    def raw_deleter(self) -> int: ...
    def raw_deallocate(self, address: SupportsIndex) -> None: ...
