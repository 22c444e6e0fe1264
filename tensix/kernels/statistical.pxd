"""Reductions along axes by the inner loop of a binary ufunc, for other kernels too."""
from libc.stdint cimport uint8_t, uint64_t
from numpy cimport ufunc
from tensix.dispatch.kernel cimport Kernel
from tensix.kernels.iterator cimport inner_loop_t
from tensix.tensors.tensor_impl cimport TensorImpl


cdef struct reduction_loop_t:
    inner_loop_t function
    void* data
    char identity[16]  # the element that changes nothing
    int settled        # the bool that nothing changes any more; -1 if there is none


cdef class ReductionKernel(Kernel):
    cdef bint has_dtype          # whether the operator has the argument
    cdef bint has_empty_result
    cdef uint8_t working[47]   # per type of the elements: that in which they are reduced
    cdef uint8_t results[47]   # and that of the result
    cdef reduction_loop_t loops[47]


cdef int check_defined(TensorImpl x) except -1
cdef int take_loop(ufunc function, object dtype, inner_loop_t* found, void** data) except -1
cdef int take_reduction_loop(reduction_loop_t* self, object function, object dtype, object identity) except -1
cdef uint64_t axes_from_any(object axis, int ndim) except? 0
cdef TensorImpl reduced_impl(TensorImpl x, uint8_t code, uint64_t axes, bint keepdims)
cdef TensorImpl reduce(const reduction_loop_t* loop, TensorImpl x, uint8_t code, uint64_t axes, bint keepdims)
