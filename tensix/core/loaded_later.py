"""Names of a package whose modules are loaded when one is asked for (PEP 562): no other program waits for them."""

import sys
from importlib import import_module
from types import BuiltinFunctionType, FunctionType


def loaded_later(package, sources, advice=None):
    """Return the ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its full name.
    sources : dict of str to (str or None)
        For each name the module that has it, below the package, or beside it if it begins with a dot; None for a module
        of that name. A module that is called like one of its names would take its place in the package.
    advice : callable, optional
        Returns what to say of a name that there is not, or None; called with the package and the name.
    """
    namespace = vars(sys.modules[package])

    def load(name):
        if name not in sources:
            text = None if advice is None else advice(package, name)
            raise AttributeError(text or f"module {package!r} has no attribute {name!r}")
        source = sources[name]
        found = import_module(f".{source or name}", package)
        if source is not None:
            found = getattr(found, name)
            if "." not in package and type(found) in {FunctionType, BuiltinFunctionType}:
                found.__module__ = package  # See Note [Modules of classes]
        namespace[name] = found
        return found

    def names():
        return sorted({*namespace["__all__"], *(name for name in namespace if name.startswith("__"))})

    return load, names
