import os

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.core.cpu_allocator import CPUAllocator

__all__ = ["HugePageAllocator", "MappedAllocator"]

@disjoint_base
class MappedAllocator(Allocator):
    def __init__(self, directory: str | os.PathLike[str] | None = None, *, populate: bool = False) -> None: ...
    @property
    def directory(self) -> str | None: ...
    @property
    def populate(self) -> bool: ...
    @property
    def alignment(self) -> int: ...

class HugePageAllocator(CPUAllocator):
    def __init__(self, populate: bool = False, *, numa_node: int | None = None) -> None: ...
    @property
    def populate(self) -> bool: ...
