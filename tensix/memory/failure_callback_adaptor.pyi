from collections.abc import Callable

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.memory.adaptor import Adaptor

__all__ = ["FailureCallbackAdaptor"]

@disjoint_base
class FailureCallbackAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None, callback: Callable[[int], object]) -> None: ...
    @property
    def callback(self) -> Callable[[int], object]: ...
