"""Walking over the elements of several tensors at once, in runs that an inner loop takes."""
from libc.stdint cimport int64_t
from numpy cimport npy_intp
from tensix.tensors.tensor_impl cimport TensorImpl

cdef enum:
    MAX_OPERANDS = 4
    ITERATOR_DIMS = 64
    GRAIN_ELEMENTS = 32768  # below it, giving the GIL away and back costs more than it could win


# The inner loop's signature is that of NumPy's ufuncs: pointers, one count, byte steps, the loop's own data.
ctypedef void (*inner_loop_t)(char** data, const npy_intp* count, const npy_intp* steps, void* loop_data) noexcept nogil


cdef struct iterator_t:
    int ndim
    int operands
    npy_intp sizes[64]
    npy_intp steps[64][4]   # bytes, per dimension and operand
    char* data[4]


cdef int iterator_start(iterator_t* self, int ndim, const int64_t* sizes) except -1
cdef int iterator_add(iterator_t* self, TensorImpl operand, void* data) except -1
cdef void iterator_run(iterator_t* self, inner_loop_t loop, void* loop_data) noexcept
cdef int broadcast_sizes(TensorImpl a, TensorImpl b, int64_t* sizes) except -1
