"""Reductions along axes, for other kernels too."""
from libc.stdint cimport uint8_t, uint64_t
from numpy cimport ufunc
from tensix.loops.iterator cimport inner_loop_t
from tensix.tensors.tensor_impl cimport TensorImpl


cdef int take_loop(ufunc function, object dtype, inner_loop_t* found, void** data) except -1
cdef uint64_t axes_from_any(object axis, int ndim) except? 0
cdef TensorImpl reduced_impl(TensorImpl x, uint8_t code, uint64_t axes, bint keepdims)
cdef TensorImpl length_impl(TensorImpl x, uint64_t axes, bint keepdims)
