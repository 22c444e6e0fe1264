from _ctypes import CFuncPtr
from collections.abc import Callable

from typing_extensions import CapsuleType, disjoint_base

from tensix.core.allocator import Allocator

__all__ = ["CallbackAllocator", "FunctionAllocator"]

@disjoint_base
class CallbackAllocator(Allocator):
    """Give out memory that two Python callables make and free."""
    def __init__(
        self,
        allocate: Callable[[int], int | None],
        deallocate: Callable[[int], object],
        *,
        alignment: int = 16,
    ) -> None: ...
    @property
    def alignment(self) -> int: ...

@disjoint_base
class FunctionAllocator(Allocator):
    """Give out memory that two C functions make and free."""
    def __init__(
        self, malloc: CFuncPtr | CapsuleType | int, free: CFuncPtr | CapsuleType | int, *, alignment: int = 16
    ) -> None: ...
    @property
    def alignment(self) -> int: ...
