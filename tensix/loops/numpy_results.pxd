"""Calls of NumPy in which its arrays lie in memory of tensix."""
from tensix.tensors.tensor_impl cimport TensorImpl

cdef object call_numpy(object function, tuple args, dict kwargs=*, bint computes=*)
cdef TensorImpl take_over(object found)
cdef object array_of_bits(TensorImpl impl, bint writable)
