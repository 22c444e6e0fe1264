"""Copies in other shapes: tensors joined, repeated and rolled. What strides can describe is in ``views.py``.

What joins makes the result once, and copies each part to its place in it. Its dimensions lie in memory in the order of
the first part's, if that has no gaps: transposed tensors give a transposed result, and no part is copied against its
grain.
"""
from libc.stdint cimport INT64_MAX, int64_t, uint64_t
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.kernels.copy cimport copy_elements
from tensix.kernels.empty cimport empty_impl
from tensix.kernels.iterator cimport GRAIN_ELEMENTS
from tensix.tensors.dtype cimport refuse_undefined
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap, UNDEFINED
from tensix.tensors.tensor_impl cimport (
    TensorImpl,
    TensorImpl_is_dense,
    TensorImpl_refresh_order,
    TensorImpl_same_sizes,
    TensorImpl_shape,
    TensorImpl_sizes,
    TensorImpl_strides,
    TensorImpl_view,
    contiguous_strides,
    int64_of,
    refuse_change,
    wrap_dim,
)

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels.numpy_kernel import NumpyKernel


cdef object cat(Kernel self, object table, arguments_t args):
    """Join tensors along a dimension that they have; flattened, if that is None."""
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    cdef int64_t offset = 0
    cdef object axis = <object>args[1]
    cdef int64_t number = 0 if axis is None else int64_of(axis)
    cdef tuple parts = bodies_of(<object>args[0])
    cdef uint64_t before = set_counts_of(parts)
    cdef TensorImpl first = parts[0]
    cdef TensorImpl part, out
    cdef int dim = 0
    if axis is None:
        sizes[0] = 0
        for part in parts:
            lengthen(sizes, part.numel)
        out = empty_impl(1, sizes, common_code(parts), first.device_type, first.device_index)
        check_parts(parts, before)
        for part in parts:
            contiguous_strides(part.ndim, TensorImpl_sizes(part), strides)
            write(out, part, strides, offset, parts, before)
            offset += part.numel
        return Tensor_wrap(out)
    if first.ndim == 0:
        raise ValueError("tensors without dimensions cannot be joined along one: use stack(), or axis=None.")
    dim = wrap_dim(number, first.ndim)
    for i in range(first.ndim):
        sizes[i] = TensorImpl_sizes(first)[i]
    sizes[dim] = 0
    for part in parts:
        check_sizes(part, first, dim)
        lengthen(&sizes[dim], TensorImpl_sizes(part)[dim])
    out = empty_impl(first.ndim, sizes, common_code(parts), first.device_type, first.device_index)
    check_parts(parts, before)
    if not first.contiguous and TensorImpl_is_dense(first):
        put_in_order(out, TensorImpl_strides(first))
    for part in parts:
        write(out, part, TensorImpl_strides(out), offset, parts, before)
        offset += TensorImpl_sizes(part)[dim] * TensorImpl_strides(out)[dim]
    return Tensor_wrap(out)


cdef object stack(Kernel self, object table, arguments_t args):
    """Join tensors of one shape along a new dimension."""
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    cdef int64_t number = int64_of(<object>args[1])
    cdef tuple parts = bodies_of(<object>args[0])
    cdef uint64_t before = set_counts_of(parts)
    cdef TensorImpl first = parts[0]
    cdef TensorImpl part, out
    cdef int ndim = first.ndim + 1
    cdef int dim = wrap_dim(number, ndim)
    cdef int i
    if ndim > 64:
        raise ValueError(f"a tensor has at most 64 dimensions, and stack() would give it {ndim}.")
    for part in parts:
        if not TensorImpl_same_sizes(part, first):
            raise ValueError(
                f"stack() needs tensors of one shape, found {TensorImpl_shape(first)} and {TensorImpl_shape(part)}."
            )
    for i in range(ndim - 1):
        sizes[i + (i >= dim)] = TensorImpl_sizes(first)[i]
        strides[i + (i >= dim)] = TensorImpl_strides(first)[i]
    sizes[dim], strides[dim] = len(parts), TensorImpl_strides(first)[dim] if dim < first.ndim else 0
    out = empty_impl(ndim, sizes, common_code(parts), first.device_type, first.device_index)
    check_parts(parts, before)
    if not first.contiguous and TensorImpl_is_dense(first):
        put_in_order(out, strides)
    for i in range(ndim - 1):
        strides[i] = TensorImpl_strides(out)[i + (i >= dim)]
    for i, part in enumerate(parts):
        write(out, part, strides, i * TensorImpl_strides(out)[dim], parts, before)
    return Tensor_wrap(out)


