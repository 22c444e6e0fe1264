from collections.abc import Callable

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator

__all__ = ["CallbackAllocator"]

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
