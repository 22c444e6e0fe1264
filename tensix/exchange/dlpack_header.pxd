"""Private: DLPack's structs, as ``tensix/exchange/dlpack.h`` has them."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "tensix/exchange/dlpack.h" nogil:
    enum:
        DLPACK_MAJOR_VERSION
        DLPACK_MINOR_VERSION
        DLPACK_FLAG_BITMASK_READ_ONLY
        DLPACK_FLAG_BITMASK_IS_COPIED

    ctypedef enum DLDeviceType:
        kDLCPU
        kDLCUDAHost
        kDLROCMHost

    enum:
        kDLInt
        kDLUInt
        kDLFloat
        kDLBfloat
        kDLComplex
        kDLBool

    ctypedef struct DLPackVersion:
        uint32_t major
        uint32_t minor

    ctypedef struct DLDevice:
        DLDeviceType device_type
        int32_t device_id

    ctypedef struct DLDataType:
        uint8_t code
        uint8_t bits
        uint16_t lanes

    ctypedef struct DLTensor:
        void* data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset

    ctypedef struct DLManagedTensor:
        DLTensor dl_tensor
        void* manager_ctx
        void (*deleter)(DLManagedTensor*) noexcept nogil

    ctypedef struct DLManagedTensorVersioned:
        DLPackVersion version
        void* manager_ctx
        void (*deleter)(DLManagedTensorVersioned*) noexcept nogil
        uint64_t flags
        DLTensor dl_tensor

    ctypedef struct DLPackExchangeAPIHeader:
        DLPackVersion version
        DLPackExchangeAPIHeader* prev_api

    ctypedef struct DLPackExchangeAPI:
        DLPackExchangeAPIHeader header
        int (*managed_tensor_allocator)(
            DLTensor*, DLManagedTensorVersioned**, void*, void (*)(void*, const char*, const char*) noexcept) noexcept
        int (*managed_tensor_from_py_object_no_sync)(void*, DLManagedTensorVersioned**) except -1
        int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned*, void**) except -1
        int (*dltensor_from_py_object_no_sync)(void*, DLTensor*) except -1
        int (*current_work_stream)(DLDeviceType, int32_t, void**) noexcept
