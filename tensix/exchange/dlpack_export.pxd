"""Private: DLPack tensors for other libraries."""
from tensix.exchange.dlpack_header cimport DLDataType, DLManagedTensorVersioned, DLPackVersion, DLTensor
from tensix.tensors.tensor_impl cimport TensorImpl

cdef DLPackVersion VERSION
cdef DLDataType[47] TYPES           # our code -> DLPack's type; no bits where there is none
cdef const char* LEGACY             # names of capsules
cdef const char* VERSIONED

cdef object dlpack_capsule(TensorImpl impl, bint is_versioned, bint is_copied)
cdef DLManagedTensorVersioned* export_versioned(TensorImpl impl, bint is_copied) except NULL
cdef int export_dltensor(TensorImpl impl, DLTensor* out) except -1
