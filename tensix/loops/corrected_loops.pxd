"""Inner loops that run in the place of NumPy's: faster ones, and ones that correct its results."""
from tensix.loops.iterator cimport inner_loop_t


cdef struct original_loop_t:
    inner_loop_t function
    void* data


cdef inner_loop_t corrected_loop(str name, int code)
cdef const inner_loop_t* faster_loops(str name) except? NULL
