from types import GenericAlias
from typing import Generic, Self

from typing_extensions import TypeVar, disjoint_base

from tensix.core.intrusive_ptr import IntrusivePtr
from tensix.core.intrusive_target import IntrusiveTarget

__all__ = ["WeakIntrusivePtr"]

_T_co = TypeVar("_T_co", bound=IntrusiveTarget, covariant=True, default=IntrusiveTarget)

@disjoint_base
class WeakIntrusivePtr(Generic[_T_co]):
    """Point to a target without keeping it alive."""
    def __class_getitem__(cls, item: object, /) -> GenericAlias: ...
    def __init__(self, strong: IntrusivePtr[_T_co] | None = None) -> None: ...
    @classmethod
    def reclaim(cls, target: _T_co | None) -> Self:
        """Take over a weak count that `release()` or C code left with a bare target."""
    @classmethod
    def reclaim_copy(cls, target: _T_co | None) -> Self:
        """Make a weak pointer to a target whose weak count the caller keeps."""
    def lock(self) -> IntrusivePtr[_T_co]:
        """Return a strong pointer to the target, null if it has expired (one locked instruction)."""
    def expired(self) -> bool: """Return whether no strong handle is left; True for null."""
    def use_count(self) -> int: """Return the number of strong counts, 0 for null or expired."""
    def weak_use_count(self) -> int:
        """Return the number of weak handles, plus one while a strong one is left; 0 for null."""
    def reset(self) -> None: """Become null; frees the target object if it was dead and this the last weak handle."""
    def release(self) -> _T_co | None:
        """Give out the bare target with its weak count and become null; None when null."""
    def swap(self, other: WeakIntrusivePtr[_T_co]) -> None:
        """Exchange targets with another weak pointer; no count changes."""
    def copy(self) -> Self: """Return a further weak pointer to the same target (one locked instruction)."""
    def __copy__(self) -> Self: ...
    def move(self) -> Self: """Return a weak pointer that takes the target over; this one becomes null."""
    def unsafe_get_target(self) -> _T_co | None: """Return the bare target even if it has expired; None when null."""
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __lt__(self, other: WeakIntrusivePtr | None, /) -> bool: ...
    def __gt__(self, other: WeakIntrusivePtr | None, /) -> bool: ...
    def __le__(self, other: WeakIntrusivePtr | None, /) -> bool: ...
    def __ge__(self, other: WeakIntrusivePtr | None, /) -> bool: ...
    def __hash__(self) -> int: ...
