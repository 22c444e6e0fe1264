"""What stands behind ``from tensix cimport ...``: functions over classes that keep what is inside to themselves.

Classes named without an underscore are those of ``abi.pxd``, which other people's modules see; the same objects go by
their private classes in here.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uintptr_t
from tensix.core.allocator cimport allocate_without_gil, current_allocator
from tensix.core.assertions cimport TX_ASSERT_GIL
from tensix.core.combined_refcount cimport lock_word, strong_of, weak_of
from tensix.core.data_ptr cimport (
    data_ptr_destroy, data_ptr_init as core_data_ptr_init, data_ptr_t as core_data_ptr_t, deleter_t as core_deleter_t,
)
from tensix.core.device cimport CPU
from tensix.core.intrusive_ptr cimport steal_from_new as core_steal_from_new
from tensix.core.intrusive_target cimport (
    IntrusiveTarget as CoreTarget, decref as core_decref, incref as core_incref, weak_decref as core_weak_decref,
    weak_incref as core_weak_incref,
)
from tensix.core.atomics cimport tx_load_relaxed
from tensix.core.memory_reports cimport report_allocation_without_gil, report_free as core_report_free
from tensix.core.python_reference cimport restore_exception, may_run_python, pending_exception_t, save_exception
from tensix.core.storage cimport Storage as CoreStorage, Storage_from_new
from tensix.core.storage_impl cimport (
    StorageImpl, StorageImpl_allocate, StorageImpl_const_data, StorageImpl_mutable_data, StorageImpl_new,
)
from tensix.tensors.dispatch_key cimport dense_keys_of_device
from tensix.dispatch.kernel cimport Kernel, arguments_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.dtype cimport dtype_of_code, itemsize_of
from tensix.exchange.foreign_memory cimport impl_over_memory
from tensix.loops.empty cimport empty_impl
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap, UNDEFINED
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_sizes, TensorImpl_strides,
)

from tensix._tensor import Tensor as TensorClass

cdef enum:
    DTYPE_COUNT = 47


cdef void incref_out_of_line(IntrusiveTarget target) noexcept nogil:
    core_incref(<CoreTarget>target)


cdef void decref_out_of_line(IntrusiveTarget target) noexcept nogil:
    core_decref(<CoreTarget>target)


cdef bint lock(IntrusiveTarget target) noexcept nogil:
    return target is not None and lock_word(&target.combined_refcount)


cdef uint32_t use_count(IntrusiveTarget target) noexcept nogil:
    return 0 if target is None else strong_of(tx_load_relaxed(&target.combined_refcount))


cdef uint32_t weak_use_count(IntrusiveTarget target) noexcept nogil:
    return 0 if target is None else weak_of(tx_load_relaxed(&target.combined_refcount))


cdef void weak_incref(IntrusiveTarget target) noexcept nogil:
    core_weak_incref(<CoreTarget>target)


cdef void weak_decref(IntrusiveTarget target) noexcept nogil:
    core_weak_decref(<CoreTarget>target)


cdef IntrusivePtr steal_from_new(IntrusiveTarget target):
    return <IntrusivePtr>core_steal_from_new(<CoreTarget>target)


# ---- tensors and storages without the GIL

cdef PyObject* body_of(Tensor tensor) noexcept nogil:
    """Return the body, borrowed; None has that of an undefined tensor."""
    return <PyObject*>UNDEFINED if tensor is None else <PyObject*>(<TensorBase><PyObject*>tensor).impl


cdef bint is_plain(TensorImpl body) noexcept nogil:
    """Return whether the address can be returned directly. See Note [One flag before the rare states]."""
    return body.storage is not None and not (<StorageImpl>body.storage).guarded \
        and not (<StorageImpl>body.storage).was_shrunk and (<StorageImpl>body.storage).block.data != NULL


cdef void* tensor_data(Tensor tensor) noexcept nogil:
    cdef PyObject* body = body_of(tensor)
    if is_plain(<TensorImpl>body):
        return first_element(<TensorImpl>body)
    return address_or_null(body, True)


cdef const void* tensor_const_data(Tensor tensor) noexcept nogil:
    cdef PyObject* body = body_of(tensor)
    if is_plain(<TensorImpl>body):
        return first_element(<TensorImpl>body)
    return address_or_null(body, False)


cdef inline void* first_element(TensorImpl body) noexcept nogil:
    return <char*>(<StorageImpl>body.storage).block.data + body.storage_offset * itemsize_of(body.dtype_code)


cdef int tensor_ndim(Tensor tensor) noexcept nogil:
    return (<TensorImpl>body_of(tensor)).ndim


cdef const int64_t* tensor_sizes(Tensor tensor) noexcept nogil:
    return TensorImpl_sizes(<TensorImpl>body_of(tensor))


cdef const int64_t* tensor_strides(Tensor tensor) noexcept nogil:
    return TensorImpl_strides(<TensorImpl>body_of(tensor))


cdef int tensor_dtype(Tensor tensor) noexcept nogil:
    return (<TensorImpl>body_of(tensor)).dtype_code


cdef PyObject* target_of(Storage storage) noexcept nogil:
    """Return the storage behind a handle, borrowed; NULL for None and for a null handle."""
    if storage is None or (<CoreStorage><PyObject*>storage).target is None:
        return NULL
    return <PyObject*>(<CoreStorage><PyObject*>storage).target


cdef void* storage_data(Storage storage) noexcept nogil:
    cdef PyObject* target = target_of(storage)
    if target == NULL or not (<StorageImpl>target).guarded:
        return NULL if target == NULL else (<StorageImpl>target).block.data
    return address_or_null(target, True)


cdef const void* storage_const_data(Storage storage) noexcept nogil:
    cdef PyObject* target = target_of(storage)
    if target == NULL or not (<StorageImpl>target).guarded:
        return NULL if target == NULL else (<StorageImpl>target).block.data
    return address_or_null(target, False)


cdef size_t storage_nbytes(Storage storage) noexcept nogil:
    cdef PyObject* target = target_of(storage)
    return 0 if target == NULL else (<StorageImpl>target).size_bytes


cdef void* address_or_null(PyObject* owner, bint writes) noexcept nogil:
    """Take the GIL and return the address of a body or storage, which may need a copy; NULL if it is refused."""
    cdef pending_exception_t pending
    cdef void* address = NULL
    if may_run_python():
        with gil:
            pending = save_exception()
            address = ask_for_address(<object>owner, writes)
            restore_exception(pending)
    return address


cdef void* ask_for_address(object owner, bint writes) noexcept:
    try:
        if isinstance(owner, TensorImpl):
            return TensorImpl_mutable_data(owner) if writes else <void*>TensorImpl_const_data(owner)
        return StorageImpl_mutable_data(owner) if writes else <void*>StorageImpl_const_data(owner)
    except Exception:  # what is not an error, such as KeyboardInterrupt, goes to sys.unraisablehook
        return NULL


# ---- making them, with the GIL

cdef Tensor tensor_from_blob(
        void* data, int ndim, const int64_t* sizes, const int64_t* strides, int dtype, deleter_t deleter, void* ctx):
    cdef TensorImpl body
    cdef StorageImpl storage
    TX_ASSERT_GIL()
    check_geometry("tensor_from_blob", ndim, sizes, dtype)
    body = impl_over_memory(dtype, dense_keys_of_device(CPU), ndim, sizes, strides, data)
    made = Tensor_wrap(body)
    # From here on nothing fails: after an error the memory is still the caller's.
    storage = <StorageImpl>body.storage
    StorageImpl_fill(storage, storage.block.data, storage.size_bytes, deleter, data if ctx == NULL else ctx)
    return <Tensor>made


cdef Storage storage_from_blob(void* data, size_t nbytes, deleter_t deleter, void* ctx):
    TX_ASSERT_GIL()
    cdef StorageImpl storage = StorageImpl_new()
    if data == NULL and nbytes != 0:
        raise ValueError(f"storage_from_blob() was given a null address for {nbytes:,} bytes.")
    made = Storage_from_new(storage)
    StorageImpl_fill(storage, data, nbytes, deleter, data if ctx == NULL else ctx)
    return <Storage>made


cdef int check_geometry(str function, int ndim, const int64_t* sizes, int dtype) except -1:
    if not 0 <= dtype < DTYPE_COUNT or itemsize_of(dtype) == 0:
        raise ValueError(f"{function}() needs the number of an element type, found {dtype}.")
    if ndim < 0 or (sizes == NULL and ndim > 0):
        raise ValueError(f"{function}() needs ndim sizes, found ndim={ndim} and sizes={<uintptr_t>sizes:#x}.")
    return 0


cdef Tensor tensor_empty(int ndim, const int64_t* sizes, int dtype):
    cdef int i
    TX_ASSERT_GIL()
    check_geometry("tensor_empty", ndim, sizes, dtype)
    for i in range(ndim):
        if sizes[i] < 0:
            raise ValueError(f"tensor_empty() needs sizes of at least 0, found {sizes[i]} in dimension {i}.")
    return <Tensor>Tensor_wrap(empty_impl(ndim, sizes, dtype, CPU, -1))


cdef Tensor tensor_from_storage(
        Storage storage, int ndim, const int64_t* sizes, const int64_t* strides, int64_t storage_offset, int dtype):
    TX_ASSERT_GIL()
    check_geometry("tensor_from_storage", ndim, sizes, dtype)
    if target_of(storage) == NULL:
        raise ValueError("tensor_from_storage() needs a Storage, found None or one that is null.")
    shape = tuple([sizes[i] for i in range(ndim)])
    steps = steps_of_rows(shape) if strides == NULL else tuple([strides[i] for i in range(ndim)])
    return <Tensor>TensorClass.from_storage(storage, storage_offset, shape, steps, dtype_of_code(dtype))


cdef tuple steps_of_rows(tuple shape):
    """Return the strides of a row-major tensor; Python's numbers do not overflow."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= max(size, 1)
    return tuple(reversed(steps))


