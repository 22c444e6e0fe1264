from typing import NamedTuple

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator

__all__ = ["CachingAllocator", "CachingStats"]

class CachingStats(NamedTuple):
    """Say what a `CachingAllocator` holds, and how often it could reuse a block."""
    in_use: int
    cached: int
    max_cached: int
    hits: int
    misses: int
    resident: int
    reused: int
    @property
    def reserved(self) -> int: """What was taken from upstream and not given back, in bytes: in use and cached."""
    @property
    def hit_rate(self) -> float: """The share of requests that were served from what was kept, from 0.0 to 1.0."""

@disjoint_base
class CachingAllocator(Allocator):
    """Keep blocks when they are freed and give them out again, pages and all."""
    def __init__(
        self, upstream: Allocator | None = None, max_cached: int | str | None = None, max_idle: float = 1.0
    ) -> None: ...
    @property
    def upstream(self) -> Allocator: ...
    @property
    def alignment(self) -> int: """Every block's address is a multiple of so many bytes, as far as upstream says."""
    @property
    def max_cached(self) -> int: """The most bytes to keep; may be set, and what is too much goes at once."""
    @max_cached.setter
    def max_cached(self, value: int | str) -> None: ...
    @property
    def max_idle(self) -> float:
        """Seconds without use after which a block is given back, ``inf`` for never; may be set."""
    @max_idle.setter
    def max_idle(self, value: float) -> None: ...
    def trim(self) -> int:
        """Give back everything that is kept, large and small, and return how many bytes that were."""
    def stats(self) -> CachingStats:
        """Return a `CachingStats`: bytes in use, cached, resident and reused, hits and misses."""
