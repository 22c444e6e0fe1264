"""The module that a compiled class says it is from.

Note [Modules of classes]
~~~~~~~~~~~~~~~~~~~~~~~~~
A public class says that it is from the package where users find it, ``tensix`` most often: in errors, in `help` and in
pickles, which stay readable when the class is moved to another file. A Python class has ``__module__ = "tensix"`` in
its body. Of a compiled class Python reads the module in the name that it has in C, and `set_module` replaces that.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyTypeObject
from cpython.ref cimport Py_INCREF


cdef inline int set_module(str package, tuple classes) except -1:
    """Say of compiled classes that they are from a package."""
    cdef bytes name
    for cls in classes:
        name = f"{package}.{cls.__name__}".encode()
        Py_INCREF(name)  # compiled classes live as long as the process
        (<PyTypeObject*>cls).tp_name = PyBytes_AS_STRING(name)
        for member in vars(cls).values():
            if isinstance(member, staticmethod):
                member.__func__.__module__ = package
    return 0
