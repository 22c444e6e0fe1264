"""Kernels that make strided tensors."""
from tensix.dispatch.kernel cimport PythonKernel


cdef class StridedKernel(PythonKernel):
    cdef object call(self, tuple args, dict kwargs)


cdef dict strided_options(dict options)
