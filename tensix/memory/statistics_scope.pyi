from typing import Self

from typing_extensions import disjoint_base

__all__ = ["statistics"]

@disjoint_base
class statistics:
    """Count the blocks that are allocated in a scope."""
    def __init__(self, this_thread: bool = False) -> None: ...
    @property
    def this_thread(self) -> bool: ...
    @property
    def current_bytes(self) -> int: """Bytes of blocks allocated in the scope and not freed yet."""
    @property
    def current_count(self) -> int: """Blocks allocated in the scope and not freed yet."""
    @property
    def peak_bytes(self) -> int: """The most bytes that were allocated in the scope and not freed at one time."""
    @property
    def peak_count(self) -> int: """The most blocks that were allocated in the scope and not freed at one time."""
    @property
    def total_bytes(self) -> int: """Bytes of all blocks allocated in the scope."""
    @property
    def total_count(self) -> int: """All blocks allocated in the scope."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...
