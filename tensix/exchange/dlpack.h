/* DLPack 1.3 as far as it concerns memory that the CPU reads: the layout that other libraries rely on, byte for byte.
 *
 * Names of types, fields and constants are the standard's, and so is the guard: code that includes both headers gets
 * one of them.
 */
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#include <stdint.h>

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 3

/* Another major version means another layout: then only the deleter may be called. */
typedef struct {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

typedef enum {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3, /* pinned: the CPU's memory */
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLVPI = 9,
    kDLROCM = 10,
    kDLROCMHost = 11, /* pinned: the CPU's memory */
    kDLExtDev = 12,
    kDLCUDAManaged = 13,
    kDLOneAPI = 14,
    kDLWebGPU = 15,
    kDLHexagon = 16,
    kDLMAIA = 17,
    kDLTrn = 18
} DLDeviceType;

typedef struct {
    DLDeviceType device_type;
    int32_t device_id; /* 0 for the CPU */
} DLDevice;

/* From 7 on there are types of 8, 6 and 4 bits, which tensix has not. */
typedef enum {
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLOpaqueHandle = 3,
    kDLBfloat = 4,
    kDLComplex = 5,
    kDLBool = 6
} DLDataTypeCode;

typedef struct {
    uint8_t code;
    uint8_t bits;   /* of one lane; a complex number counts whole */
    uint16_t lanes; /* 1, unless elements are short vectors */
} DLDataType;

/* A view: it owns nothing. */
typedef struct {
    void *data; /* NULL where there are no elements */
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;       /* NULL is allowed for ndim 0 */
    int64_t *strides;     /* in elements; until version 1.2 NULL stood for row-major order without gaps */
    uint64_t byte_offset; /* from data to the first element */
} DLTensor;

/* A view with an owner, before version 1. */
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self); /* NULL: nothing to do */
} DLManagedTensor;

#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL) /* no one but the receiver has these bytes */
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)

/* A view with an owner and a version. All versions agree on what stands before dl_tensor. */
typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self); /* NULL: nothing to do */
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

/* The table by which C code exchanges tensors without capsules; it is found on a Python type, and lives for ever.
 * Functions return 0, or -1 with a Python exception set. None of them waits for a stream. */
typedef struct DLPackExchangeAPIHeader {
    DLPackVersion version;
    struct DLPackExchangeAPIHeader *prev_api; /* the table of an earlier version, or NULL */
} DLPackExchangeAPIHeader;

/* Make a new tensor with type, shape and device of a prototype; errors go to set_error, not to Python. */
typedef int (*DLPackManagedTensorAllocator)(
    DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
    void (*set_error)(void *error_ctx, const char *kind, const char *message));
/* Export a Python object. */
typedef int (*DLPackManagedTensorFromPyObjectNoSync)(void *py_object, DLManagedTensorVersioned **out);
/* Borrow the memory of a Python object until control returns to Python. */
typedef int (*DLPackDLTensorFromPyObjectNoSync)(void *py_object, DLTensor *out);
/* Import into a new Python object; the tensor is taken over, whatever comes of it. */
typedef int (*DLPackManagedTensorToPyObjectNoSync)(DLManagedTensorVersioned *tensor, void **out_py_object);
/* Say on which stream the library works; the CPU has none. */
typedef int (*DLPackCurrentWorkStream)(DLDeviceType device_type, int32_t device_id, void **out_current_stream);

typedef struct DLPackExchangeAPI {
    DLPackExchangeAPIHeader header;
    DLPackManagedTensorAllocator managed_tensor_allocator;
    DLPackManagedTensorFromPyObjectNoSync managed_tensor_from_py_object_no_sync;
    DLPackManagedTensorToPyObjectNoSync managed_tensor_to_py_object_no_sync;
    DLPackDLTensorFromPyObjectNoSync dltensor_from_py_object_no_sync; /* NULL is allowed */
    DLPackCurrentWorkStream current_work_stream;
} DLPackExchangeAPI;

#endif /* DLPACK_DLPACK_H_ */
