"""Private: descriptors of its own for a class whose members stand in its bases.

Python asks at every use whether an object is of the class that a descriptor was made for. For another class than the
object's own it walks through all bases, which takes as long as a property itself.
"""
from cpython.object cimport PyObject
from cpython.type cimport PyType_Modified

cdef extern from "Python.h":
    ctypedef struct PyGetSetDef:
        const char* name
    ctypedef struct PyMethodDef:
        const char* ml_name
    ctypedef struct type_members_t "PyTypeObject":
        PyGetSetDef* tp_getset
        PyMethodDef* tp_methods
        PyObject* tp_dict
    object PyDescr_NewGetSet(type_members_t* type, PyGetSetDef* definition)
    object PyDescr_NewMethod(type_members_t* type, PyMethodDef* definition)


cdef inline int adopt_members(object heir) except -1:
    """Enter the properties and methods of a class's bases into the class, where it does not override them."""
    cdef type_members_t* type = <type_members_t*>heir
    cdef type_members_t* source
    cdef PyGetSetDef* getset
    cdef PyMethodDef* method
    cdef dict members = <dict>type.tp_dict
    for base in heir.__mro__:
        if base is heir or base is object:
            continue
        source = <type_members_t*>base
        getset = source.tp_getset
        while getset != NULL and getset.name != NULL:
            members.setdefault(getset.name.decode(), PyDescr_NewGetSet(type, getset))
            getset += 1
        method = source.tp_methods
        while method != NULL and method.ml_name != NULL:
            name = method.ml_name.decode()
            if hasattr(base.__dict__[name], "__objclass__"):  # else a function, which does not ask
                members.setdefault(name, PyDescr_NewMethod(type, method))
            method += 1
    PyType_Modified(heir)
    return 0
