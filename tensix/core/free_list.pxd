"""Private: keeping a few dead objects of a type for the next ones.

Note [Free lists]
~~~~~~~~~~~~~~~~~
Cython's tp_new and tp_dealloc of a class call those of every base, one module after the other; for handles and bodies
of tensors, which are born and die with every view, that takes longer than the view. Such a type installs a tp_dealloc
that does by itself what the chain would do, and keeps the object in a free list, as CPython does with floats and
tuples: its C vtable stays in place, its fields are those of a new object, with None for objects. The list owns the one
reference, and passes it on when the object is used again.

Only objects of the exact type without weak references are kept; others, and those that find the list full, go down the
chain. Everything here runs with the GIL; in a build without it nothing is kept, for CPython's own allocator has lists
for each thread. A pending exception is set aside where Python code may run: a storage's
``destroy``, and Note [GIL and finalisation].

What it saves, counted by callgrind on CPython 3.11: ``x[0]`` takes 1,234 instructions, 1,474 if handles go down the
chain, 1,713 if bodies do too; ``empty(3, 4)`` 2,103, and 2,850 if storages do as well.
"""
from cpython.object cimport PyObject, PyTypeObject, destructor
from cpython.ref cimport Py_INCREF
from tensix.core.assertions cimport TX_ASSERT, TX_ASSERT_GIL
from tensix.core.free_threading cimport GIL_EXISTS, stolen

cdef extern from "Python.h":
    ctypedef struct type_slots_t "PyTypeObject":
        destructor tp_dealloc
        Py_ssize_t tp_weaklistoffset
    PyTypeObject* type_of "Py_TYPE" (PyObject* o)

cdef enum:
    FREE_LIST_LENGTH = 64


cdef struct free_list_t:
    PyTypeObject* type
    destructor chain      # the tp_dealloc that Cython made
    int count
    PyObject* objects[64]


cdef inline void free_list_install(free_list_t* self, object type, destructor dealloc) noexcept:
    """Let a type's objects be deallocated by a function of its module, built of the functions below."""
    if not GIL_EXISTS:
        return
    self.type = <PyTypeObject*>type
    self.chain = (<type_slots_t*>type).tp_dealloc
    (<type_slots_t*>type).tp_dealloc = dealloc


cdef inline bint free_list_accepts(free_list_t* self, PyObject* dead) noexcept:
    """Whether a dead object can be kept; it then has a reference count again, so that it can be used."""
    cdef Py_ssize_t weak_offset
    if self.count == FREE_LIST_LENGTH or type_of(dead) != self.type:
        return False
    weak_offset = (<type_slots_t*>self.type).tp_weaklistoffset
    if weak_offset != 0 and (<void**>(<char*>dead + weak_offset))[0] != NULL:
        return False
    Py_INCREF(<object>dead)
    return True


cdef inline void free_list_keep(free_list_t* self, PyObject* dead) noexcept:
    """Keep an object that was accepted and cleaned up."""
    if self.count < FREE_LIST_LENGTH:
        self.objects[self.count] = dead
        self.count += 1
    else:  # cleaning it up killed others of its type
        self.chain(dead)


cdef inline object free_list_take(free_list_t* self):
    """Return a kept object as a new one; only if `count` is not 0."""
    TX_ASSERT_GIL()
    TX_ASSERT(0 < self.count <= FREE_LIST_LENGTH, "an index into the free list", self.count)
    self.count -= 1
    return stolen(self.objects[self.count])
