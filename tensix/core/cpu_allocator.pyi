from typing import SupportsIndex

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator

__all__ = ["CPUAllocator"]

@disjoint_base
class CPUAllocator(Allocator):
    """Give out aligned blocks of main memory."""
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
    def numa_node(self) -> int | None: """The NUMA node that pages prefer, or None."""
    @staticmethod
    def bytes_in_use() -> int:
        """Return the bytes of main memory that are given out and not yet freed, by all allocators that report."""
    def raw_deleter(self) -> int: """Return the address of the function that frees any CPU block."""
    def raw_deallocate(self, address: SupportsIndex) -> None: """Free a block by its address alone; 0 is accepted."""
