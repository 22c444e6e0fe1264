"""Operators by name: ``tensix.ops.<namespace>.<operator>(...)``.

A call finds the overload that its arguments fit; ``tensix.ops.tensix.add.Tensor`` is one overload's table.
"""

from tensix.dispatch import dispatcher as _dispatcher  # any public name here would hide a namespace

__all__ = []


def __getattr__(namespace):
    """Return the operators of a namespace; the next time they are found without this function."""
    if namespace.startswith("__"):
        raise AttributeError(namespace)
    found = globals()[namespace] = _dispatcher.namespace(namespace)
    return found


def __dir__():
    return sorted({name.partition("::")[0] for name in _dispatcher.operators()})
