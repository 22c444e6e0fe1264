"""Operators by name: ``tensix.ops.<namespace>.<operator>(...)``.

A call finds the overload that its arguments fit; ``tensix.ops.tensix.add.Tensor`` is one overload's table.
"""

from tensix.dispatch import dispatcher

__all__ = []


def __getattr__(namespace):
    """Return the operators of a namespace; the next time they are found without this function."""
    if namespace.startswith("__"):
        raise AttributeError(namespace)
    found = globals()[namespace] = dispatcher.namespace(namespace)
    return found
