import os

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.core.cpu_allocator import CPUAllocator

__all__ = ["HugePageAllocator", "MappedAllocator"]

@disjoint_base
class MappedAllocator(Allocator):
    """Give every block a mapping of its own."""
    def __init__(self, directory: str | os.PathLike[str] | None = None, *, populate: bool = False) -> None: ...
    @property
    def directory(self) -> str | None: ...
    @property
    def populate(self) -> bool: ...
    @property
    def alignment(self) -> int: """Every block's address is a multiple of so many bytes, a page."""

class HugePageAllocator(CPUAllocator):
    """Give blocks of a huge page and more regions of their own, with advice to back them by huge pages."""
    def __init__(self, populate: bool = False, *, numa_node: int | None = None) -> None: ...
    @property
    def populate(self) -> bool: """Whether all pages of a large block are made at once."""
