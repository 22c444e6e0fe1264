"""The device ``meta``: shapes, element types and strides, computed by the rules of the CPU's kernels, without memory.

A meta tensor has a storage that knows its size, but the device's allocator gives no memory: the address is null, and
asking for an element raises an error that says so.
"""
cimport cython
from libc.stdint cimport int64_t, uint8_t
from tensix.core.allocator cimport Allocator
from tensix.core.data_ptr cimport data_ptr_init, data_ptr_t
from tensix.core.device cimport CPU, META, Device_get
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_mutable_data
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.loops.copy cimport fill_element
from tensix.loops.empty cimport empty_like_impl
from tensix.loops.iterator cimport broadcast_sizes, iterator_add, iterator_start, iterator_t, new_result
from tensix.loops.overlap cimport check_writable_once
from tensix.loops.ufunc cimport UfuncKernel, UfuncKernel_result_code
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport TensorImpl, TensorImpl_sizes, refuse_devices

from tensix.core import set_allocator
from tensix.dispatch import native_functions


@cython.final
cdef class MetaAllocator(Allocator):
    """Give out blocks without memory: null, whatever the size."""

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
        self.operator_name, self.promotes, self.loops = rules.operator_name, rules.promotes, rules.loops
        self.inputs, self.function = rules.inputs, shape_of_ufunc
        self.name = f"shape and type of {rules.operator_name}"


cdef object shape_of_ufunc(Kernel kernel, object table, arguments_t args):
    cdef UfuncKernel self = <UfuncKernel>kernel
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl y = (<TensorBase>args[self.inputs - 1]).impl
    cdef uint8_t code = UfuncKernel_result_code(self, promote_codes(x.dtype_code, y.dtype_code))
    cdef int64_t sizes[64]
    check_common_device(x, y)
    ndim = broadcast_sizes(x, y, sizes)
    if x.device_type != META:
        x, y = y, x  # the result is made where the first is
    return Tensor_wrap(new_result(ndim, sizes, code, x, y))


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


cdef object clone(Kernel self, object table, arguments_t args):
    return Tensor_wrap(empty_like_impl((<TensorBase>args[0]).impl, <object>args[1]))


cdef object copy_(Kernel self, object table, arguments_t args):
    """Check that the copy could be made: into a meta tensor from anywhere, out of one never."""
    cdef TensorBase target = <TensorBase>args[0]
    cdef TensorBase source = <TensorBase>args[1]
    cdef iterator_t iterator
    if target.impl.device_type != META:
        raise NotImplementedError(
            f"cannot copy out of a meta tensor to {target.device}: it has no memory, its device keeps shapes only. "
            f"Make the tensor on {target.device} instead, with empty()."
        )
    check_writable_once(target.impl)
    StorageImpl_mutable_data(<StorageImpl>target.impl.storage)  # its guards: read-only, copy-on-write
    iterator_start(&iterator, target.impl.ndim, TensorImpl_sizes(target.impl))
    iterator_add(&iterator, source.impl, NULL)
    return target


cdef object fill_(Kernel self, object table, arguments_t args):
    cdef TensorBase target = <TensorBase>args[0]
    fill_element(target.impl, <object>args[1])
    StorageImpl_mutable_data(<StorageImpl>target.impl.storage)
    return target


set_allocator("meta", MetaAllocator())

native_functions.CLONE.register("Meta", Kernel_of("clone", clone))
native_functions.COPY_.register("Meta", Kernel_of("check of copy_", copy_))
native_functions.FILL_.register("Meta", Kernel_of("check of fill_", fill_))
