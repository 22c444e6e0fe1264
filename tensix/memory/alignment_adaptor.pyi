from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.memory.adaptor import Adaptor

__all__ = ["AlignmentAdaptor"]

@disjoint_base
class AlignmentAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None, alignment: int) -> None: ...
