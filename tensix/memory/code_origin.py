"""Private: where code comes from, by its file; call sites ask, once for each file.

Note [Whose line it was]
~~~~~~~~~~~~~~~~~~~~~~~~
A block belongs to the innermost line of the user's program. Between that line and the allocation there are often some
of NumPy, of pandas, of a pool of threads. That one of those allocated tells a user little; its caller does. So files
have an order, and of the frames of a stack whose files come first the innermost one counts:

1. the user's program: every file that is none of the following, and code without a file, as in a notebook;
2. the packages that ``through`` names: by default all that are installed, and the scripts that came with them;
3. the standard library;
4. NumPy.

So there is a line even without the user's program: ``python -m some.package`` has lines of that package, a pool of
threads that was given a function of NumPy has its own. Frames of tensix and of the interpreter's frozen modules are in
no stack that a user gets.

A package that is installed for development lies in its source folder, and so is the user's.
"""

import os
import sys
from collections.abc import Collection
from importlib.util import find_spec

import numpy as np

__all__ = ["HIDDEN", "USER", "CodeOrigins"]

# The nearest to the user first.
USER, PACKAGE, STANDARD_LIBRARY, NUMPY, HIDDEN = range(5)

ALL_INSTALLED = "site-packages"  # in place of the name of a package
INSTALLED_FOLDERS = tuple(f"{os.sep}{name}{os.sep}" for name in (ALL_INSTALLED, "dist-packages"))
SCRIPTS_FOLDER = os.path.dirname(sys.executable or "")
STANDARD_LIBRARY_FOLDER = os.path.dirname(os.__file__) + os.sep
NUMPY_FOLDER = os.path.dirname(np.__file__) + os.sep
HIDDEN_FILES = (os.path.dirname(os.path.dirname(__file__)) + os.sep, "<frozen ")


class CodeOrigins(dict):
    """Say of each file where its code comes from: a dict that finds out what it is asked for the first time.

    See Note [Whose line it was]. `through` is as of `CallSites`, which raises the same errors; None means
    ``["site-packages"]``.
    """

    def __init__(self, through=None):
        names = [ALL_INSTALLED] if through is None else through
        if isinstance(names, (str, bytes)) or not isinstance(names, Collection):
            raise TypeError(f"through is a list of packages, such as ['pandas'], found {names!r}.")
        self.all_installed = ALL_INSTALLED in names
        self.named = tuple(place for name in names if name != ALL_INSTALLED for place in places_of(name))

    def __missing__(self, file):
        found = self[file] = self.origin_of(file)
        return found

    def origin_of(self, file):
        """Return where the code of a file comes from."""
        is_installed = any(folder in file for folder in INSTALLED_FOLDERS)
        if file.startswith(HIDDEN_FILES):
            return HIDDEN
        if file.startswith(NUMPY_FOLDER):
            return NUMPY
        if file.startswith(self.named):
            return PACKAGE
        if self.all_installed and (is_installed or os.path.dirname(file) == SCRIPTS_FOLDER != ""):
            return PACKAGE
        if file.startswith(STANDARD_LIBRARY_FOLDER) and not is_installed:  # site-packages may lie below
            return STANDARD_LIBRARY
        return USER


def places_of(name):
    """Return how the files of a package begin, which is one folder or file for most; or those in a folder."""
    if isinstance(name, str) and all(part.isidentifier() for part in name.split(".")):
        try:
            found = find_spec(name)
        except (ImportError, ValueError):  # the package around it is missing; it was not imported in the ordinary way
            found = None
        if found is None:
            raise ValueError(f"there is no package {name!r} to see through: a folder is given as {f'./{name}'!r}.")
        if found.submodule_search_locations is None:
            return [found.origin] if found.has_location else []
        return [os.path.join(folder, "") for folder in found.submodule_search_locations]
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f"through holds names of packages and folders, found {name!r}.")
    folder = os.path.abspath(name)
    if not os.path.isdir(folder):
        raise ValueError(f"there is no folder {folder!r} to see through.")
    return [os.path.join(folder, "")]
