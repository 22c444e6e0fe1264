"""Private: the positions that a mask selects."""
from tensix.tensors.tensor_impl cimport TensorImpl


cdef list places_of_mask(TensorImpl x)
