"""Private: rows of a tensor that a mask or positions select."""
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl


cdef TensorBase select_rows(TensorImpl source, object key)
cdef bint write_rows(TensorImpl target, object key, TensorImpl values) except -1
