from collections.abc import Collection, Hashable
from os import PathLike
from typing import Self

from typing_extensions import disjoint_base

from tensix.profiling.snapshot_file import Snapshot

__all__ = ["mark", "record", "snapshot", "task"]

@disjoint_base
class record:
    """Record every block that is allocated while it runs, in all threads."""
    def __init__(
        self,
        depth: int = 32,
        max_events: int = 1_000_000,
        through: Collection[str | PathLike[str]] | None = None,
        resident: float = False,
    ) -> None: ...
    @property
    def is_running(self) -> bool: """Whether it was started and not stopped."""
    def start(self) -> Self: """Begin to record."""
    def stop(self) -> None:
        """End the recording; harmless if it has ended. What is freed later still counts as alive in it."""
    def snapshot(self, *, holders: bool = True) -> Snapshot: """Return what is recorded so far."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...

class task:
    """Name what is allocated in a scope, in this context, in every recording that runs."""

    key: Hashable
    name: str
    began_ns: int | None
    ended_ns: int | None
    def __init__(self, key: Hashable, name: str | None = None) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...

def mark(name: str) -> None:
    """Give this moment a name in every recording that runs: the page, the summary and comparisons show it."""
def snapshot(*, holders: bool = True) -> Snapshot:
    """Return what the latest recording that still runs has recorded so far."""
