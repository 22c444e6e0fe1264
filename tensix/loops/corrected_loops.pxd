"""Inner loops that run in the place of NumPy's: faster ones, and ones that correct its results."""
from tensix.loops.iterator cimport inner_loop_t


cdef struct original_loop_t:  # NumPy's loop, in the place of which another runs
    inner_loop_t function
    void* data
    int level  # of the instructions that NumPy runs it with: 2 with AVX2, 3 with AVX-512, 0 with less


cdef inner_loop_t corrected_loop(str name, int code)
cdef int level_of_numpy(str name, str types) except -1
cdef const inner_loop_t* faster_loops(str name, int* is_math) except? NULL
