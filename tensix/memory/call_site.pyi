from collections.abc import Collection
from os import PathLike
from typing import NamedTuple

from typing_extensions import disjoint_base

__all__ = ["CallSites", "Frame"]

class Frame(NamedTuple):
    file: str
    line: int
    function: str

@disjoint_base
class CallSites:
    def __init__(self, depth: int = 32, through: Collection[str | PathLike[str]] | None = None) -> None: ...
    @property
    def depth(self) -> int: ...
    def capture(self) -> int: ...
    def frames(self, site: int) -> list[Frame]: ...
    def place(self, site: int) -> Frame: ...
    def __len__(self) -> int: ...
