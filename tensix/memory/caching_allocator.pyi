from typing import NamedTuple

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator

__all__ = ["CachingAllocator", "CachingStats"]

class CachingStats(NamedTuple):
    in_use: int
    cached: int
    max_cached: int
    hits: int
    misses: int
    resident: int
    reused: int
    @property
    def reserved(self) -> int: ...
    @property
    def hit_rate(self) -> float: ...

@disjoint_base
class CachingAllocator(Allocator):
    def __init__(
        self, upstream: Allocator | None = None, max_cached: int | str | None = None, max_idle: float = 1.0
    ) -> None: ...
    @property
    def upstream(self) -> Allocator: ...
    @property
    def alignment(self) -> int: ...
    @property
    def max_cached(self) -> int: ...
    @max_cached.setter
    def max_cached(self, value: int | str) -> None: ...
    @property
    def max_idle(self) -> float: ...
    @max_idle.setter
    def max_idle(self, value: float) -> None: ...
    def trim(self) -> int: ...
    def stats(self) -> CachingStats: ...
