"""DLPack: tensors of other libraries, over the same memory, and the table by which C code exchanges them.

Note [Who calls a DLPack deleter]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A tensor that goes out keeps its storage's block by an export (see Note [Exports]); its deleter gives that back and
frees the struct, from any thread. It takes the GIL for that; what ends without it once finalisation has begun is left
to the operating system.

A tensor that comes in is the context of our storage's block. Its deleter is somebody else's code. Many of them need
the GIL, so it is held for the call; and as they may be Python, none is called after finalisation has begun: the
memory is left to the operating system.

An error on the way in leaves the tensor to the capsule, which then calls the deleter itself. Without a capsule, in the
C exchange, the consumer of the tensor does.

Note [The short way and the long way]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
A type with ``__dlpack_c_exchange_api__`` exports in C, ten times as fast as by ``__dlpack__``, but asks nothing: a
tensor that records gradients is handed over, and one that is conjugated only by a flag is given with the wrong sign.
``__dlpack__`` refuses both. So those that say that they record gradients, and all complex ones, go the long way. One
that is negated only by a flag, as PyTorch makes them of the imaginary part of a conjugate, goes with the wrong sign on
both; it is refused here. Such parts lie two numbers apart, so most tensors need not be asked.
"""
from cpython.object cimport PyObject, PyTypeObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyCapsule_SetName
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy
from tensix.core.allocator cimport current_allocator
from tensix.core.data_ptr cimport data_ptr_operations_t, data_ptr_own
from tensix.core.device cimport CPU
from tensix.core.handle cimport own_new
from tensix.core.python_reference cimport may_run_python
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_allocate
from tensix.tensors.dispatch_key cimport dense_keys_of_device
from tensix.exchange.dlpack_export cimport LEGACY, TYPES, VERSION, VERSIONED, export_dltensor, export_versioned
from tensix.exchange.dlpack_header cimport (
    DLDataType, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned, DLPACK_FLAG_BITMASK_IS_COPIED,
    DLPACK_FLAG_BITMASK_READ_ONLY, DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION, DLPackExchangeAPI,
    DLPackExchangeAPIHeader, DLTensor, kDLComplex, kDLCPU, kDLCUDAHost, kDLFloat, kDLROCMHost,
)
from tensix.tensors.dtype cimport itemsize_of
from tensix.exchange.foreign_memory cimport impl_over_memory
from tensix.tensors.tensor_base cimport Tensor_wrap, TensorBase
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_adopt, TensorImpl_new, TensorImpl_refresh, TensorImpl_sizes, TensorImpl_strides,
    contiguous_strides, tx_multiply_overflows,
)

cdef extern from "Python.h":
    PyTypeObject* Py_TYPE(object self) noexcept
    PyObject* look_up_on_type "_PyType_Lookup" (PyTypeObject* cls, object name) noexcept  # borrowed; no exception

cdef const char* USED_VERSIONED = "used_dltensor_versioned"
cdef const char* USED_LEGACY = "used_dltensor"
cdef const char* EXCHANGE_API_NAME = "dlpack_exchange_api"

cdef uint64_t DEFAULT_KEYS = dense_keys_of_device(CPU)
cdef tuple MAX_VERSION = (DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION)

cdef enum:
    NO_TYPE = 255
    KINDS = 7
    BITS = 129  # 0 to 128

cdef uint8_t[KINDS * BITS] CODES  # DLPack's code * BITS + bits -> our code


