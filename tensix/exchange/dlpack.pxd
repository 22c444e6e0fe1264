"""DLPack: tensors of other libraries, taken in."""
from tensix.tensors.tensor_impl cimport TensorImpl


cdef TensorImpl impl_of_dlpack(object producer, object dl_device, object copy)
cdef object exchange_api_capsule()
