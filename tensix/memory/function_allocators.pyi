from _ctypes import CFuncPtr
from collections.abc import Callable

from typing_extensions import CapsuleType, disjoint_base

from tensix.core.allocator import Allocator

__all__ = ["CallbackAllocator", "FunctionAllocator"]

@disjoint_base
class CallbackAllocator(Allocator):
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
    def __init__(
        self, malloc: CFuncPtr | CapsuleType | int, free: CFuncPtr | CapsuleType | int, *, alignment: int = 16
    ) -> None: ...
    @property
    def alignment(self) -> int: ...
