"""Private: order along a dimension, for other kernels too."""
from tensix.tensors.tensor_impl cimport TensorImpl


cdef TensorImpl ordered(TensorImpl x, int dim, bint descending, bint wants_positions)
cdef TensorImpl flattened(TensorImpl x)
