"""Walking over the elements of several tensors at once, in runs that an inner loop takes."""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t
from numpy cimport npy_intp
from tensix.loops.parallel cimport chunk_function_t
from tensix.tensors.tensor_impl cimport TensorImpl

cdef enum:
    MAX_OPERANDS = 4
    ITERATOR_DIMS = 64
    GRAIN_ELEMENTS = 32768   # below it, giving the GIL away and back costs more than it could win
    CHUNK_ELEMENTS = 131072  # of this size are the shares of threads, about: waking one costs some ten microseconds


# The inner loop's signature is that of NumPy's ufuncs: pointers, one count, byte steps, the loop's own data.
ctypedef void (*inner_loop_t)(char** data, const npy_intp* count, const npy_intp* steps, void* loop_data) noexcept nogil

# A loop that takes several rows at once: columns and rows, and the steps of both.
ctypedef void (*rows_loop_t)(
    char** data, npy_intp columns, npy_intp rows, const npy_intp* column_steps, const npy_intp* row_steps,
    void* loop_data) noexcept nogil


cdef struct iterator_t:
    int ndim
    int operands
    npy_intp sizes[64]
    npy_intp steps[64][4]   # bytes, per dimension and operand
    char* data[4]
    npy_intp itemsizes[4]   # bytes; 0 of an operand that was not added as a tensor
    PyObject* storages[4]   # of the operands, borrowed until the walk begins to use them; NULL: none
    rows_loop_t rows_loop   # called for the rows of a plane in which the last operand stays; NULL: rows come one by one
    bint keeps_rows         # whether runs go along rows also if these are short: the loop is slow with other steps
    bint waits_for_memory   # whether the loop computes for a shorter time than its elements need to arrive
    rows_loop_t tile_loop   # called for a tile, whose operands lie in two orders; NULL: its rows come one by one


cdef int iterator_start(iterator_t* self, int ndim, const int64_t* sizes) except -1
cdef int iterator_add_outer(iterator_t* self, TensorImpl operand, int ndim, void* data) except -1
cdef void iterator_add_element(iterator_t* self, void* data) noexcept
cdef int iterator_run(iterator_t* self, inner_loop_t loop, void* loop_data) except -1
cdef int iterator_begin_use(iterator_t* self) except -1
cdef void iterator_end_use(iterator_t* self) noexcept
cdef int run_large(
    chunk_function_t function, void* context, int64_t shares, TensorImpl x, TensorImpl y, TensorImpl written) except -1
cdef npy_intp iterator_total(const iterator_t* self) noexcept nogil
cdef void iterator_simplify(iterator_t* self, int leader) noexcept nogil
cdef void iterator_walk(iterator_t* self, inner_loop_t loop, void* loop_data) noexcept nogil
cdef void iterator_run_part(
    const iterator_t* self, int dim, npy_intp start, npy_intp stop, inner_loop_t loop, void* loop_data) noexcept nogil
cdef void iterator_split(iterator_t* self, int dim, inner_loop_t loop, void* loop_data) noexcept nogil
cdef int broadcast_dims(int a_ndim, const int64_t* a, int b_ndim, const int64_t* b, int64_t* sizes) noexcept nogil
cdef int broadcast_sizes(TensorImpl a, TensorImpl b, int64_t* sizes) except -1
cdef TensorImpl new_result(int ndim, const int64_t* sizes, uint8_t dtype_code, TensorImpl x, TensorImpl y)
cdef bint same_strides(TensorImpl a, TensorImpl b) noexcept nogil


cdef inline int iterator_add(iterator_t* self, TensorImpl operand, void* data) except -1:
    """Add an operand, broadcast to the shape; `data` is the address of its first element."""
    return iterator_add_outer(self, operand, operand.ndim, data)


cdef inline const char* advance(
        int ndim, const int64_t* sizes, const int64_t* steps, int64_t* position, const char* place) noexcept nogil:
    """Go to the next place in some dimensions, the last one first; after the last place to the first."""
    cdef int dim = ndim - 1
    while dim >= 0:
        position[dim] += 1
        place += steps[dim]
        if position[dim] < sizes[dim]:
            return place
        place -= steps[dim] * sizes[dim]
        position[dim] = 0
        dim -= 1
    return place


cdef inline int run_shares(
        chunk_function_t function, void* context, int64_t shares, int64_t work, TensorImpl x, TensorImpl y,
        TensorImpl written) except -1:
    """Run all shares of some work, of so many elements or more on several threads, without the GIL.

    It reads `x` and `y` and writes `written`, which may not change meanwhile. None: there is none, or it is new.
    """
    cdef int64_t share
    if work >= GRAIN_ELEMENTS:
        return run_large(function, context, shares, x, y, written)
    for share in range(shares):
        function(context, share)
    return 0
