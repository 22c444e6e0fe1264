"""Dimensions that are named by `axis`: one or more, counted from either end."""

import operator
from collections.abc import Sequence

__all__ = ["as_tuple", "wrapped_axes"]


def as_tuple(numbers: int | Sequence[int]) -> tuple[int, ...]:
    """Return one or more ints as a tuple."""
    return tuple(numbers) if isinstance(numbers, (tuple, list)) else (operator.index(numbers),)


def wrapped_axes(axes: tuple[int, ...], ndim: int) -> list[int]:
    """Return dimensions counted from the front, each once."""
    found = [operator.index(axis) for axis in axes]
    for axis in found:
        if not -ndim <= axis < ndim:
            raise IndexError(f"dimension {axis} is out of range for {ndim} dimensions.")
    found = [axis % ndim for axis in found]
    if len(set(found)) < len(found):
        raise ValueError(f"each dimension may be named once, found {axes}.")
    return found
