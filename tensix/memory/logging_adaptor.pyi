import os
from typing import Protocol

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.memory.adaptor import Adaptor

__all__ = ["LoggingAdaptor"]

class _Writable(Protocol):
    def write(self, line: str, /) -> object: ...

@disjoint_base
class LoggingAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None, file: str | os.PathLike[str] | _Writable) -> None: ...
