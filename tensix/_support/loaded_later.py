"""Names of a package whose modules are loaded when one is asked for (PEP 562): no other program waits for them."""

import sys
from importlib import import_module
from types import BuiltinFunctionType, FunctionType


def loaded_later(package, sources, advice=None):
    """Return the ``__getattr__`` and ``__dir__`` of a package, or of a module from which nothing is loaded later.

    Parameters
    ----------
    package : str
        Its full name.
    sources : dict of str to (str or None)
        For each name the module that has it, below the package, or beside it if it begins with a dot; None for a module
        of that name. A module that is called like one of its names would take its place in the package.
    advice : callable, optional
        Returns what to say of a name that there is not, or None; called with the package and the name. Without it, the
        error suggests the nearest name.
    """
    namespace = vars(sys.modules[package])

    def load(name):
        if name not in sources:
            text = None if advice is None else advice(package, name)
            if text is not None:
                raise AttributeError(text)
            text = f"module {package!r} has no attribute {name!r}"
            if name.startswith("_"):
                raise AttributeError(text)
            # With `obj` too, Python would suggest a name a second time when it prints the traceback.
            raise AttributeError(Suggestion(text, name, namespace["__all__"]), name=name)
        source = sources[name]
        found = executed_module(f".{source or name}", package)
        if source is not None:
            found = getattr(found, name)
            if "." not in package and type(found) in {FunctionType, BuiltinFunctionType}:
                found.__module__ = package  # See Note [Modules of classes]
        namespace[name] = found
        return found

    def names():
        return sorted({*namespace["__all__"], *(name for name in namespace if name.startswith("__"))})

    return load, names


def executed_module(name, package):
    """Import a module, and leave none behind that was not executed.

    Between the moments at which CPython enters a module into `sys.modules` and executes it, an interrupt would leave it
    there empty, for all imports that follow.
    """
    before = set(sys.modules)
    try:
        return import_module(name, package)
    except BaseException:
        for added in sys.modules.keys() - before:
            if all(attribute.startswith("__") for attribute in vars(sys.modules[added])):
                del sys.modules[added]
        raise


class Suggestion:
    """The text of an error, with the nearest name, which is looked for when the text is read: `hasattr` reads none."""

    def __init__(self, text, name, names):
        self.text, self.name, self.names = text, name, names

    def __str__(self):
        near = import_module("difflib").get_close_matches(self.name, self.names, 1)
        return f"{self.text}. Did you mean: {near[0]!r}?" if near else self.text

    def __repr__(self):
        return repr(str(self))

    def __reduce__(self):
        return str, (str(self),)
