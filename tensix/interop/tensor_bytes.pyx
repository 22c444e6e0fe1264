"""The bytes of tensors, for those who read them from files and write them to files."""
from cpython.buffer cimport PyBUF_READ, PyBUF_WRITE
from cpython.memoryview cimport PyMemoryView_FromMemory
from tensix.tensors.tensor cimport Tensor
from tensix.tensors.tensor_impl cimport TensorImpl_const_data, TensorImpl_mutable_data


cdef char NOTHING = 0


def bytes_to_fill(Tensor x not None):
    """Return the memory of a new tensor in row-major order, to be written; the caller keeps the tensor alive."""
    data = <char*>TensorImpl_mutable_data(x.impl)
    return PyMemoryView_FromMemory(&NOTHING if data == NULL else data, x.nbytes, PyBUF_WRITE)


def bytes_to_save(Tensor x not None):
    """Return the elements' memory, to be read; the tensor is in row-major order and the caller keeps it alive."""
    data = <char*>TensorImpl_const_data(x.impl)
    return PyMemoryView_FromMemory(&NOTHING if data == NULL else data, x.nbytes, PyBUF_READ)
