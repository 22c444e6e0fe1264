from typing import Self

from typing_extensions import disjoint_base

__all__ = ["IntrusiveTarget"]

@disjoint_base
class IntrusiveTarget:
    def __copy__(self) -> Self: ...
    def release_resources(self) -> None: ...
