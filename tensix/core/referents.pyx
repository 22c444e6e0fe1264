"""What objects refer to, as Python's collector sees it.

Note [Walks over all objects]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A search among all objects of a program reads millions of references. So it is made in C, by the functions that the
collector uses, and hands out the few objects that refer to what is wanted. Nothing of Python runs meanwhile, and in
CPython without the GIL other threads are stopped: references that are read are not dropped.

A module is asked for its variables only. What else it keeps is its own affair: CPython 3.12.0 to 3.12.5 list freed
objects of asyncio, which live and are freed again if the collector hands them out, and then are listed without end.
"""
import gc
from itertools import compress
from types import ModuleType

from cpython.object cimport PyObject
from libc.stdint cimport uintptr_t
from libc.string cimport memset
from tensix.core.free_threading cimport tx_while_stopped

attributes_of_module = ModuleType.__dict__["__dict__"].__get__  # what a class of modules may override

cdef extern from "Python.h" nogil:
    ctypedef int (*visitproc)(PyObject* value, void* walk) noexcept
    ctypedef int (*traverseproc)(PyObject* thing, visitproc visit, void* walk) noexcept
    ctypedef struct PyTypeObject:
        traverseproc tp_traverse
    PyTypeObject PyDict_Type, PyTuple_Type
    PyTypeObject* Py_TYPE(PyObject* thing)
    bint PyType_IsSubtype(PyTypeObject* kind, PyTypeObject* base)
    bint PyObject_IS_GC(PyObject* thing)
    bint PyObject_GC_IsTracked(PyObject* thing)
    bint PyModule_Check(PyObject* thing)
    PyObject* PyModule_GetDict(PyObject* module)
    Py_ssize_t PySequence_Fast_GET_SIZE(PyObject* things)
    PyObject* PySequence_Fast_GET_ITEM(PyObject* things, Py_ssize_t place)

cdef enum:
    REMEMBERED = 512  # types and containers, by their addresses
    DEEPEST = 64      # containers in containers; what lies deeper counts as found

cdef struct Walk:
    PyObject* things                    # a list or tuple
    Py_ssize_t count
    bint is_itself                      # whether a thing itself may be what is wanted, not only what it refers to
    char* found                         # 1 for each of the things that refers to what is wanted
    visitproc visit
    uintptr_t* wanted                   # types, or objects in the order of their addresses
    Py_ssize_t wanted_count
    int depth
    PyTypeObject* unwanted[REMEMBERED]  # types
    PyObject* fruitless[REMEMBERED]     # containers that hold nothing that is wanted and may lie in many others


def referents_of(thing):
    """Return a sequence of what an object refers to: of a module its variables, see Note [Walks over all objects].

    Lists and tuples are returned themselves: large ones are not copied.
    """
    kind = type(thing)
    if kind is list or kind is tuple:
        return thing
    return [attributes_of_module(thing)] if issubclass(kind, ModuleType) else gc.get_referents(thing)


def holding(things, kinds):
    """Return those of a list or tuple of objects that refer to an object of some types, or may do so.

    Dicts and tuples that the collector does not track are searched: nothing in them can be part of a cycle.
    """
    return walk_over(things, [id(kind) for kind in kinds], visit_any, False)


def having(things, kinds):
    """Return those of a list or tuple of objects that have some types, or are such dicts and tuples and hold one."""
    return walk_over(things, [id(kind) for kind in kinds], visit_any, True)


def referring(things, identities):
    """Return those of a list or tuple of objects that refer to one of the objects with given identities."""
    return walk_over(things, sorted(identities), visit_one, False)


cdef list walk_over(things, list wanted, visitproc visit, bint is_itself):
    """Return those of some objects that the function finds something in."""
    cdef bytearray numbers = bytearray(sizeof(uintptr_t) * len(wanted)), found = bytearray(len(things))
    cdef Walk walk
    memset(&walk, 0, sizeof(walk))
    walk.things, walk.count, walk.found = <PyObject*>things, len(things), found
    walk.is_itself = is_itself
    walk.visit, walk.wanted, walk.wanted_count = visit, <uintptr_t*><char*>numbers, len(wanted)
    for place, number in enumerate(wanted):
        walk.wanted[place] = number
    tx_while_stopped(look_at_all, &walk)
    return list(compress(things, found))


cdef void look_at_all(void* what) noexcept nogil:
    cdef Walk* walk = <Walk*>what
    cdef PyObject *thing, *variables
    for place in range(min(walk.count, PySequence_Fast_GET_SIZE(walk.things))):
        thing = PySequence_Fast_GET_ITEM(walk.things, place)
        if walk.is_itself:
            walk.found[place] = walk.visit(thing, walk)
        elif PyModule_Check(thing):
            variables = PyModule_GetDict(thing)  # NULL if the collector has cleared the module
            walk.found[place] = variables != NULL and walk.visit(variables, walk)
        elif PyObject_IS_GC(thing):  # classes that are static say that they are not
            walk.found[place] = Py_TYPE(thing).tp_traverse(thing, walk.visit, walk)


cdef int visit_any(PyObject* value, void* what) noexcept nogil:
    """Return 1 if a value has one of the types, or holds an object that has."""
    cdef Walk* walk = <Walk*>what
    cdef PyTypeObject* kind = Py_TYPE(value)
    cdef int found
    if walk.unwanted[<uintptr_t>kind // 16 % REMEMBERED] != kind:
        for i in range(walk.wanted_count):
            if PyType_IsSubtype(kind, <PyTypeObject*>walk.wanted[i]):
                return 1
        walk.unwanted[<uintptr_t>kind // 16 % REMEMBERED] = kind
    if (kind != &PyDict_Type and kind != &PyTuple_Type) or PyObject_GC_IsTracked(value):
        return 0
    if walk.fruitless[<uintptr_t>value // 16 % REMEMBERED] == value:
        return 0
    if walk.depth == DEEPEST:
        return 1
    walk.depth += 1
    found = kind.tp_traverse(value, visit_any, walk)
    walk.depth -= 1
    if not found:
        walk.fruitless[<uintptr_t>value // 16 % REMEMBERED] = value
    return found


cdef int visit_one(PyObject* value, void* what) noexcept nogil:
    """Return 1 if a value is one of the objects."""
    cdef Walk* walk = <Walk*>what
    cdef Py_ssize_t first = 0, end = walk.wanted_count, middle
    while first < end:
        middle = (first + end) // 2
        if walk.wanted[middle] < <uintptr_t>value:
            first = middle + 1
        else:
            end = middle
    return first < walk.wanted_count and walk.wanted[first] == <uintptr_t>value
