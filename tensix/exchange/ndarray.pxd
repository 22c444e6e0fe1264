"""Zero-copy views between tensors and NumPy arrays, for the floors above."""
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint8_t
from numpy cimport ndarray, npy_intp
from tensix.tensors.tensor_impl cimport TensorImpl

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArray_Descr:
        pass
    object PyArray_NewFromDescr(
        PyTypeObject* subtype, PyArray_Descr* descr, int nd, const npy_intp* dims, const npy_intp* strides, void* data,
        int flags, PyObject* obj)


cdef inline object new_array(
        object descr, int ndim, const npy_intp* shape, const npy_intp* strides, void* data, int flags):
    """Return an array over memory that somebody else keeps alive."""
    Py_INCREF(descr)  # PyArray_NewFromDescr takes a reference over
    return PyArray_NewFromDescr(
        <PyTypeObject*>ndarray, <PyArray_Descr*>descr, ndim, shape, strides, data, flags, NULL)

cdef enum:
    TYPE_COUNT = 24  # NumPy's own types
    NO_TYPE = 255

cdef uint8_t CODES[24]  # number of NumPy's type -> our code, or NO_TYPE


cdef object ndarray_of_impl(TensorImpl impl, bint writable)
cdef object exported_ndarray_of_impl(TensorImpl impl)
cdef object ndarray_of_type(TensorImpl impl, object descr, bint writable)
cdef object readable_of_impl(TensorImpl impl)
cdef TensorImpl impl_of_ndarray(object array, bint is_shared)
