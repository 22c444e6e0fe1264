from typing import NamedTuple, Self

from typing_extensions import disjoint_base

from tensix.memory.call_site import Frame

__all__ = ["CopyRow", "copies"]

class CopyRow(NamedTuple):
    place: Frame
    nbytes: int
    times: int

@disjoint_base
class copies:
    @property
    def rows(self) -> list[CopyRow]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def count(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...
