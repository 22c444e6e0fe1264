from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.memory.adaptor import Adaptor

__all__ = ["GuardAdaptor"]

@disjoint_base
class GuardAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None = None, guard_bytes: int = 64) -> None: ...
    @property
    def guard_bytes(self) -> int: ...
