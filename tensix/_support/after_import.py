"""Calls that wait for the import of a module."""

import sys

__all__ = ["AfterImport"]


class AfterImport:
    """Call a function once a module was imported: the first of several that the program imports.

    A finder in `sys.meta_path`, which finds what the others find. To ask for a module, as `importlib.util.find_spec`
    does, does not import it.

    Parameters
    ----------
    call : callable
        Gets the name of the module when it was executed; those that are imported meanwhile are part of it.
    *names : str
        The modules, none of which was imported.
    """

    def __init__(self, call, *names):
        self.call, self.names = call, names
        sys.meta_path.insert(0, self)

    def stop(self):
        """Wait no longer."""
        self.names = ()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name, *details):
        """Return what the other finders return, and have the loader call the function when it is done."""
        if name not in self.names:
            return None
        finders = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec")]
        spec = next(filter(None, (finder.find_spec(name, *details) for finder in finders)), None)
        execute = getattr(spec and spec.loader, "exec_module", None)  # a folder of no package has no loader
        if execute is not None:

            def execute_and_call(module):
                names = self.names
                if name not in names or module.__name__ != name:  # one loader may serve all modules of a ZIP file
                    execute(module)
                    return
                self.names = ()
                try:
                    execute(module)
                except BaseException:
                    self.names = names  # the program may try again
                    raise
                self.stop()
                self.call(name)

            spec.loader.exec_module = execute_and_call
        return spec
