"""Pickles of tensors."""
from tensix.core.storage cimport Storage
from tensix.tensors.tensor_base cimport TensorBase


cdef class StorageState:
    cdef readonly Storage storage
    cdef readonly size_t start
    cdef readonly size_t nbytes
    cdef object make_tensor
    cdef object __weakref__


cdef tuple reduce_tensor(TensorBase tensor)
cdef StorageState state_of(Storage storage, size_t start, size_t nbytes, object make_tensor)
