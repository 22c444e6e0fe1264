"""The buffer protocol (PEP 3118): memory of Python objects, and ours for them."""
from cpython.buffer cimport Py_buffer
from libc.stdint cimport uint8_t
from tensix.tensors.tensor_impl cimport TensorImpl


cdef int fill_buffer(TensorImpl impl, Py_buffer* view, int flags) except -1
cdef void release_buffer(Py_buffer* view) noexcept
cdef TensorImpl impl_of_buffer(object exporter)
cdef bytes buffer_format(uint8_t dtype_code)
