"""Products of matrices and of vectors."""
from tensix.tensors.tensor_base cimport TensorBase

cdef int check_columns(TensorBase a, TensorBase b) except -1
