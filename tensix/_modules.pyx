"""Import the compiled modules of the package: they are all linked into one shared object, the one of this module."""

import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport Py_TPFLAGS_HEAPTYPE, PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF

# Note [One shared object]
# ~~~~~~~~~~~~~~~~~~~~~~~~
# setup.py compiles each module by itself and links all of them once. To find, to map and to link ninety files was a
# third of what tensix adds to the import of NumPy: 26 ms, and 18 in one; the wheel had 9.9 MB, and has 7.3. CPython
# expects in a file the function that is named after the last part of the module's name, of which the package has many
# twice. So the modules are found here, and in front of the path, where files of an older build may still lie. Then they
# are imported as from files of their own: by the module's definition, then by its body.
#
# Note [Imported once]
# ~~~~~~~~~~~~~~~~~~~~
# A compiled module is executed once in a process, and holds the operators that it registered kernels for. A module in
# plain Python that was executed again, because somebody took it out of sys.modules, would declare operators without
# kernels. So what `import tensix` imported is kept here, and importing it again gives the same modules.
#
# Note [Modules of classes]
# ~~~~~~~~~~~~~~~~~~~~~~~~~
# A public class says that it is from the package where users find it, ``tensix`` most often: in errors, in `help` and
# in pickles, which stay readable when the class is moved to another file. A Python class has ``__module__ = "tensix"``
# in its body. Of a compiled class Python reads the module in the name that it has in C: of those in the ``__all__`` of
# a module that name is replaced when the module has been executed.
cdef extern from *:
    """
    #define MODULE(symbol, name) PyObject *PyInit_##symbol(void);
    #include "modules.h"  /* written by setup.py */
    #undef MODULE
    #define MODULE(symbol, name) {name, PyInit_##symbol},
    static const struct { const char *name; PyObject *(*init)(void); } tx_modules[] = {
    #include "modules.h"
    };
    #define tx_module_count ((int)(sizeof(tx_modules) / sizeof(tx_modules[0])))
    """
    ctypedef PyObject *(*InitFunction)() except NULL
    ctypedef struct ModuleEntry:
        const char *name
        InitFunction init
    const ModuleEntry *tx_modules
    const int tx_module_count

cdef extern from "Python.h":
    ctypedef struct PyModuleDef
    object PyModule_FromDefAndSpec(PyModuleDef *definition, object spec)
    PyModuleDef *PyModule_GetDef(object module) except NULL
    int PyModule_ExecDef(object module, PyModuleDef *definition) except -1

cdef dict places = {tx_modules[i].name.decode(): i for i in range(tx_module_count)}
imported = {}  # name -> module; see Note [Imported once]
# Where users find the classes of a module, or the module itself if they do not use them; see Note [Modules of classes].
cdef dict homes = {name: name for name in (
    "tensix.dispatch.kernel", "tensix.dispatch.operator", "tensix.loops.numpy_kernel",
    "tensix.tensors.element_allocator",
)}
homes["tensix.files.file_map"] = "tensix.files"


class ModuleLoader(ExtensionFileLoader):
    """Load a module from its functions, as CPython loads one from a file that has no others."""

    def create_module(self, spec):
        cdef int place = places[spec.name]
        # A borrowed reference: the definition is static.
        return PyModule_FromDefAndSpec(<PyModuleDef *>tx_modules[place].init(), spec)

    def exec_module(self, module):
        PyModule_ExecDef(module, PyModule_GetDef(module))
        name_classes(module, homes.get(module.__name__, "tensix"))


cdef int name_classes(module, str package) except -1:
    """Say of a module's public classes that they are from a package. See Note [Modules of classes]."""
    cdef bytes name
    for cls in map(vars(module).get, getattr(module, "__all__", ())):
        if isinstance(cls, type) and not cls.__flags__ & Py_TPFLAGS_HEAPTYPE:
            name = f"{package}.{cls.__name__}".encode()
            Py_INCREF(name)  # compiled classes live as long as the process
            (<PyTypeObject*>cls).tp_name = PyBytes_AS_STRING(name)
            for member in vars(cls).values():
                if isinstance(member, staticmethod):
                    member.__func__.__module__ = package
    return 0


class ImportedLoader:
    """Give back a module that was imported before."""

    def create_module(self, spec):
        module = imported[spec.name]
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec


class ModuleFinder:
    """Find what was imported before and what is in this shared object; leave everything else to other finders."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in imported and target is None:  # else it is to be executed again: importlib.reload()
            return ModuleSpec(name, ImportedLoader(), is_package=hasattr(imported[name], "__path__"))
        if name not in places:
            return None
        spec = ModuleSpec(name, ModuleLoader(name, __file__), origin=__file__)
        spec.has_location = True
        return spec


sys.meta_path.insert(0, ModuleFinder)
