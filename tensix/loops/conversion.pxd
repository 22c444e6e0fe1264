"""Moving elements: as they are, as another type, and into a loop that wants another type."""
from libc.stdint cimport uint8_t
from numpy cimport npy_intp
from tensix.loops.iterator cimport inner_loop_t


cdef extern from "tensix/loops/items.h" nogil:
    void copy_strided "tx_copy"(
        int itemsize, const char* source, npy_intp source_step, char* to, npy_intp to_step, npy_intp count)


# Both sides lie without gaps.
ctypedef void (*convert_t)(const void* source, void* target, npy_intp count) noexcept nogil


cdef struct conversion_t:
    convert_t first
    convert_t second          # NULL if one step suffices; between two lies a floating type
    npy_intp source_size
    npy_intp target_size
    npy_intp block            # how many elements are converted at a time


cdef struct converting_loop_t:
    inner_loop_t function
    void* data
    int operands
    conversion_t conversions[4]  # of the inputs to what the loop takes, of the last operand from it; first NULL: none


cdef inner_loop_t copy_loop(int itemsize) noexcept nogil
cdef void copy_tile(
    char** data, npy_intp columns, npy_intp rows, const npy_intp* column_steps, const npy_intp* row_steps,
    void* itemsize) noexcept nogil
cdef int conversion_init(conversion_t* self, uint8_t source_code, uint8_t target_code) except -1
cdef void convert_block(
    const conversion_t* self, char* source, npy_intp source_step, char* target, npy_intp target_step,
    npy_intp count) noexcept nogil
cdef void conversion_loop(char** data, const npy_intp* count, const npy_intp* steps, void* conversion) noexcept nogil
cdef void converting_loop_init(converting_loop_t* self, inner_loop_t function, void* data, int operands) noexcept
cdef void converting_loop(char** data, const npy_intp* count, const npy_intp* steps, void* self) noexcept nogil
