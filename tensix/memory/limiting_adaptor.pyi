from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.memory.adaptor import Adaptor

__all__ = ["LimitingAdaptor"]

@disjoint_base
class LimitingAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None, limit: int | str) -> None: ...
    @property
    def limit(self) -> int: ...
    @limit.setter
    def limit(self, limit: int | str) -> None: ...
    @property
    def in_use(self) -> int: ...
