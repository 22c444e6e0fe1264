"""Kernels made of NumPy's own inner loops."""
from libc.stdint cimport uint8_t
from tensix.dispatch.kernel cimport Kernel
from tensix.functions.kernels.iterator cimport inner_loop_t
from tensix.tensors.dtype cimport BFLOAT16, FLOAT32


cdef struct typed_loop_t:
    inner_loop_t function  # NULL: NumPy has none for this type
    void* data
    uint8_t code         # of the inputs
    uint8_t result_code


cdef class UfuncKernel(Kernel):
    cdef str name
    cdef int inputs
    cdef bint divides  # whether integers become the default floating type, as in true division
    cdef typed_loop_t loops[47]


cdef inline uint8_t UfuncKernel_result(const typed_loop_t* loop, uint8_t code) noexcept:
    """Return the type of a result: what was computed in float32 for bfloat16 is rounded to that."""
    return BFLOAT16 if code == BFLOAT16 and loop.result_code == FLOAT32 else loop.result_code


cdef int UfuncKernel_code(UfuncKernel self, uint8_t code) except -1
