"""A call of the loop of a generalised ufunc."""
from numpy cimport npy_intp
from tensix.loops.iterator cimport inner_loop_t


cdef struct call_t:
    inner_loop_t loop
    void* data
    int operands
    int size_count
    int step_count
    npy_intp sizes[4]       # of the cores
    npy_intp steps[8]       # inside the cores


cdef void core_loop(char** data, const npy_intp* count, const npy_intp* steps, void* context) noexcept nogil
