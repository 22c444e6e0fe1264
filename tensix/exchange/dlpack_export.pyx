"""DLPack: our tensors for other libraries, over the same memory.

See Note [Who calls a DLPack deleter] in ``dlpack.pyx``.

Note [A place for one tensor]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Most tensors that go out come back before the next one goes. A struct goes out with the GIL and comes back from
anywhere. So the place for one is taken with the GIL held, by a store, without a GIL by an exchange, and given back by
one store, where an allocator would count and lock: that takes a tenth of ``x.__dlpack__()``.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from tensix.core.atomics cimport tx_exchange_acq_rel, tx_load_acquire, tx_store_relaxed, tx_store_release
from tensix.core.device cimport CPU, META, Device_get
from tensix.core.export cimport begin_export, end_export, end_export_anywhere
from tensix.core.free_threading cimport GIL_EXISTS, stolen
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_has_guards
from tensix.exchange.dlpack_header cimport (
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPACK_FLAG_BITMASK_IS_COPIED,
    DLPACK_FLAG_BITMASK_READ_ONLY, DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION, DLPackVersion, DLTensor, kDLBfloat,
    kDLBool, kDLComplex, kDLCPU, kDLFloat, kDLInt, kDLUInt, managed_t,
)
from tensix.tensors.dtype cimport dtype_from_any, itemsize_of
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_sizes, TensorImpl_strides,
)

from tensix.tensors.dtype import bool as bool_type

# With plain pointers: a capsule in its destructor has no reference to give.
cdef extern from "Python.h":
    PyObject* PyCapsule_New(void* pointer, const char* name, void (*destructor)(PyObject*) noexcept) noexcept
    void* PyCapsule_GetPointer(PyObject* capsule, const char* name) except? NULL
    bint PyCapsule_IsValid(PyObject* capsule, const char* name) noexcept

VERSION = DLPackVersion(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION)
LEGACY = "dltensor"
VERSIONED = "dltensor_versioned"


cdef int fill_types() except -1:
    for kind, names in (
        (kDLInt, ["int8", "int16", "int32", "int64"]), (kDLUInt, ["uint8", "uint16", "uint32", "uint64"]),
        (kDLFloat, ["float16", "float32", "float64"]), (kDLBfloat, ["bfloat16"]),
        (kDLComplex, ["complex64", "complex128"]), (kDLBool, [bool_type.name]),
    ):
        for name in names:
            dtype = dtype_from_any(name)
            TYPES[dtype.code] = DLDataType(kind, 8 * dtype.itemsize, 1)
    return 0

fill_types()


cdef object dlpack_capsule(TensorImpl impl, bint is_versioned, bint is_copied):
    """Return a capsule over a tensor's memory. `is_copied`: its consumer alone has the memory."""
    return stolen(versioned_capsule(impl, is_copied) if is_versioned else legacy_capsule(impl))


cdef PyObject* versioned_capsule(TensorImpl impl, bint is_copied) except NULL:
    """Return a new reference to a capsule."""
    cdef DLManagedTensorVersioned* made = export_versioned(impl, is_copied)
    cdef PyObject* capsule = PyCapsule_New(made, VERSIONED, destroy_versioned_capsule)
    if capsule == NULL:
        delete(made)
    return capsule


cdef PyObject* legacy_capsule(TensorImpl impl) except NULL:
    """Return a new reference to a capsule."""
    cdef void* data = exportable_data(impl)
    if (<StorageImpl>impl.storage).is_readonly:
        raise BufferError(
            "the tensor is read-only, which a DLPack capsule before version 1.0 cannot say. Ask for a newer one by "
            "max_version=(1, 0), or for a copy by copy=True."
        )
    cdef DLManagedTensor* made = <DLManagedTensor*>take_place(sizeof(made[0]), impl.ndim)
    fill(made, impl, data)
    cdef PyObject* capsule = PyCapsule_New(made, LEGACY, destroy_legacy_capsule)
    if capsule == NULL:
        delete(made)
    return capsule


cdef DLManagedTensorVersioned* export_versioned(TensorImpl impl, bint is_copied) except NULL:
    """Return a tensor that keeps the block by an export."""
    cdef void* data = exportable_data(impl)
    made = <DLManagedTensorVersioned*>take_place(sizeof(made[0]), impl.ndim)
    made.version = VERSION
    made.flags = DLPACK_FLAG_BITMASK_READ_ONLY if (<StorageImpl>impl.storage).is_readonly else 0
    if is_copied:
        made.flags |= DLPACK_FLAG_BITMASK_IS_COPIED
    fill(made, impl, data)
    return made


cdef int export_dltensor(TensorImpl impl, DLTensor* out) except -1:
    """Describe a tensor by its body's own sizes and strides, which are never NULL; nothing is owned."""
    if impl.storage is not None and (<StorageImpl>impl.storage).is_readonly:
        raise BufferError("the tensor is read-only, which a bare DLTensor cannot say. Ask for a managed one.")
    describe_elements(impl, exportable_data(impl), out)
    out.shape = TensorImpl_sizes(impl)
    out.strides = TensorImpl_strides(impl)
    return 0