cdef int allocate_block(size_t nbytes, data_ptr_t* block) noexcept nogil:
    """Return 0, or -1 if there is no memory; the block owns nothing then."""
    core_data_ptr_init(<core_data_ptr_t*>block, NULL, NULL, NULL)
    return allocate_without_gil(NULL, nbytes, <core_data_ptr_t*>block, NULL)


cdef void free_block(data_ptr_t* block) noexcept nogil:
    """Free what a block owns; harmless if it owns nothing, as afterwards."""
    data_ptr_destroy(<core_data_ptr_t*>block)


cdef uint64_t report_allocation(void* data, size_t nbytes, Allocator allocator) noexcept nogil:
    return report_allocation_without_gil(data, nbytes, CPU, <PyObject*>allocator)


cdef void report_free(void* data, size_t nbytes, uint64_t stamp) noexcept nogil:
    core_report_free(data, nbytes, CPU, stamp, False)


cdef Storage allocate(size_t nbytes):
    TX_ASSERT_GIL()
    return <Storage>Storage_from_new(StorageImpl_allocate(nbytes, current_allocator(CPU), False))


cdef class TensorsKernel(Kernel):
    """Run another package's C function of one tensor or two; the operator may have options, but none may be given."""

    cdef unary_kernel_t unary
    cdef binary_kernel_t binary