cdef tuple bodies_of(object tensors):
    """Return the bodies of one or more tensors."""
    cdef list found = []
    for x in tensors:
        if not isinstance(x, TensorBase):
            raise TypeError(f"only tensors can be joined, found {type(x).__name__} among them.")
        if (<TensorBase>x).impl is UNDEFINED:
            refuse_undefined()
        found.append((<TensorBase>x).impl)
    if not found:
        raise ValueError("at least one tensor is needed, found none.")
    return tuple(found)


cdef uint64_t set_counts_of(tuple parts) noexcept:
    """Return how often set_() has changed one of the parts. See Note [Geometry and address]."""
    cdef uint64_t count = 0
    cdef TensorImpl part
    for part in parts:
        count += part.set_count
    return count


cdef int check_parts(tuple parts, uint64_t before) except -1:
    return refuse_change() if set_counts_of(parts) != before else 0


cdef int common_code(tuple parts) except -1:
    """Return the element type that all promote to."""
    cdef TensorImpl part = parts[0]
    cdef int code = part.dtype_code
    for part in parts:
        code = promote_codes(code, part.dtype_code)
    return code


cdef int check_sizes(TensorImpl part, TensorImpl first, int dim) except -1:
    """Check that two tensors have the same sizes but for one dimension."""
    cdef bint fits = part.ndim == first.ndim
    cdef int i
    if fits:
        for i in range(first.ndim):
            fits = fits and (i == dim or TensorImpl_sizes(part)[i] == TensorImpl_sizes(first)[i])
    if not fits:
        raise ValueError(
            f"concat() needs the same sizes but along dimension {dim}, found {TensorImpl_shape(first)} and "
            f"{TensorImpl_shape(part)}."
        )
    return 0


cdef int lengthen(int64_t* size, int64_t more) except -1:
    if more > INT64_MAX - size[0]:
        raise ValueError("the joined tensors would have more elements than 63 bits can count.")
    size[0] += more
    return 0


cdef void put_in_order(TensorImpl out, const int64_t* like) noexcept:
    """Order the dimensions of a new tensor in memory by other strides, the largest first."""
    cdef int order[64]
    cdef int64_t stride = 1
    cdef int i, j
    for i in range(out.ndim):
        j = i
        while j > 0 and like[order[j - 1]] < like[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    for i in range(out.ndim - 1, -1, -1):
        TensorImpl_strides(out)[order[i]] = stride
        stride *= max(TensorImpl_sizes(out)[order[i]], 1)
    TensorImpl_refresh_order(out, out.numel)


cdef int write(
        TensorImpl out, TensorImpl part, const int64_t* strides, int64_t offset, tuple parts,
        uint64_t before) except -1:
    """Copy a part to where it begins in the result, by strides of the result."""
    cdef int64_t numel = part.numel
    if numel == 0:
        return 0
    cdef TensorImpl place = TensorImpl_view(out, part.ndim)
    cdef int i
    for i in range(part.ndim):
        TensorImpl_sizes(place)[i] = TensorImpl_sizes(part)[i]
        TensorImpl_strides(place)[i] = strides[i]
    place.storage_offset = offset
    TensorImpl_refresh_order(place, numel)
    copy_elements(place, part)
    return check_parts(parts, before) if numel >= GRAIN_ELEMENTS else 0  # the GIL was given up


for _table, _kernel in (
    (native_functions.CONCAT, Kernel_of("cat", cat)),
    (native_functions.STACK, Kernel_of("stack", stack)),
    (native_functions.REPEAT, NumpyKernel(np.repeat, moves=True)),
    (native_functions.REPEAT_TENSOR, NumpyKernel(np.repeat, moves=True)),
    (native_functions.ROLL, NumpyKernel(np.roll, moves=True)),
    (native_functions.TILE, NumpyKernel(np.tile, moves=True)),
):
    _table.register("CPU", _kernel)
