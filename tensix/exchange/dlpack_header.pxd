"""Private: DLPack 1.3 as far as it concerns memory that the CPU reads.

The layout is the one that other libraries rely on, byte for byte. Names of types, fields and constants are the
standard's.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    DLPACK_MAJOR_VERSION = 1
    DLPACK_MINOR_VERSION = 3

cdef enum:
    DLPACK_FLAG_BITMASK_READ_ONLY = 1
    DLPACK_FLAG_BITMASK_IS_COPIED = 2  # no one but the receiver has these bytes

cdef enum DLDeviceType:  # those whose memory the CPU reads
    kDLCPU = 1
    kDLCUDAHost = 3
    kDLROCMHost = 11

cdef enum:  # the code of a type; from 7 on there are types of 8, 6 and 4 bits, which tensix has not
    kDLInt = 0
    kDLUInt = 1
    kDLFloat = 2
    kDLBfloat = 4
    kDLComplex = 5
    kDLBool = 6


# Another major version means another layout: then only the deleter may be called.
cdef struct DLPackVersion:
    uint32_t major
    uint32_t minor


cdef struct DLDevice:
    DLDeviceType device_type
    int32_t device_id    # 0 for the CPU


cdef struct DLDataType:
    uint8_t code
    uint8_t bits         # of one lane; a complex number counts whole
    uint16_t lanes       # 1, unless elements are short vectors


cdef struct DLTensor:    # a view: it owns nothing
    void* data           # NULL where there are no elements
    DLDevice device
    int32_t ndim
    DLDataType dtype
    int64_t* shape       # NULL is allowed for ndim 0
    int64_t* strides     # in elements; until version 1.2 NULL stood for row-major order without gaps
    uint64_t byte_offset  # from data to the first element


cdef struct DLManagedTensor:  # a view with an owner, before version 1
    DLTensor dl_tensor
    void* manager_ctx
    void (*deleter)(DLManagedTensor*) noexcept nogil  # NULL: nothing to do


# A view with an owner and a version. All versions agree on what stands before dl_tensor.
cdef struct DLManagedTensorVersioned:
    DLPackVersion version
    void* manager_ctx
    void (*deleter)(DLManagedTensorVersioned*) noexcept nogil  # NULL: nothing to do
    uint64_t flags
    DLTensor dl_tensor


ctypedef fused managed_t:
    DLManagedTensor
    DLManagedTensorVersioned


# The table by which C code exchanges tensors without capsules; it is found on a Python type, and lives for ever.
# Functions return 0, or -1 with a Python exception set. None of them waits for a stream.
cdef struct DLPackExchangeAPIHeader:
    DLPackVersion version
    DLPackExchangeAPIHeader* prev_api  # the table of an earlier version, or NULL


cdef struct DLPackExchangeAPI:
    DLPackExchangeAPIHeader header
    # Make a new tensor with type, shape and device of a prototype; errors go to the function given, not to Python.
    int (*managed_tensor_allocator)(
        DLTensor*, DLManagedTensorVersioned**, void*, void (*)(void*, const char*, const char*) noexcept) noexcept
    # Export a Python object.
    int (*managed_tensor_from_py_object_no_sync)(void*, DLManagedTensorVersioned**) except -1
    # Import into a new Python object; the tensor is taken over, whatever comes of it.
    int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned*, void**) except -1
    # Borrow the memory of a Python object until control returns to Python. NULL is allowed.
    int (*dltensor_from_py_object_no_sync)(void*, DLTensor*) except -1
    # Say on which stream the library works; the CPU has none.
    int (*current_work_stream)(DLDeviceType, int32_t, void**) noexcept
