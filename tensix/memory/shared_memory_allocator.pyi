from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.core.data_ptr import DataPtr

__all__ = ["SharedMemoryAllocator"]

@disjoint_base
class SharedMemoryAllocator(Allocator):
    @property
    def alignment(self) -> int: ...
    @staticmethod
    def locate(address: int) -> tuple[int, int] | None: ...
    @staticmethod
    def attach(fd: int, offset: int, nbytes: int, readonly: bool = False) -> DataPtr: ...
