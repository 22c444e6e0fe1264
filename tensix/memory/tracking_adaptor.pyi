from typing import NamedTuple

from typing_extensions import disjoint_base

from tensix.core.allocator import Allocator
from tensix.memory.adaptor import Adaptor
from tensix.memory.call_site import CallSites, Frame

__all__ = ["TrackedBlock", "TrackingAdaptor"]

class TrackedBlock(NamedTuple):
    address: int
    nbytes: int
    frames: list[Frame]

@disjoint_base
class TrackingAdaptor(Adaptor):
    def __init__(self, upstream: Allocator | None = None, depth: int = 32) -> None: ...
    @property
    def call_sites(self) -> CallSites: ...
    def blocks(self) -> list[TrackedBlock]: ...
    def table(self, most: int = 10) -> str: ...
