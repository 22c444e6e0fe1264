"""Copying elements: clone, lazy clone, copy_ and fill_.

Elements of the same type move as bytes; where the type changes, NumPy converts over zero-copy views. Only bfloat16 is
rounded to here, from float32. See Note [bfloat16 and NumPy].
"""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport llabs
from libc.string cimport memcpy
from numpy cimport npy_intp
from tensix.core.device cimport Device_from_any
from tensix.core.handle cimport own_newborn
from tensix.core.storage cimport StorageImpl_lazy_clone
from tensix.core.storage_impl cimport StorageImpl
from tensix.dispatch.kernel cimport ArgumentsKernel_of, CKernel_binary, CKernel_unary, CKernel_with
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.functions.kernels.empty cimport empty_impl, empty_like_impl
from tensix.functions.kernels.iterator cimport (
    GRAIN_ELEMENTS,
    inner_loop_t,
    iterator_add,
    iterator_run,
    iterator_start,
    iterator_t,
)
from tensix.tensors.dtype cimport BFLOAT16, FLOAT32, dtype_of_code
from tensix.tensors.ndarray cimport ndarray_of_impl, ndarray_of_type, readable_of_impl
from tensix.tensors.tensor cimport Tensor_wrap
from tensix.tensors.tensor_base cimport UNDEFINED, TensorBase
from tensix.tensors.tensor_impl cimport (
    TensorImpl,
    TensorImpl_adopt,
    TensorImpl_bump_version,
    TensorImpl_const_data,
    TensorImpl_is_dense,
    TensorImpl_mutable_data,
    TensorImpl_sizes,
    TensorImpl_strides,
    TensorImpl_view,
)

import numpy as np

from tensix.dispatch import native_functions

cdef OperatorTable EMPTY = native_functions.EMPTY
cdef OperatorTable COPY_ = native_functions.COPY_

ctypedef struct sixteen_bytes_t:
    uint64_t low
    uint64_t high

ctypedef fused item_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t
    sixteen_bytes_t


cdef void copy_items(item_t* of_type, char** data, const npy_intp* count, const npy_intp* steps) noexcept nogil:
    cdef char* target = data[0]
    cdef char* source = data[1]
    cdef npy_intp _
    if steps[0] == sizeof(item_t) and steps[1] == sizeof(item_t):
        memcpy(target, source, count[0] * sizeof(item_t))
        return
    for _ in range(count[0]):
        (<item_t*>target)[0] = (<item_t*>source)[0]
        target += steps[0]
        source += steps[1]

