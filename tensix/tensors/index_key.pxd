"""What stands between the brackets of ``x[...]``."""
from cpython.object cimport PyObject
from cpython.slice cimport PySlice_Check
from cpython.tuple cimport PyTuple_Check
from libc.stdint cimport int64_t
from tensix.tensors.tensor_impl cimport TensorImpl, TensorImpl_sizes, TensorImpl_strides

cdef extern from "Python.h":
    bint PyTuple_CheckExact(object)
    PyObject* PyTuple_GET_ITEM(object, Py_ssize_t)  # borrowed
    Py_ssize_t PyTuple_GET_SIZE(object)
    bint PyLong_CheckExact(PyObject*)
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*)


cdef bint is_position(object key) except -1


cdef inline bint selects_view(object key) except -1:
    """Return whether one part of an index is basic: an int, a slice, Ellipsis or None."""
    return type(key) is int or PySlice_Check(key) or key is None or key is Ellipsis or is_position(key)


cdef inline bint is_basic(object index) except -1:
    """Return whether an index has basic parts only, so that a view shows what it selects."""
    cdef Py_ssize_t i
    if not PyTuple_Check(index):
        return selects_view(index)
    for i in range(PyTuple_GET_SIZE(index)):
        if not PyLong_CheckExact(PyTuple_GET_ITEM(index, i)) and not selects_view((<tuple>index)[i]):
            return False
    return True


cdef inline bint finds_element(TensorImpl impl, object index, int64_t* offset) noexcept:
    """Find the one element that a tuple of plain ints selects, if it is that and the element is there."""
    cdef PyObject* key
    cdef int64_t position
    cdef int overflow = 0
    cdef int i
    if not PyTuple_CheckExact(index) or PyTuple_GET_SIZE(index) != impl.ndim:
        return False
    offset[0] = impl.storage_offset
    for i in range(impl.ndim):
        key = PyTuple_GET_ITEM(index, i)
        if not PyLong_CheckExact(key):
            return False
        position = PyLong_AsLongLongAndOverflow(key, &overflow)
        if position < 0:
            position += TensorImpl_sizes(impl)[i]
        if overflow or not 0 <= position < TensorImpl_sizes(impl)[i]:
            return False
        offset[0] += position * TensorImpl_strides(impl)[i]
    return True