cdef int fill_codes() except -1:
    cdef int i
    for i in range(KINDS * BITS):
        CODES[i] = NO_TYPE
    for i in range(<int>(sizeof(TYPES) // sizeof(TYPES[0]))):
        if TYPES[i].bits != 0:
            CODES[TYPES[i].code * BITS + TYPES[i].bits] = i
    return 0

fill_codes()


cdef TensorImpl impl_of_dlpack(object producer, object dl_device, object copy):
    """Return a body without owners over the memory of anything that speaks DLPack.

    If its storage is not `is_foreign`, the producer has made a copy for us. `dl_device`: the device asked for;
    None: where they are. See Note [The short way and the long way].
    """
    cdef DLPackExchangeAPI* api
    cdef DLManagedTensorVersioned* managed = NULL
    if dl_device is None and not copy:
        api = exchange_api_of(producer)
        if api != NULL and not getattr(producer, "requires_grad", False):
            try:
                api.managed_tensor_from_py_object_no_sync(<void*>producer, &managed)
            except Exception:
                managed = NULL  # the capsule's way has the better words
            if managed != NULL:
                if not may_be_flagged(&managed.dl_tensor):
                    return impl_of_versioned(managed)
                release(managed)
    refuse_negated(producer)
    return impl_of_capsule(capsule_of(producer, dl_device, copy))


cdef bint may_be_flagged(const DLTensor* tensor) noexcept:
    """Whether it may be conjugated or negated by a flag; the imaginary parts that are lie at even distances."""
    cdef int i
    for i in range(tensor.ndim if tensor.dtype.code == kDLFloat and tensor.strides != NULL else 0):
        if tensor.shape[i] > 1 and tensor.strides[i] % 2:
            return False
    return tensor.dtype.code == kDLComplex or tensor.dtype.code == kDLFloat and tensor.strides != NULL


cdef int refuse_negated(object producer) except -1:
    """See Note [The short way and the long way]."""
    is_neg = getattr(producer, "is_neg", None)
    if is_neg is not None and is_neg():
        raise BufferError("the tensor is negated by a flag, which DLPack cannot say. Export its resolve_neg() instead.")
    return 0


cdef object capsule_of(object producer, object dl_device, object copy):
    """Ask for a capsule; of a producer that does not know an option yet, without it."""
    options = {"max_version": MAX_VERSION}
    if dl_device is not None:
        options["dl_device"] = dl_device
    if copy is not None:
        options["copy"] = copy
    try:
        return producer.__dlpack__(**options)
    except TypeError:
        if dl_device is not None and tuple(producer.__dlpack_device__()) != dl_device:
            raise
    return producer.__dlpack__()


cdef TensorImpl impl_of_capsule(object capsule):
    """Take a tensor out of its capsule, which is renamed then; after an error it still owns the tensor."""
    cdef DLManagedTensorVersioned* versioned
    cdef DLManagedTensor* legacy
    if PyCapsule_IsValid(capsule, VERSIONED):
        versioned = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, VERSIONED)
        impl = impl_over_versioned(versioned)
        PyCapsule_SetName(capsule, USED_VERSIONED)
        data_ptr_own(&(<StorageImpl>impl.storage).block, versioned, &versioned_operations)
    elif PyCapsule_IsValid(capsule, LEGACY):
        legacy = <DLManagedTensor*>PyCapsule_GetPointer(capsule, LEGACY)
        impl = impl_of_dltensor(&legacy.dl_tensor)
        PyCapsule_SetName(capsule, USED_LEGACY)
        data_ptr_own(&(<StorageImpl>impl.storage).block, legacy, &legacy_operations)
    elif PyCapsule_IsValid(capsule, USED_VERSIONED) or PyCapsule_IsValid(capsule, USED_LEGACY):
        raise BufferError("the DLPack capsule is used up: its tensor can be taken out once. Export it again.")
    else:
        raise BufferError(f"__dlpack__() must return a DLPack capsule, found {capsule!r}.")
    return impl


cdef TensorImpl impl_of_versioned(DLManagedTensorVersioned* managed):
    """Take a tensor over, whatever comes of it."""
    try:
        impl = impl_over_versioned(managed)
    except BaseException:
        release(managed)
        raise
    data_ptr_own(&(<StorageImpl>impl.storage).block, managed, &versioned_operations)
    return impl


cdef void release(DLManagedTensorVersioned* managed) noexcept:
    """Call the deleter of a tensor that is not taken in."""
    if managed.deleter != NULL:
        managed.deleter(managed)


cdef TensorImpl impl_over_versioned(DLManagedTensorVersioned* managed):
    if managed.version.major != DLPACK_MAJOR_VERSION:
        raise BufferError(
            f"the DLPack tensor has version {managed.version.major}.{managed.version.minor}, and tensix reads "
            f"{DLPACK_MAJOR_VERSION}.x: of others only the deleter is known. Ask for max_version={MAX_VERSION}."
        )
    impl = impl_of_dltensor(&managed.dl_tensor)
    cdef StorageImpl storage = <StorageImpl>impl.storage
    storage.is_readonly = storage.guarded = (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0
    storage.is_foreign = not managed.flags & DLPACK_FLAG_BITMASK_IS_COPIED
    return impl


cdef TensorImpl impl_of_dltensor(DLTensor* tensor):
    """Return a body without owners whose storage does not own the memory yet."""
    if tensor.device.device_type not in (kDLCPU, kDLCUDAHost, kDLROCMHost):
        raise BufferError(
            f"the DLPack tensor is on a device of type {<int>tensor.device.device_type} (number "
            f"{tensor.device.device_id}), which the CPU cannot read. Ask for device='cpu', or copy it there first."
        )
    cdef uint8_t code = code_of(tensor.dtype)
    if code == NO_TYPE:
        raise BufferError(
            f"tensix has no element type for DLPack's code {tensor.dtype.code} with {tensor.dtype.bits} bits and "
            f"{tensor.dtype.lanes} lanes. Convert the tensor first."
        )
    if tensor.ndim < 0 or (tensor.ndim > 0 and tensor.shape == NULL):
        raise BufferError(f"the DLPack tensor has {tensor.ndim} dimensions, but no sizes for them.")
    cdef char* data = <char*>tensor.data
    try:
        impl = impl_over_memory(
            code, DEFAULT_KEYS, tensor.ndim, tensor.shape, tensor.strides,
            NULL if data == NULL else data + tensor.byte_offset,
        )
    except ValueError as error:
        raise BufferError(f"the DLPack tensor cannot be taken in: {error}") from None
    (<StorageImpl>impl.storage).is_foreign = True
    return impl


cdef uint8_t code_of(DLDataType dtype) noexcept:
    if dtype.lanes != 1 or dtype.code >= KINDS or dtype.bits >= BITS:
        return NO_TYPE
    return CODES[dtype.code * BITS + dtype.bits]


cdef void delete_foreign_versioned(void* ctx) noexcept nogil:
    """Delete an imported tensor, by its producer's deleter. See Note [Who calls a DLPack deleter]."""
    managed = <DLManagedTensorVersioned*>ctx
    if may_run_python() and managed.deleter != NULL:
        with gil:
            managed.deleter(managed)


cdef void delete_foreign_legacy(void* ctx) noexcept nogil:
    managed = <DLManagedTensor*>ctx
    if may_run_python() and managed.deleter != NULL:
        with gil:
            managed.deleter(managed)


cdef data_ptr_operations_t versioned_operations = data_ptr_operations_t(
    delete_foreign_versioned, NULL, b"delete_foreign_versioned", b"DLPack tensor of another library", NULL)
cdef data_ptr_operations_t legacy_operations = data_ptr_operations_t(
    delete_foreign_legacy, NULL, b"delete_foreign_legacy", b"old DLPack tensor of another library", NULL)


# ---- the exchange in C


cdef DLPackExchangeAPI* exchange_api_of(object producer) except? NULL:
    """Return the table on a type, of a version that we know, or NULL."""
    cdef PyObject* capsule = look_up_on_type(Py_TYPE(producer), "__dlpack_c_exchange_api__")
    if capsule == NULL or not PyCapsule_IsValid(<object>capsule, EXCHANGE_API_NAME):
        return NULL
    cdef DLPackExchangeAPIHeader* header = <DLPackExchangeAPIHeader*>PyCapsule_GetPointer(
        <object>capsule, EXCHANGE_API_NAME)
    while header != NULL and header.version.major != DLPACK_MAJOR_VERSION:
        header = header.prev_api
    return <DLPackExchangeAPI*>header


cdef int table_make_tensor(
        DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
        void (*set_error)(void*, const char*, const char*) noexcept) noexcept with gil:
    out[0] = NULL
    try:
        out[0] = export_versioned(new_like(prototype), True)
        return 0
    except BaseException as error:
        text = str(error).encode()
        set_error(error_ctx, b"MemoryError" if isinstance(error, MemoryError) else b"BufferError", text)
    return -1


cdef TensorImpl new_like(DLTensor* prototype):
    """Return the body of a new row-major tensor with the type and shape of a prototype, owned by the caller."""
    cdef uint8_t code = code_of(prototype.dtype)
    if prototype.device.device_type != kDLCPU or code == NO_TYPE:
        raise BufferError(
            f"tensix makes no tensor on device type {<int>prototype.device.device_type} with DLPack's type code "
            f"{prototype.dtype.code}, {prototype.dtype.bits} bits and {prototype.dtype.lanes} lanes."
        )
    if prototype.ndim < 0 or (prototype.ndim > 0 and prototype.shape == NULL):
        raise BufferError(f"the prototype has {prototype.ndim} dimensions, but no sizes for them.")
    cdef TensorImpl impl = TensorImpl_new(code, DEFAULT_KEYS, prototype.ndim)
    cdef int64_t nbytes = 0
    memcpy(TensorImpl_sizes(impl), prototype.shape, prototype.ndim * sizeof(int64_t))
    contiguous_strides(impl.ndim, TensorImpl_sizes(impl), TensorImpl_strides(impl))
    TensorImpl_refresh(impl)
    if tx_multiply_overflows(impl.numel, itemsize_of(code), &nbytes):
        raise BufferError("the bytes of the tensor cannot be counted in 63 bits.")
    cdef StorageImpl storage = StorageImpl_allocate(nbytes, current_allocator(CPU), False)
    own_new(storage)
    TensorImpl_adopt(impl, storage)
    return impl


cdef int table_export(void* tensor, DLManagedTensorVersioned** out) except -1:
    out[0] = NULL
    out[0] = export_versioned(body_of(<object>tensor), False)
    return 0


cdef int table_import(DLManagedTensorVersioned* managed, void** out) except -1:
    out[0] = NULL
    cdef TensorBase made = Tensor_wrap(impl_of_versioned(managed))
    Py_INCREF(made)
    out[0] = <void*>made
    return 0


cdef int table_dltensor(void* tensor, DLTensor* out) except -1:
    """Describe a tensor for as long as the caller does not return to Python: no count is taken."""
    return export_dltensor(body_of(<object>tensor), out)


cdef int table_stream(DLDeviceType device_type, int32_t device_id, void** out) noexcept:
    out[0] = NULL  # the CPU has none
    return 0


cdef TensorImpl body_of(object tensor):
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"this DLPack exchange table is for tensix.Tensor, found {type(tensor).__name__}.")
    return (<TensorBase>tensor).impl


cdef DLPackExchangeAPI EXCHANGE_API
EXCHANGE_API.header.version = VERSION
EXCHANGE_API.header.prev_api = NULL
EXCHANGE_API.managed_tensor_allocator = table_make_tensor
EXCHANGE_API.managed_tensor_from_py_object_no_sync = table_export
EXCHANGE_API.managed_tensor_to_py_object_no_sync = table_import
EXCHANGE_API.dltensor_from_py_object_no_sync = table_dltensor
EXCHANGE_API.current_work_stream = table_stream


cdef object exchange_api_capsule():
    """Return the table for C code, which is an attribute of the class of tensors."""
    return PyCapsule_New(&EXCHANGE_API, EXCHANGE_API_NAME, NULL)