cdef void copy_1(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    copy_items(<uint8_t*>NULL, data, count, steps)

cdef void copy_2(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    copy_items(<uint16_t*>NULL, data, count, steps)

cdef void copy_4(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    copy_items(<uint32_t*>NULL, data, count, steps)

cdef void copy_8(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    copy_items(<uint64_t*>NULL, data, count, steps)

cdef void copy_16(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    copy_items(<sixteen_bytes_t*>NULL, data, count, steps)


cdef inner_loop_t loop_for(int itemsize) noexcept nogil:
    if itemsize == 1:
        return copy_1
    if itemsize == 2:
        return copy_2
    if itemsize == 4:
        return copy_4
    return copy_8 if itemsize == 8 else copy_16


cdef int copy_elements(TensorImpl target, TensorImpl source) except -1:
    """Write the elements of `source`, broadcast and converted, to `target`, which must not overlap it."""
    cdef iterator_t iterator
    cdef void* data = TensorImpl_mutable_data(target)
    cdef inner_loop_t loop = loop_for(dtype_of_code(target.dtype_code).itemsize)
    if target.dtype_code != source.dtype_code:
        check_cast(dtype_of_code(source.dtype_code).kind, target)
        if target.dtype_code != BFLOAT16:
            np.copyto(ndarray_of_impl(target, True), readable_of_impl(source), casting="unsafe")
            return 0
        source = as_float32(source)
        loop = round_to_bfloat16
    iterator_start(&iterator, target.ndim, TensorImpl_sizes(target))
    iterator_add(&iterator, target, data)
    iterator_add(&iterator, source, <void*>TensorImpl_const_data(source))
    iterator_run(&iterator, loop, NULL)
    return 0


cdef int check_cast(str kind, TensorImpl target) except -1:
    """Check that numbers of a kind can be written to a tensor: all but complex numbers to what is not complex."""
    if kind == "complex floating" and dtype_of_code(target.dtype_code).kind != kind:
        raise TypeError(
            f"complex numbers can't be cast to the desired output type {dtype_of_code(target.dtype_code)}: their "
            "imaginary parts would be lost."
        )
    return 0


cdef TensorImpl as_float32(TensorImpl source):
    """Return the tensor in float32, itself if it is."""
    if source.dtype_code == FLOAT32:
        return source
    cdef TensorImpl target = empty_impl(
        source.ndim, TensorImpl_sizes(source), FLOAT32, source.device_type, source.device_index)
    copy_elements(target, source)
    return target


cdef void round_to_bfloat16(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    cdef char* target = data[0]
    cdef char* source = data[1]
    cdef npy_intp _
    for _ in range(count[0]):
        (<uint16_t*>target)[0] = bfloat16_bits((<uint32_t*>source)[0])
        target += steps[0]
        source += steps[1]


cdef inline uint16_t bfloat16_bits(uint32_t bits) noexcept nogil:
    """Round the bits of a float32 to the nearest bfloat16, to the even one of two; beyond the largest is infinity."""
    if (bits & 0x7FFFFFFF) > 0x7F800000:  # not a number: rounding could make it infinite
        return ((bits >> 16) & 0x8000) | 0x7FC0
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16


cdef object clone(TensorBase a, tuple args):
    """Copy at once; unless a memory format is asked for, dense strides are kept and the bytes move in one piece."""
    cdef TensorImpl source = a.impl
    cdef TensorImpl target = empty_like_impl(source, args[1])
    cdef size_t nbytes = source.numel * dtype_of_code(source.dtype_code).itemsize
    cdef void* to
    cdef const void* origin
    made = Tensor_wrap(target)
    if source.numel == 0:
        return made
    if (source.contiguous and target.contiguous) or (same_strides(source, target) and TensorImpl_is_dense(source)):
        to = TensorImpl_mutable_data(target)
        origin = TensorImpl_const_data(source)
        if source.numel < GRAIN_ELEMENTS:
            memcpy(to, origin, nbytes)
        else:
            with nogil:
                memcpy(to, origin, nbytes)
    else:
        copy_elements(target, source)
    return made


cdef bint same_strides(TensorImpl a, TensorImpl b) noexcept nogil:
    cdef int i
    for i in range(a.ndim):
        if TensorImpl_sizes(a)[i] != 1 and TensorImpl_strides(a)[i] != TensorImpl_strides(b)[i]:
            return False
    return True


cdef object lazy_clone(TensorBase a):
    """Look in the same way at a storage that shares the bytes until the first write."""
    cdef TensorImpl source = a.impl
    if source.storage is None:
        raise RuntimeError("the tensor has no storage that could be shared.")
    cdef TensorImpl target = TensorImpl_view(source, source.ndim)
    cdef StorageImpl storage = StorageImpl_lazy_clone(source.storage)
    own_newborn(storage)
    TensorImpl_adopt(target, storage)
    cdef int i
    for i in range(source.ndim):
        TensorImpl_sizes(target)[i] = TensorImpl_sizes(source)[i]
        TensorImpl_strides(target)[i] = TensorImpl_strides(source)[i]
    target.numel = source.numel
    target.contiguous = source.contiguous
    return Tensor_wrap(target)


def to_copy(TensorBase source not None, *, device):
    """Copy to a device, in row-major order: whichever of the two is no CPU has the kernel that copies."""
    cdef TensorImpl impl = source.impl
    if impl is UNDEFINED:
        raise RuntimeError("the tensor is undefined: it cannot be copied to a device.")
    where = Device_from_any(device)
    made = EMPTY.call_empty(impl.ndim, TensorImpl_sizes(impl), impl.dtype_code, where.type_code, where.index)
    return COPY_.call2(made, source)


cdef object copy_(TensorBase target, TensorBase source):
    """Write another tensor's elements; a source whose memory overlaps the target's is copied first."""
    cdef TensorBase origin = source
    check_writable_once(target.impl)
    TensorImpl_mutable_data(target.impl)  # a copy-on-write target gets its own bytes before anything is compared
    if may_overlap(source.impl, target.impl):
        origin = clone(source, (source, None))
    copy_elements(target.impl, origin.impl)
    TensorImpl_bump_version(target.impl)
    return target


cdef bint may_overlap(TensorImpl a, TensorImpl b) except -1:
    """Return whether the memory of two tensors, from first to last byte, has a byte in common."""
    cdef const char* first_a
    cdef const char* last_a
    cdef const char* first_b
    cdef const char* last_b
    if a.numel == 0 or b.numel == 0:
        return False
    bytes_of(a, &first_a, &last_a)
    bytes_of(b, &first_b, &last_b)
    return first_a < last_b and first_b < last_a


cdef int bytes_of(TensorImpl self, const char** first, const char** last) except -1:
    """Find the first byte of a tensor and the one after its last."""
    cdef int64_t itemsize = dtype_of_code(self.dtype_code).itemsize
    cdef int64_t span
    first[0] = last[0] = <const char*>TensorImpl_const_data(self)
    for i in range(self.ndim):
        span = (TensorImpl_sizes(self)[i] - 1) * TensorImpl_strides(self)[i] * itemsize
        if span < 0:
            first[0] += span
        else:
            last[0] += span
    last[0] += itemsize
    return 0


cdef object fill_(TensorBase target, value):
    """Write one value everywhere."""
    # Before any address is taken: converting may run the value's own code, which may do anything.
    element = fill_element(target.impl, value)
    if target.impl.dtype_code == BFLOAT16:
        ndarray_of_type(target.impl, np.dtype(np.uint16), True)[...] = bfloat16_bits(element.view(np.uint32))
    else:
        ndarray_of_impl(target.impl, True)[...] = element
    TensorImpl_bump_version(target.impl)
    return target


cdef object fill_element(TensorImpl target, object value):
    """Return the value to write as an array of the target's type, float32 for bfloat16, if it can be written there."""
    check_writable_once(target)
    if value is None:
        raise TypeError("fill_() writes one number, found None.")
    if isinstance(value, (complex, np.complexfloating)):
        check_cast("complex floating", target)
    is_bfloat16 = target.dtype_code == BFLOAT16
    element = np.array(value, np.float32 if is_bfloat16 else dtype_of_code(target.dtype_code).numpy)
    if element.ndim != 0:
        raise ValueError(f"fill_() writes one number, found {type(value).__name__} of shape {element.shape}.")
    return element


cdef int check_writable_once(TensorImpl self) except -1:
    """Check that no two elements are known to lie at the same place.

    Two dimensions of strides s and t meet after s/g steps of the one and t/g of the other, g their greatest common
    divisor, if both are that long. What only three dimensions together bring about is not looked for: that is a hard
    problem, and no view but `as_strided` makes it.
    """
    cdef const int64_t* sizes = TensorImpl_sizes(self)
    cdef const int64_t* strides = TensorImpl_strides(self)
    cdef int64_t divisor
    cdef int i, j
    if self.contiguous:
        return 0
    for i in range(self.ndim):
        if sizes[i] > 1 and strides[i] == 0:
            refuse_to_write()
        for j in range(i):
            if sizes[i] > 1 and sizes[j] > 1:
                divisor = greatest_common_divisor(strides[i], strides[j])
                if llabs(strides[j]) // divisor < sizes[i] and llabs(strides[i]) // divisor < sizes[j]:
                    refuse_to_write()
    return 0


cdef int64_t greatest_common_divisor(int64_t a, int64_t b) noexcept nogil:
    while b != 0:
        a, b = b, a % b
    return llabs(a)


cdef int refuse_to_write() except -1:
    raise RuntimeError(
        "cannot write in place: more than one element refers to a single memory location, as expand() and unfold() "
        "make them. Write to a clone()."
    )


native_functions.CLONE.register("CPU", ArgumentsKernel_of(native_functions.CLONE.schema, clone))
native_functions.LAZY_CLONE.register("CompositeExplicitAutograd", CKernel_unary("lazy_clone", lazy_clone))
native_functions.TO_COPY.register("CompositeExplicitAutograd", to_copy)
native_functions.COPY_.register("CPU", CKernel_binary("copy_", copy_))
native_functions.FILL_.register("CPU", CKernel_with("fill_", fill_))
