"""Private: elements at positions along several dimensions."""
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl


cdef TensorBase gather(TensorImpl source, list keys)
cdef bint scatter(TensorImpl target, list keys, TensorImpl values) except -1
cdef TensorBase gather_along(TensorImpl source, TensorImpl index, int dim)
