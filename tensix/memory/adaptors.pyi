import os
from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.memory.call_site import CallSites, Frame

__all__ = [
    "Adaptor",
    "AlignmentAdaptor",
    "FailureCallbackAdaptor",
    "GuardAdaptor",
    "LimitingAdaptor",
    "LoggingAdaptor",
    "StatisticsAdaptor",
    "TrackedBlock",
    "TrackingAdaptor",
]

@disjoint_base
class Adaptor(Allocator):
    def __init__(self, upstream: Allocator | None = None) -> None: ...
    @property
    def upstream(self) -> Allocator: ...
    @property
    def alignment(self) -> int: ...

@disjoint_base
class AlignmentAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None, alignment: int) -> None: ...

@disjoint_base
class FailureCallbackAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None, callback: Callable[[int], object]) -> None: ...
    @property
    def callback(self) -> Callable[[int], object]: ...

@disjoint_base
class GuardAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None = None, guard_bytes: int = 64) -> None: ...
    @property
    def guard_bytes(self) -> int: ...

@disjoint_base
class LimitingAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None, limit: int | str) -> None: ...
    @property
    def limit(self) -> int: ...
    @limit.setter
    def limit(self, limit: int | str) -> None: ...
    @property
    def in_use(self) -> int: ...

class _Writable(Protocol):
    def write(self, line: str, /) -> object: ...

@disjoint_base
class LoggingAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None, file: str | os.PathLike[str] | _Writable) -> None: ...

class StatisticsAdaptor(Adaptor):
    @property
    def current_bytes(self) -> int: ...
    @property
    def current_count(self) -> int: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def peak_count(self) -> int: ...
    @property
    def total_bytes(self) -> int: ...
    @property
    def total_count(self) -> int: ...
    def reset_peak(self) -> None: ...

class TrackedBlock(NamedTuple):
    address: int
    nbytes: int
    frames: list[Frame]
    place: Frame

@disjoint_base
class TrackingAdaptor(Adaptor):
    def __init__(
        self,
        upstream: Allocator | None = None,
        depth: int = 32,
        through: Collection[str | os.PathLike[str]] | None = None,
    ) -> None: ...
    @property
    def call_sites(self) -> CallSites: ...
    def blocks(self) -> list[TrackedBlock]: ...
    def table(self, most: int = 10) -> str: ...
