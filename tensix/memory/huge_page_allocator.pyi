from tensix.core.cpu_allocator import CPUAllocator

__all__ = ["HugePageAllocator"]

class HugePageAllocator(CPUAllocator):
    def __init__(self, populate: bool = False, *, numa_node: int | None = None) -> None: ...
    @property
    def populate(self) -> bool: ...
