"""Where memory comes from: the interface, and the registry that says which allocator serves a device type.

Fields and vtable of `Allocator` are part of the ABI: ``tensix/abi.pxd`` says the same of them.
"""
from cpython.object cimport PyTypeObject
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, uint64_t
from tensix.core.data_ptr cimport DataPtr, data_ptr_destroy, data_ptr_t
from tensix.core.device cimport CPU

cdef extern from "Python.h" nogil:
    unsigned long Py_TPFLAGS_HEAPTYPE
    bint PyType_HasFeature(PyTypeObject* cls, unsigned long feature)
    PyTypeObject* Py_TYPE(Allocator allocator)

cdef extern from "tensix/core/stack.h":
    int tx_check_stack(const char* what) except -1


cdef enum:           # what is not 0 when a thread allocates without the GIL
    NO_MEMORY = -1
    NEEDS_GIL = 1    # only of a thread that Python knows

cdef enum:
    MALLOC_ALIGNMENT_BYTES = 16  # what every 64-bit C library promises


cdef class Allocator:
    cdef object __weakref__
    cdef dict __dict__
    # The C twins of the public methods, with the GIL. An allocator written in C overrides these.
    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1
    cdef bint c_is_simple(self, const data_ptr_t* pointer) except -1
    cdef int c_copy_data(self, void* dst, const void* src, size_t nbytes) except -1
    # Without the GIL: 0, NO_MEMORY or NEEDS_GIL. See Note [Allocating without the GIL].
    cdef int c_try_allocate(self, size_t nbytes, data_ptr_t* out) noexcept nogil


# Private to tensix. See Note [Who is asked].
cdef inline int Allocator_allocate(Allocator self, size_t nbytes, data_ptr_t* out) except -1:
    """Make a block as `self` does it."""
    if is_of_python_class(self) and overrides(self, "allocate"):
        return Allocator.c_allocate(self, nbytes, out)
    out.operations = NULL  # somebody else's class may fill in the other fields only
    self.c_allocate(nbytes, out)
    return refuse_null(self, "allocate", nbytes, out) if is_null(out, nbytes) else 0


cdef inline bint is_null(const data_ptr_t* block, size_t nbytes) noexcept nogil:
    """Return whether a block of main memory has no address; one of another device needs none."""
    return block.data == NULL and nbytes != 0 and block.device_type == CPU


cdef int refuse_null(Allocator self, str method, size_t nbytes, data_ptr_t* out) except -1


cdef inline int Allocator_try_allocate(Allocator self, size_t nbytes, data_ptr_t* out) noexcept nogil:
    """Make a block as `self` does it, without the GIL; returns 0, NO_MEMORY or NEEDS_GIL."""
    if is_of_python_class(self):
        return Allocator.c_try_allocate(self, nbytes, out)
    out.operations = NULL
    cdef int status = self.c_try_allocate(nbytes, out)
    if status == 0 and is_null(out, nbytes):
        data_ptr_destroy(out)
        return NEEDS_GIL  # c_allocate() is asked then, and checked
    return status


cdef inline bint Allocator_is_simple(Allocator self, const data_ptr_t* pointer) except -1:
    """Return whether the context is nothing but the allocation, as `self` sees it."""
    if is_of_python_class(self) and overrides(self, "is_simple_data_ptr"):
        return Allocator.c_is_simple(self, pointer)
    return self.c_is_simple(pointer)


cdef inline int Allocator_copy_data(Allocator self, void* dst, const void* src, size_t nbytes) except -1:
    """Copy bytes as `self` does it."""
    if is_of_python_class(self) and overrides(self, "copy_data"):
        return Allocator.c_copy_data(self, dst, src, nbytes)
    return self.c_copy_data(dst, src, nbytes)


cdef inline bint is_of_python_class(Allocator self) noexcept nogil:
    """Return whether the class may be one that is written in Python; those of Cython are static as a rule."""
    return PyType_HasFeature(Py_TYPE(self), Py_TPFLAGS_HEAPTYPE)


cdef PyObject** serving       # the registered allocators: borrowed, NULL for none
cdef bint scopes_were_used    # until the first scope is made, no call pays for reading the context


cdef inline Allocator current_allocator(int8_t device_type):
    """Return the current allocator of a device type."""
    if scopes_were_used or serving[device_type] == NULL:
        return allocator_in_scope(device_type)
    return <Allocator>serving[device_type]


cdef Allocator allocator_in_scope(int8_t device_type)
cdef int allocate_without_gil(
    uint64_t* chosen, size_t nbytes, data_ptr_t* out, PyObject** error) noexcept nogil
cdef int let_go_of(object former) except -1
cdef bint overrides(Allocator self, str name) except -1
cdef int Allocator_clone(Allocator self, const void* src, size_t nbytes, data_ptr_t* out) except -1
cdef size_t nbytes_from_any(object nbytes) except? 0xFFFFFFFFFFFFFFFF
cdef size_t alignment_from_any(object alignment) except 0
