"""Nested sequences of Python's own numbers, written straight into a tensor.

Only exact classes are read: no code of anybody's runs while they are looked at. All else, such as arrays among the
numbers, numbers too large for their type, or no numbers at all, is left to NumPy, which knows what it means and what
to say.
"""
from cpython.bool cimport PyBool_Check
from cpython.float cimport PyFloat_CheckExact
from cpython.list cimport PyList_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.tuple cimport PyTuple_CheckExact
from libc.stdint cimport int64_t, uint8_t
from tensix.core.device cimport CPU
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.dtype cimport default_float_code, itemsize_of
from tensix.dispatch.operands cimport write_fitting
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl, TensorImpl_mutable_data, TensorImpl_sizes

from tensix.dispatch import native_functions

cdef OperatorTable EMPTY = native_functions.EMPTY

cdef enum:
    INT64 = 4
    BOOL = 11
    MAX_DEPTH = 8  # of what somebody writes down; deeper ones, such as a list in itself, NumPy looks at

cdef enum kinds_t:  # bits: which are among the numbers
    BOOLS = 1
    INTS = 2
    FLOATS = 4
    OTHERS = 8


cdef TensorBase tensor_of_numbers(object data, int code):
    """Return a new tensor, of the default type for these numbers if `code` is -1; None if NumPy has to read them."""
    cdef int64_t sizes[MAX_DEPTH]
    cdef int ndim = 0
    cdef int kinds
    cdef char* place
    cdef TensorBase made
    item = data
    while PyList_CheckExact(item) or PyTuple_CheckExact(item):
        if ndim == MAX_DEPTH or len(item) == 0:
            return None
        sizes[ndim] = len(item)
        ndim += 1
        item = item[0]
    kinds = kinds_in(data, sizes, ndim)
    if kinds & OTHERS:
        return None
    if code < 0:
        code = default_float_code() if kinds & FLOATS else INT64 if kinds & INTS else BOOL
    made = EMPTY.call_empty(ndim, sizes, code, CPU, -1)
    if not is_as_asked(made.impl, ndim, sizes, code):
        return None
    place = <char*>TensorImpl_mutable_data(made.impl)
    try:
        return made if write_numbers(data, sizes, ndim, code, &place) else None
    except OverflowError:
        return None


cdef bint is_as_asked(TensorImpl made, int ndim, const int64_t* sizes, int code) noexcept:
    """Return whether a tensor is written from its first byte on: somebody may have covered the kernel of `empty`."""
    cdef int i
    for i in range(ndim if made.ndim == ndim else 0):
        if TensorImpl_sizes(made)[i] != sizes[i]:
            return False
    return made.ndim == ndim and made.dtype_code == code and made.contiguous and made.device_type == CPU


cdef int kinds_in(object data, const int64_t* sizes, int ndim) except -1:
    """Return what kinds of numbers there are; OTHERS too if not all sequences of a depth have its length."""
    cdef int kinds = 0
    if ndim == 0:
        if PyFloat_CheckExact(data):
            return FLOATS
        return INTS if PyLong_CheckExact(data) else BOOLS if PyBool_Check(data) else OTHERS
    if not is_sequence_of(data, sizes[0]):
        return OTHERS
    if PyList_CheckExact(data):
        for item in <list>data:
            kinds |= kinds_in(item, sizes + 1, ndim - 1)
    else:
        for item in <tuple>data:
            kinds |= kinds_in(item, sizes + 1, ndim - 1)
    return kinds


cdef bint write_numbers(object data, const int64_t* sizes, int ndim, uint8_t code, char** place) except -1:
    """Write numbers one after the other, and say whether all could be: an allocator may have changed the sequences."""
    if ndim == 0:
        if kinds_in(data, sizes, 0) & OTHERS or not write_fitting(code, place[0], data):
            return False
        place[0] += itemsize_of(code)
        return True
    if not is_sequence_of(data, sizes[0]):
        return False
    if PyList_CheckExact(data):
        for item in <list>data:
            if not write_numbers(item, sizes + 1, ndim - 1, code, place):
                return False
    else:
        for item in <tuple>data:
            if not write_numbers(item, sizes + 1, ndim - 1, code, place):
                return False
    return True


cdef inline bint is_sequence_of(object data, int64_t length) except -1:
    return (PyList_CheckExact(data) or PyTuple_CheckExact(data)) and len(data) == length
