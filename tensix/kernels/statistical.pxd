"""Reductions along axes, for other kernels too."""
from libc.stdint cimport uint8_t, uint64_t
from numpy cimport npy_intp, ufunc
from tensix.dispatch.kernel cimport Kernel
from tensix.loops.iterator cimport inner_loop_t
from tensix.tensors.tensor_impl cimport TensorImpl


# Those of tensix/loops/reduce.h
ctypedef void (*run_t)(const void* x, npy_intp n, void* result, const void* center) noexcept nogil
ctypedef void (*rows_t)(
    void* result, const void* x, npy_intp n, npy_intp rows, npy_intp row_step, const void* center) noexcept nogil


cdef struct reduction_loop_t:
    inner_loop_t function
    void* data
    run_t run                       # what `function` calls; NULL: it is NumPy's
    rows_t rows
    const reduction_loop_t* join    # combines partial results
    char identity[16]               # the result that changes nothing
    int source                      # the type of the elements
    npy_intp source_size
    npy_intp result_size
    int settled                     # the bool that nothing changes any more; -1 if there is none
    bint by_pairs                   # whether blocks are combined two by two. See Note [Lanes]


cdef class ReductionKernel(Kernel):
    cdef bint has_dtype          # whether the operator has the argument
    cdef bint has_empty_result
    cdef uint8_t working[47]   # per type of the elements: that in which they are reduced
    cdef uint8_t results[47]   # and that of the result
    cdef reduction_loop_t loops[47]


cdef int take_loop(ufunc function, object dtype, inner_loop_t* found, void** data) except -1
cdef uint64_t axes_from_any(object axis, int ndim) except? 0
cdef TensorImpl reduced_impl(TensorImpl x, uint8_t code, uint64_t axes, bint keepdims)
cdef TensorImpl reduce(
    const reduction_loop_t* loop, TensorImpl x, TensorImpl center, uint8_t code, uint64_t axes, bint keepdims)
cdef TensorImpl length_impl(TensorImpl x, uint64_t axes, bint keepdims)
