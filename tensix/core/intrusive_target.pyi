from typing import Self

from typing_extensions import disjoint_base

__all__ = ["IntrusiveTarget"]

@disjoint_base
class IntrusiveTarget:
    """Carry a strong and a weak count; the base of everything that handles can own."""
    def __copy__(self) -> Self: ...
    def release_resources(self) -> None:
        """Free early what weak handles do not need; override it, the default frees nothing."""
