"""What an object refers to, as Python's collector sees it."""

import gc
from types import ModuleType

__all__ = []

attributes_of_module = ModuleType.__dict__["__dict__"].__get__  # what a class of modules may override


def referents_of(thing):
    """Return a sequence of what an object refers to.

    Notes
    -----
    A module is asked for its variables only. What else it keeps is its own affair: CPython 3.12.0 to 3.12.5 list freed
    objects of asyncio's, which live and are freed again if the collector hands them out, and then are listed without
    an end.

    Lists and tuples are returned themselves: large ones are not copied.
    """
    kind = type(thing)
    if kind is list or kind is tuple:
        return thing
    return [attributes_of_module(thing)] if issubclass(kind, ModuleType) else gc.get_referents(thing)
