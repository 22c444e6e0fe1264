"""Private: keeping the memory of a few dead Python objects for the next ones of the same type.

Cython's own freelists serve base classes only; bodies of tensors and storages are subclasses, and are born and die
with every view. Take and put run with the GIL. Only objects of the exact type are kept, subclasses go their way.
"""
from cpython.object cimport PyObject, PyTypeObject
from libc.string cimport memset

cdef extern from "Python.h":
    ctypedef PyObject* (*allocfunc)(PyTypeObject* type, Py_ssize_t extra) noexcept
    ctypedef void (*freefunc)(void* memory) noexcept
    ctypedef struct type_slots_t "PyTypeObject":
        allocfunc tp_alloc
        freefunc tp_free
    PyObject* PyType_GenericAlloc(PyTypeObject* type, Py_ssize_t extra)
    PyObject* PyObject_Init(PyObject* memory, PyTypeObject* type)
    PyTypeObject* Py_TYPE(PyObject* o)
    void PyObject_Free(void* memory)

cdef enum:
    FREE_LIST_LENGTH = 64


cdef struct free_list_t:
    PyTypeObject* type
    int count
    void* kept[64]


cdef inline void free_list_install(free_list_t* self, object type, allocfunc alloc, freefunc free) noexcept:
    """Make `type` allocate and free its objects by two functions of its module, which call the two below."""
    self.type = <PyTypeObject*>type
    (<type_slots_t*>type).tp_alloc = alloc
    (<type_slots_t*>type).tp_free = free


cdef inline PyObject* free_list_take(free_list_t* self, PyTypeObject* type, Py_ssize_t extra) noexcept:
    """Be the type's tp_alloc: return a zeroed object."""
    cdef void* memory
    if self.count == 0 or type != self.type:
        return PyType_GenericAlloc(type, extra)
    self.count -= 1
    memory = self.kept[self.count]
    memset(memory, 0, type.tp_basicsize)
    return PyObject_Init(<PyObject*>memory, type)


cdef inline void free_list_put(free_list_t* self, void* dead) noexcept:
    """Be the type's tp_free."""
    if self.count < FREE_LIST_LENGTH and Py_TYPE(<PyObject*>dead) == self.type:
        self.kept[self.count] = dead
        self.count += 1
    else:
        PyObject_Free(dead)
