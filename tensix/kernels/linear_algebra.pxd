"""Linear algebra: what kernels of other layouts check too."""
from tensix.tensors.tensor_base cimport TensorBase

cdef int check_columns(TensorBase a, TensorBase b) except -1