cdef TensorsKernel TensorsKernel_of(str name, unary_kernel_t unary, binary_kernel_t binary):
    kernel = <TensorsKernel>TensorsKernel.__new__(TensorsKernel)
    kernel.name, kernel.unary, kernel.binary, kernel.function = name, unary, binary, run_function_of_tensors
    kernel.serves_any = True
    return kernel


cdef object run_function_of_tensors(Kernel self, object table, arguments_t args):
    cdef TensorsKernel kernel = self
    cdef OperatorTable called = table
    cdef int tensors = 1 if kernel.unary != NULL else 2
    cdef bint fits = called.count >= tensors
    cdef int place
    for place in range(called.count):
        if place < tensors:
            fits = fits and isinstance(<object>args[place], TensorBase)
        else:
            fits = fits and called.parser.is_default(place, args)
    if not fits:
        given = ", ".join([type(<object>args[place]).__name__ for place in range(called.count)])
        raise TypeError(f"{kernel.name}() takes {tensors} tensors and nothing else, found ({given}).")
    return kernel.unary(<object>args[0]) if tensors == 1 else kernel.binary(<object>args[0], <object>args[1])


cdef object unary_kernel(str name, unary_kernel_t function):
    TX_ASSERT_GIL()
    if name is None or function == NULL:
        raise TypeError("unary_kernel() needs a name and a function, found None or NULL.")
    return TensorsKernel_of(name, function, NULL)


cdef object binary_kernel(str name, binary_kernel_t function):
    TX_ASSERT_GIL()
    if name is None or function == NULL:
        raise TypeError("binary_kernel() needs a name and a function, found None or NULL.")
    return TensorsKernel_of(name, NULL, function)


cdef void StorageImpl_fill(StorageImpl self, void* data, size_t nbytes, deleter_t deleter, void* ctx) noexcept:
    """Let an empty storage own memory from outside."""
    core_data_ptr_init(&self.block, data, NULL, NULL)
    if deleter != NULL:
        self.block.ctx, self.block.deleter = ctx, <core_deleter_t>deleter
    self.size_bytes = nbytes
    self.is_foreign = True  # the code that made the memory may write it behind our back
