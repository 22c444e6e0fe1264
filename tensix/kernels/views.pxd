"""View operators that reorder dimensions or select parts."""
from libc.stdint cimport int64_t
from tensix.dispatch.kernel cimport Kernel, arguments_t
from tensix.tensors.tensor_impl cimport TensorImpl


cdef object selected(TensorImpl base, int dim, int64_t index)
cdef TensorImpl moved(TensorImpl base, int source, int target)
cdef TensorImpl narrowed(TensorImpl base, int dim, int64_t start, int64_t length)
cdef object index(Kernel kernel, object table, arguments_t args)
