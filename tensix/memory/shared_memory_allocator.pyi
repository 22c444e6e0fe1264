from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.core.data_ptr import DataPtr

__all__ = ["SharedMemoryAllocator"]

@disjoint_base
class SharedMemoryAllocator(Allocator):
    """Give out blocks that other processes can attach."""
    @property
    def alignment(self) -> int: """Every block's address is a multiple of so many bytes."""
    @staticmethod
    def locate(address: int) -> tuple[int, int] | None: """Return where an address lies in shared memory."""
    @staticmethod
    def attach(fd: int, offset: int, nbytes: int, readonly: bool = False) -> DataPtr:
        """Return a block that another process made, or this one."""
