from typing import NamedTuple

from typing_extensions import disjoint_base

__all__ = ["CallSites", "Frame"]

class Frame(NamedTuple):
    file: str
    line: int
    function: str

@disjoint_base
class CallSites:
    def __init__(self, depth: int = 32) -> None: ...
    @property
    def depth(self) -> int: ...
    def capture(self) -> int: ...
    def frames(self, site: int) -> list[Frame]: ...
    def __len__(self) -> int: ...
