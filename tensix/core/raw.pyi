from typing import TypeVar

from tensix.core.intrusive_target import IntrusiveTarget

__all__ = ["decref", "incref", "lock", "make_weak", "use_count", "weak_decref", "weak_incref"]

_T = TypeVar("_T", bound=IntrusiveTarget | None)

def incref(target: IntrusiveTarget | None) -> None: """Add a strong count."""
def decref(target: IntrusiveTarget | None) -> None: """Take away a strong count that no handle holds."""
def use_count(target: IntrusiveTarget | None) -> int: """Return the strong count, 0 for None or an expired target."""
def make_weak(target: _T) -> _T:
    """Add a weak count and return the target, for `weak_decref()` or `WeakIntrusivePtr.reclaim()` to take."""
def weak_incref(target: IntrusiveTarget | None) -> None: """Add a weak count."""
def weak_decref(target: IntrusiveTarget | None) -> None: """Take away a weak count."""
def lock(target: _T) -> _T | None: """Add a strong count if one is left."""
