from typing_extensions import disjoint_base

from tensix.core.cpu_allocator import CPUAllocator

__all__ = ["HugePageAllocator"]

@disjoint_base
class HugePageAllocator(CPUAllocator):
    def __init__(self, *, populate: bool = False, numa_node: int | None = None) -> None: ...
    @property
    def populate(self) -> bool: ...
