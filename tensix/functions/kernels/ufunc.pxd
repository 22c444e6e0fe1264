"""Kernels made of NumPy's own inner loops."""
from libc.stdint cimport uint8_t
from tensix.dispatch.kernel cimport Kernel
from tensix.functions.kernels.iterator cimport inner_loop_t
from tensix.tensors.tensor_impl cimport TensorImpl


cdef struct typed_loop_t:
    inner_loop_t function  # NULL: NumPy has none for this type
    void* data
    uint8_t result_code


cdef class UfuncKernel(Kernel):
    cdef str name
    cdef int inputs
    cdef bint divides  # whether integers become the default floating type, as in true division
    cdef typed_loop_t loops[47]


cdef int UfuncKernel_code(UfuncKernel self, uint8_t code) except -1
cdef TensorImpl converted(TensorImpl source, uint8_t code)
