"""Private: order along a dimension, for other kernels too, and NumPy's functions for it."""
from numpy cimport npy_intp
from tensix.tensors.tensor_impl cimport TensorImpl

ctypedef int (*sort_function_t)(void* items, npy_intp count, void* array) noexcept nogil
ctypedef int (*argsort_function_t)(void* items, npy_intp* places, npy_intp count, void* array) noexcept nogil
ctypedef int (*find_function_t)(void* items, npy_intp count, npy_intp* place, void* array) noexcept nogil

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArray_ArrFuncs:
        sort_function_t sort[3]
        argsort_function_t argsort[3]
        find_function_t argmax
        find_function_t argmin


cdef TensorImpl ordered(TensorImpl x, int dim, bint descending, bint wants_positions)
cdef TensorImpl flattened(TensorImpl x)
cdef PyArray_ArrFuncs* FUNCTIONS[47]  # NumPy's, per type of the elements; NULL where it has none of use
