from collections.abc import Collection
from os import PathLike
from typing import Self

from typing_extensions import disjoint_base

from tensix.profiling.snapshot_file import Snapshot

__all__ = ["record", "snapshot"]

@disjoint_base
class record:
    def __init__(
        self,
        depth: int = 32,
        max_events: int = 1_000_000,
        through: Collection[str | PathLike[str]] | None = None,
        resident: float = False,
    ) -> None: ...
    @property
    def is_running(self) -> bool: ...
    def start(self) -> Self: ...
    def stop(self) -> None: ...
    def snapshot(self, *, holders: bool = True) -> Snapshot: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...

def snapshot(*, holders: bool = True) -> Snapshot: ...
