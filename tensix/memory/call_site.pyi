from collections.abc import Collection
from os import PathLike
from typing import NamedTuple

from typing_extensions import disjoint_base

__all__ = ["CallSites", "Frame"]

class Frame(NamedTuple):
    """Say where in a Python program something happened."""
    file: str
    line: int
    function: str

@disjoint_base
class CallSites:
    """Number the stacks of Python frames from which something is done."""
    def __init__(self, depth: int = 32, through: Collection[str | PathLike[str]] | None = None) -> None: ...
    @property
    def depth(self) -> int: ...
    def capture(self) -> int: """Return the number of the stack that this is called from."""
    def frames(self, site: int) -> list[Frame]: """Return the frames of a stack, innermost first."""
    def place(self, site: int) -> Frame:
        """Return the frame of a stack that a block belongs to: the innermost line of the user's program."""
    def __len__(self) -> int: ...
