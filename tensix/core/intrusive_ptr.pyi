from collections.abc import Callable
from types import GenericAlias
from typing import Generic, ParamSpec, Self

from typing_extensions import TypeVar, disjoint_base

from tensix.core.intrusive_target import IntrusiveTarget

__all__ = ["IntrusivePtr", "make_intrusive"]

_P = ParamSpec("_P")
_T = TypeVar("_T", bound=IntrusiveTarget)
_T_co = TypeVar("_T_co", bound=IntrusiveTarget, covariant=True, default=IntrusiveTarget)

@disjoint_base
class IntrusivePtr(Generic[_T_co]):
    """Own a target with one strong count; null when made without arguments."""
    def __class_getitem__(cls, item: object, /) -> GenericAlias: ...
    def __init__(self, other: IntrusivePtr[_T_co] | None = None) -> None: ...
    @classmethod
    def singleton(cls) -> _T_co | None: """Return the target that represents null in this class, or None."""
    @classmethod
    def reclaim(cls, target: _T_co | None) -> Self:
        """Take over a strong count that `release()` or C code left with a bare target."""
    @classmethod
    def reclaim_copy(cls, target: _T_co | None) -> Self:
        """Make a pointer to a target whose strong count the caller keeps."""
    @classmethod
    def unsafe_steal_from_new(cls, target: _T_co) -> Self: ...  # type: ignore[misc]
    @classmethod
    def unsafe_reclaim_from_nonowning(cls, target: _T_co | None) -> Self:
        """Make a further owner from a borrowed target."""
    @classmethod
    def unsafe_adapt_non_heap_allocated(
        cls,
        target: _T_co,  # type: ignore[misc]
        expected_decrefs: int = 0,
    ) -> Self: """Point to a target that some arena owns: its counts are set so high that it never dies by counting."""
    def get(self) -> _T_co | None:
        """Return the bare target, or None (a subclass's ``singleton()``) when null; nothing is counted."""
    def release(self) -> _T_co | None: """Give out the bare target with its strong count and become null."""
    def reset(self) -> None: """Drop the target and become null."""
    def swap(self, other: IntrusivePtr[_T_co]) -> None: """Exchange targets with another pointer; no count changes."""
    def copy(self) -> Self: """Return a further pointer to the same target (one locked instruction)."""
    def __copy__(self) -> Self: ...
    def move(self) -> Self: """Return a pointer that takes the target over; this one becomes null."""
    def use_count(self) -> int: """Return the number of strong counts, 0 for null."""
    def weak_use_count(self) -> int: """Return the number of weak handles plus one, 0 for null."""
    def unique(self) -> bool: """Return whether this is the only strong count; weak handles do not matter."""
    def is_uniquely_owned(self) -> bool: """Return whether this is the only strong count and no weak handle is left."""
    def defined(self) -> bool: """Return whether the pointer is not null."""
    def __bool__(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __lt__(self, other: IntrusivePtr | None, /) -> bool: ...
    def __gt__(self, other: IntrusivePtr | None, /) -> bool: ...
    def __le__(self, other: IntrusivePtr | None, /) -> bool: ...
    def __ge__(self, other: IntrusivePtr | None, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __enter__(self) -> _T_co: ...
    def __exit__(self, *exc_info: object) -> None: ...

def make_intrusive(cls: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> IntrusivePtr[_T]:
    """Make a target and return the pointer that owns it."""
