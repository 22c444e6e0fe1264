"""Inner loops that correct NumPy's results where they are wrong or the array API standard wants others."""
from tensix.kernels.iterator cimport inner_loop_t


cdef struct original_loop_t:
    inner_loop_t function
    void* data


cdef inner_loop_t corrected_loop(str name, int code)
