from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator

__all__ = ["Adaptor"]

@disjoint_base
class Adaptor(Allocator):
    def __init__(self, upstream: Allocator | None = None) -> None: ...
    @property
    def upstream(self) -> Allocator: ...
    @property
    def alignment(self) -> int: ...