cdef void* exportable_data(TensorImpl impl) except? NULL:
    """Return the address of the first element, NULL without elements; what cannot be exported is a BufferError."""
    cdef PyObject* storage = <PyObject*>impl.storage
    if <object>storage is None or impl.device_type != CPU or TYPES[impl.dtype_code].bits == 0:
        refuse_export(impl)
    if impl.numel != 0 and not (<StorageImpl>storage).guarded and not (<StorageImpl>storage).was_shrunk \
            and (<StorageImpl>storage).block.data != NULL:
        return <char*>(<StorageImpl>storage).block.data + impl.storage_offset * itemsize_of(impl.dtype_code)
    try:
        if StorageImpl_has_guards(<StorageImpl>impl.storage) and not (<StorageImpl>impl.storage).is_readonly:
            TensorImpl_mutable_data(impl)  # may run Python code, as nothing does until the tensor is exported
            return exportable_data(impl)
        return NULL if impl.numel == 0 else <void*>TensorImpl_const_data(impl)
    except RuntimeError as error:
        raise BufferError(str(error)) from None


cdef int refuse_export(TensorImpl impl) except -1:
    if impl.storage is None:
        raise BufferError("a tensor without a storage, undefined or sparse, cannot be exported by DLPack.")
    if impl.device_type == META:
        raise BufferError("the tensor has no memory to export by DLPack: its device, meta, keeps shapes only.")
    raise BufferError(
        f"DLPack knows no device {Device_get(impl.device_type, impl.device_index)}: copy the tensor to the CPU with "
        "cpu()."
    )


cdef enum:
    PLACE_DIMS = 8
    PLACE_WORDS = 26  # of a versioned tensor with so many dimensions

cdef uint64_t[PLACE_WORDS] PLACE
cdef uint64_t is_taken = 0


cdef void* take_place(size_t size, int ndim) except NULL:
    """Return memory for a struct, with sizes and strides behind it. See Note [A place for one tensor]."""
    cdef void* made
    if ndim <= PLACE_DIMS and tx_load_acquire(&is_taken) == 0:
        if GIL_EXISTS:
            tx_store_relaxed(&is_taken, 1)
            return PLACE
        if tx_exchange_acq_rel(&is_taken, 1) == 0:
            return PLACE
    made = malloc(size + 2 * ndim * sizeof(int64_t))
    if made == NULL:
        raise MemoryError("no memory for a DLPack tensor.")
    return made


cdef inline void give_back(void* content) noexcept nogil:
    """Give back what `take_place` returned."""
    if content == <void*>PLACE:
        tx_store_release(&is_taken, 0)
    else:
        free(content)


cdef inline void fill(managed_t* out, TensorImpl impl, void* data) noexcept:
    """Fill in what both versions have, and export the storage."""
    cdef PyObject* storage = <PyObject*>impl.storage
    out.deleter = delete[managed_t]
    out.manager_ctx = storage
    describe(impl, data, &out.dl_tensor, <int64_t*>(out + 1))
    begin_export(<StorageImpl>storage)


cdef inline void describe(TensorImpl impl, void* data, DLTensor* out, int64_t* dims) noexcept:
    """Fill in a tensor that has sizes and strides of its own."""
    cdef const int64_t* sizes = TensorImpl_sizes(impl)
    cdef const int64_t* strides = TensorImpl_strides(impl)
    cdef int ndim = impl.ndim
    cdef int i
    describe_elements(impl, data, out)
    out.shape = dims
    out.strides = dims + ndim
    for i in range(ndim):  # few: calls of memcpy would take longer
        dims[i] = sizes[i]
        dims[ndim + i] = strides[i]


cdef inline void describe_elements(TensorImpl impl, void* data, DLTensor* out) noexcept:
    out.data = data
    out.device = DLDevice(kDLCPU, 0)
    out.ndim = impl.ndim
    out.dtype = TYPES[impl.dtype_code]
    out.byte_offset = 0


cdef void delete(managed_t* self) noexcept nogil:
    """Delete an exported tensor, as the consumer asks. See Note [Who calls a DLPack deleter]."""
    if self != NULL:
        end_export_anywhere(<StorageImpl>self.manager_ctx)
        give_back(self)


cdef void destroy_versioned_capsule(PyObject* capsule) noexcept:
    """Free what is still in the capsule: code that takes it out gives the capsule another name."""
    if PyCapsule_IsValid(capsule, VERSIONED):
        versioned = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, VERSIONED)
        end_export(<StorageImpl>versioned.manager_ctx)
        give_back(versioned)


cdef void destroy_legacy_capsule(PyObject* capsule) noexcept:
    if PyCapsule_IsValid(capsule, LEGACY):
        legacy = <DLManagedTensor*>PyCapsule_GetPointer(capsule, LEGACY)
        end_export(<StorageImpl>legacy.manager_ctx)
        give_back(legacy)
