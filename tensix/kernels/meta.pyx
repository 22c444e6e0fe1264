"""The device ``meta``: shapes, element types and strides, computed by the rules of the CPU's kernels, without memory.

A meta tensor has a storage that knows its size, but the device's allocator gives no memory: the address is null, and
asking for an element raises an error that says so.
"""
cimport cython
from libc.stdint cimport int64_t
from tensix.core.allocator cimport Allocator, nbytes_from_any
from tensix.core.data_ptr cimport DataPtr_wrap, data_ptr_init, data_ptr_t
from tensix.core.device cimport CPU, META, Device_get
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_mutable_data
from tensix.dispatch.kernel cimport ArgumentsKernel_of, CKernel_binary, CKernel_with, Kernel
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.kernels.copy cimport fill_element
from tensix.kernels.empty cimport empty_like_impl
from tensix.kernels.iterator cimport broadcast_sizes, iterator_add, iterator_start, iterator_t, new_result
from tensix.kernels.overlap cimport check_writable_once
from tensix.kernels.ufunc cimport UfuncKernel, UfuncKernel_result_code
from tensix.tensors.dtype cimport refuse_undefined
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap, UNDEFINED
from tensix.tensors.tensor_impl cimport TensorImpl, TensorImpl_sizes, refuse_devices

from tensix.core import set_allocator
from tensix.dispatch import native_functions

cdef OperatorTable EMPTY = native_functions.EMPTY


@cython.final
cdef class MetaAllocator(Allocator):
    """Give out blocks without memory."""

    def allocate(self, nbytes):
        """Return a null `DataPtr`, whatever the size."""
        cdef data_ptr_t block
        self.c_allocate(nbytes_from_any(nbytes), &block)
        return DataPtr_wrap(&block)

    cdef int c_allocate(self, size_t nbytes, data_ptr_t* out) except -1:
        data_ptr_init(out, NULL, NULL, NULL)
        out.device_type = META
        return 0

    cdef int c_copy_data(self, void* dst, const void* src, size_t nbytes) except -1:
        return 0

    def __repr__(self):
        return "MetaAllocator()"


cdef class MetaUfuncKernel(UfuncKernel):
    """Give a ufunc's result the shape and type that the CPU's kernel gives it."""

    def __init__(self, UfuncKernel rules not None):
        self.name, self.inputs, self.promotes, self.loops = rules.name, rules.inputs, rules.promotes, rules.loops

    cdef object call1(self, TensorBase a):
        if self.inputs != 1:
            return self.call((a,), None)
        cdef TensorImpl x = a.impl
        return Tensor_wrap(new_result(x.ndim, TensorImpl_sizes(x), UfuncKernel_result_code(self, x.dtype_code), x, x))

    cdef object call2(self, TensorBase a, TensorBase b):
        cdef int64_t sizes[64]
        if self.inputs != 2:
            return self.call((a, b), None)
        code = UfuncKernel_result_code(self, promote_codes(a.impl.dtype_code, b.impl.dtype_code))
        check_common_device(a.impl, b.impl)
        ndim = broadcast_sizes(a.impl, b.impl, sizes)
        if a.impl.device_type != META:
            a, b = b, a  # the result is made where the first is
        return Tensor_wrap(new_result(ndim, sizes, code, a.impl, b.impl))

    def __repr__(self):
        return f"shape and type of {self.name}"


cdef class MetaFunctionKernel(Kernel):
    """Give the result of an elementwise operator its shape, and the type that the CPU's kernel gives no elements."""

    cdef OperatorTable table

    def __init__(self, OperatorTable table not None):
        self.table = table

    cdef object call(self, tuple args, dict kwargs):
        cdef int64_t sizes[64]
        cdef TensorBase a = args[0]
        cdef TensorBase b = args[len(args) - 1]
        check_common_device(a.impl, b.impl)
        ndim = broadcast_sizes(a.impl, b.impl, sizes)
        samples = [EMPTY((0,), dtype=x.dtype) for x in args]
        cdef TensorBase made = self.table(*samples, **(kwargs or {}))
        if a.impl.device_type != META:
            a, b = b, a
        return Tensor_wrap(new_result(ndim, sizes, made.impl.dtype_code, a.impl, b.impl))

    def __repr__(self):
        return f"shape and type of {self.table.schema.name}"


cdef int check_common_device(TensorImpl a, TensorImpl b) except -1:
    """Check that both are on the device meta; a number on the CPU is as good as everywhere."""
    if a.device_type == META and (b.device_type == META or (b.device_type == CPU and b.ndim == 0)):
        return 0
    if b.device_type == META and a.device_type == CPU and a.ndim == 0:
        return 0
    if a.device_type != META and b.device_type != META:
        raise RuntimeError(
            f"a kernel for meta got tensors on {Device_get(a.device_type, a.device_index)} and "
            f"{Device_get(b.device_type, b.device_index)}. Leave Meta out of include_keys() and redispatch()."
        )
    return refuse_devices(a, b)


cdef object clone(TensorBase a, tuple args):
    return Tensor_wrap(empty_like_impl(a.impl, args[1]))


cdef object copy_(TensorBase target, TensorBase source):
    """Check that the copy could be made: into a meta tensor from anywhere, out of one never."""
    cdef iterator_t iterator
    if target.impl.device_type != META:
        raise NotImplementedError(
            f"cannot copy out of a meta tensor to {target.device}: it has no memory, its device keeps shapes only. "
            f"Make the tensor on {target.device} instead, with empty()."
        )
    if source.impl is UNDEFINED:
        refuse_undefined()
    check_writable_once(target.impl)
    StorageImpl_mutable_data(<StorageImpl>target.impl.storage)  # its guards: read-only, copy-on-write
    iterator_start(&iterator, target.impl.ndim, TensorImpl_sizes(target.impl))
    iterator_add(&iterator, source.impl, NULL)
    return target


cdef object fill_(TensorBase target, value):
    fill_element(target.impl, value)
    StorageImpl_mutable_data(<StorageImpl>target.impl.storage)
    return target


set_allocator("meta", MetaAllocator())

native_functions.CLONE.register("Meta", ArgumentsKernel_of(native_functions.CLONE.schema, clone))
native_functions.COPY_.register("Meta", CKernel_binary("check of copy_", copy_))
native_functions.FILL_.register("Meta", CKernel_with("check of fill_", fill_))
