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
    """Stand on another allocator; the base of the adaptors in this package."""
    def __init__(self, upstream: Allocator | None = None) -> None: ...
    @property
    def upstream(self) -> Allocator: ...
    @property
    def alignment(self) -> int: """Every block's address is a multiple of so many bytes."""

@disjoint_base
class AlignmentAdaptor(Adaptor):
    """Give out blocks whose addresses are multiples of a number of bytes, whatever upstream promises."""
    def __init__(self, upstream: Allocator | None, alignment: int) -> None: ...

@disjoint_base
class FailureCallbackAdaptor(Adaptor):
    """Call a function when upstream has no memory, and ask upstream once more if it says so."""
    def __init__(self, upstream: Allocator | None, callback: Callable[[int], object]) -> None: ...
    @property
    def callback(self) -> Callable[[int], object]: ...

@disjoint_base
class GuardAdaptor(Adaptor):
    """Put guard bytes around every block and check them when it is freed."""
    def __init__(self, upstream: Allocator | None = None, guard_bytes: int = 64) -> None: ...
    @property
    def guard_bytes(self) -> int: """How many bytes are guarded behind each block."""

@disjoint_base
class LimitingAdaptor(Adaptor):
    """Refuse what would bring the bytes in use above a limit."""
    def __init__(self, upstream: Allocator | None, limit: int | str) -> None: ...
    @property
    def limit(self) -> int: """The most bytes in use at once; may be set, also below what is in use."""
    @limit.setter
    def limit(self, limit: int | str) -> None: ...
    @property
    def in_use(self) -> int: """Bytes in use."""

class _Writable(Protocol):
    def write(self, line: str, /) -> object: ...

@disjoint_base
class LoggingAdaptor(Adaptor):
    """Write a line of JSON for every allocation, free and failure."""
    def __init__(self, upstream: Allocator | None, file: str | os.PathLike[str] | _Writable) -> None: ...

class StatisticsAdaptor(Adaptor):
    """Count the blocks and bytes that come from an allocator and go back."""
    @property
    def current_bytes(self) -> int: """Bytes in use."""
    @property
    def current_count(self) -> int: """Blocks in use."""
    @property
    def peak_bytes(self) -> int: """The most bytes that were in use at once, since the beginning or `reset_peak`."""
    @property
    def peak_count(self) -> int: """The most blocks that were in use at once, since the beginning or `reset_peak`."""
    @property
    def total_bytes(self) -> int: """Bytes ever allocated."""
    @property
    def total_count(self) -> int: """Blocks ever allocated."""
    def reset_peak(self) -> None: """Let the peaks start from what is in use now."""

class TrackedBlock(NamedTuple):
    """Say what a living block is and where it was asked for."""
    address: int
    nbytes: int
    frames: list[Frame]
    place: Frame

@disjoint_base
class TrackingAdaptor(Adaptor):
    """Remember the living blocks of an allocator with the lines that asked for them."""
    def __init__(
        self,
        upstream: Allocator | None = None,
        depth: int = 32,
        through: Collection[str | os.PathLike[str]] | None = None,
    ) -> None: ...
    @property
    def call_sites(self) -> CallSites: ...
    def blocks(self) -> list[TrackedBlock]:
        """Return a list of `TrackedBlock`, one for each living block, oldest first."""
    def table(self, most: int = 10) -> str:
        """Return a text with a line for each place that holds memory, the largest first."""
