"""What compiled users of tensix are bound to: the version of its ABI, the classes behind it, and the C headers.

Note [The version in the names]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A module that cimports tensix looks up its classes when it is imported, by the names in ``abi.pxd``. Those end in the
version of the ABI that the module was compiled for. A name of another version finds no class here: the lookup ends
in an ImportError that tells both versions. There is no check to call, and so none to forget.

Only these classes are looked up, and before any function. What else tensix consists of may change its size from one
release to the next.
"""

import os

from tensix._support.argument_errors import names_signature
from tensix._tensor import Tensor
from tensix._version import __version__
from tensix.core import Allocator, IntrusivePtr, IntrusiveTarget, Storage, WeakIntrusivePtr
from tensix.core.raw import StrongCount

__all__ = ["ABI_VERSION", "get_include"]

ABI_VERSION = 1  # tests/cython/abi.txt says what it contains, and when to raise it

CLASSES = {
    cls.__name__: cls
    for cls in (IntrusiveTarget, IntrusivePtr, WeakIntrusivePtr, StrongCount, Allocator, Storage, Tensor)
}


@names_signature
def get_include() -> str:
    """Return the folder of the C headers: ``#include <tensix/c_api.h>`` finds the functions for C and C++.

    Returns
    -------
    str
        A path, for ``include_dirs``. Code that cimports tensix does not need it.

    Examples
    --------
    >>> import os, tensix
    >>> "c_api.h" in os.listdir(os.path.join(tensix.get_include(), "tensix"))
    True
    """
    return os.path.join(os.path.dirname(__file__), "include")


def __getattr__(name):
    """Find a class by its name and version. See Note [The version in the names]."""
    class_name, _, version = name.rpartition("_")
    if class_name not in CLASSES or not version.isdecimal():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if int(version) != ABI_VERSION:
        raise ImportError(
            f"this extension module was compiled for version {version} of tensix's ABI, but tensix {__version__} in "
            f"{os.path.dirname(__file__)} has version {ABI_VERSION}. Compile the module again with this tensix, or "
            f"install a tensix whose tensix.abi.ABI_VERSION is {version}."
        )
    return CLASSES[class_name]


def __dir__():
    return sorted(__all__)
