"""View operators that give the same elements another shape, or read their bytes as another type.

Every kernel here is composite: it touches sizes, strides and offset only, so it serves every device. Where no strides
describe the new shape, `reshape` and `contiguous` call `clone`.
"""

import math

import cython
from cython.cimports.libc.stdint import int64_t, uint64_t, uintptr_t
from cython.cimports.tensix.dispatch.kernel import ArgumentsKernel_of, CKernel_with
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.kernels.views import check_defined
from cython.cimports.tensix.tensors.dtype import DType, dtype_from_any, dtype_of_code
from cython.cimports.tensix.tensors.memory_format import TensorImpl_is_contiguous_in, memory_format_from_any
from cython.cimports.tensix.tensors.tensor_base import Tensor_wrap, TensorBase
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl,
    TensorImpl_copy_dims,
    TensorImpl_look_alike,
    TensorImpl_refresh,
    TensorImpl_shape,
    TensorImpl_sizes,
    TensorImpl_stride,
    TensorImpl_strides,
    TensorImpl_view,
    check_unchanged,
    contiguous_strides,
    int64_of,
    set_counts,
    tx_multiply_overflows,
    wrap_dim,
)

from tensix.dispatch import native_functions
from tensix.tensors.memory_format import contiguous_format

__all__ = []

CLONE = cython.declare(OperatorTable, native_functions.CLONE)


# ---- dimensions of size 1


@cython.cfunc
def expand(a: TensorBase, sizes):
    base = a.impl
    sizes = tuple(sizes)  # See Note [Lists that change]
    new: cython.int = len(sizes) - base.ndim
    if new < 0:
        raise ValueError(f"cannot expand shape {TensorImpl_shape(base)} to {sizes}: it has fewer dimensions.")
    before: uint64_t = set_counts(base, base, base)
    view = TensorImpl_view(base, len(sizes))
    for i, size in enumerate(sizes):
        wanted: int64_t = int64_of(size)
        if type(size) is not int:
            check_unchanged(before, base, base, base)
        extent: int64_t = TensorImpl_sizes(base)[i - new] if i >= new else 1
        if wanted == -1 and i >= new:
            wanted = extent
        if wanted < 0 or extent not in (wanted, 1):
            raise ValueError(
                f"cannot expand shape {TensorImpl_shape(base)} to {sizes}: only dimensions of size 1 repeat."
            )
        TensorImpl_sizes(view)[i] = wanted
        TensorImpl_strides(view)[i] = TensorImpl_strides(base)[i - new] if i >= new and wanted == extent else 0
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def squeeze(a: TensorBase, dims):
    base = a.impl
    before: uint64_t = set_counts(base, base, base)
    gone: cython.ulonglong = 0
    for dim in dims:
        where = wrap_dim(int64_of(dim), base.ndim)
        if TensorImpl_sizes(base)[where] != 1:
            raise ValueError(f"cannot squeeze dimension {dim} of shape {TensorImpl_shape(base)}: its size is not 1.")
        if gone >> where & 1:
            raise ValueError(f"squeeze() needs each dimension once, found {tuple(dims)}.")
        gone |= cython.cast(cython.ulonglong, 1) << where
    kept = [i for i in range(base.ndim) if not gone >> i & 1]
    check_unchanged(before, base, base, base)
    view = TensorImpl_view(base, len(kept))
    for target, source in enumerate(kept):
        TensorImpl_copy_dims(base, view, source, target, 1)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def unsqueeze(a: TensorBase, dim):
    """Add a dimension; its stride is what the next one spans, so that channels-last stays recognisable."""
    base = a.impl
    where = wrap_dim(int64_of(dim), base.ndim + 1)
    view = TensorImpl_view(base, base.ndim + 1)
    TensorImpl_copy_dims(base, view, 0, 0, where)
    TensorImpl_sizes(view)[where] = 1
    TensorImpl_strides(view)[where] = (
        TensorImpl_sizes(base)[where] * TensorImpl_strides(base)[where] if where < base.ndim else 1
    )
    TensorImpl_copy_dims(base, view, where, where + 1, base.ndim - where)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


# ---- other shapes


@cython.cfunc
def view(a: TensorBase, sizes):
    shape: tuple = sizes if type(sizes) is tuple else tuple(sizes)  # See Note [Lists that change]
    made = view_or_none(a.impl, shape)
    if made is None:
        raise ValueError(
            f"cannot view shape {TensorImpl_shape(a.impl)} with stride {TensorImpl_stride(a.impl)} as {shape}: "
            "a new dimension would have no single stride. Use reshape(), which copies then."
        )
    return made


@cython.cfunc
def reshape(a: TensorBase, sizes):
    shape: tuple = sizes if type(sizes) is tuple else tuple(sizes)  # See Note [Lists that change]
    made = view_or_none(a.impl, shape)
    return view(contiguous_copy(a, contiguous_format), shape) if made is None else made


@cython.cfunc
def contiguous(a: TensorBase, args: tuple):
    """Return the very same handle if there is nothing to do."""
    memory_format = memory_format_from_any(args[1])
    check_defined(a.impl)
    if TensorImpl_is_contiguous_in(a.impl, memory_format):
        return a
    return contiguous_copy(a, memory_format)


@cython.cfunc
def contiguous_copy(a: TensorBase, memory_format) -> TensorBase:
    return CLONE.call_named(a, "memory_format", memory_format)


@cython.cfunc
def flatten(a: TensorBase, args: tuple):
    """Merge a run of dimensions; without dimensions there is still one element."""
    base = a.impl
    first = wrap_dim(int64_of(args[1]), base.ndim or 1)
    last = wrap_dim(int64_of(args[2]), base.ndim or 1)
    if last < first:
        raise ValueError(f"flatten() merges dimensions from the first to the last, found {args[1]} to {args[2]}.")
    shape = TensorImpl_shape(base)
    return reshape(a, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@cython.cfunc
def unflatten(a: TensorBase, args: tuple):
    """Split a dimension; a stride runs through all of it, so this never copies."""
    base = a.impl
    before: uint64_t = set_counts(base, base, base)
    dim = wrap_dim(int64_of(args[1]), base.ndim)
    shape = tuple(args[2])
    count: cython.int = len(shape)
    check_unchanged(before, base, base, base)
    extent = TensorImpl_sizes(base)[dim]
    if count == 0:
        raise ValueError("unflatten() needs one size at least.")
    view = TensorImpl_view(base, base.ndim + count - 1)
    sizes = TensorImpl_sizes(view) + dim
    strides = TensorImpl_strides(view) + dim
    if not fill_in_sizes(extent, shape, sizes):
        raise ValueError(f"cannot split dimension {dim} of size {extent} into {shape}.")
    contiguous_strides(count, sizes, strides)
    check_unchanged(before, base, base, base)
    for i in range(count):
        strides[i] *= TensorImpl_strides(base)[dim]
    TensorImpl_copy_dims(base, view, 0, 0, dim)
    TensorImpl_copy_dims(base, view, dim + 1, dim + count, base.ndim - dim - 1)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def view_or_none(base: TensorImpl, shape: tuple):
    """Return the view of another shape, None if the strides do not allow one."""
    before: uint64_t = set_counts(base, base, base)
    made = TensorImpl_view(base, len(shape))
    sizes = TensorImpl_sizes(made)
    strides = TensorImpl_strides(made)
    if not fill_in_sizes(base.numel, shape, sizes):
        refuse_shape(base, shape)
    check_unchanged(before, base, base, base)
    if base.contiguous:
        made.numel, made.contiguous = contiguous_strides(made.ndim, sizes, strides), True
    elif strides_of_view(base, made.ndim, sizes, strides):
        TensorImpl_refresh(made)
    else:
        return None
    return Tensor_wrap(made)


@cython.cfunc
@cython.exceptval(-1)
def refuse_shape(base: TensorImpl, shape: tuple) -> cython.int:
    raise ValueError(f"cannot give {base.numel} elements of shape {TensorImpl_shape(base)} the shape {shape}.")


@cython.cfunc
@cython.exceptval(-1)
def fill_in_sizes(numel: int64_t, shape: tuple, sizes: cython.pointer(int64_t)) -> cython.bint:
    """Take the wanted sizes, of which one may be -1, and return whether they hold so many elements."""
    known: int64_t = 1
    unknown: cython.int = -1
    fits: cython.bint = True
    for i in range(len(shape)):
        size = int64_of(shape[i])
        if size == -1 and unknown == -1:
            unknown = i
        elif size < 0:
            raise ValueError(f"sizes must be 0 or more, one of them may be -1, found {shape}.")
        else:
            sizes[i] = size
            fits = fits and not tx_multiply_overflows(known, size, cython.address(known))
    if unknown == -1:
        return fits and known == numel
    fits = fits and known != 0 and numel % known == 0  # known of 0 would leave any size to choose from
    sizes[unknown] = numel // known if fits else 0
    return fits


@cython.cfunc
@cython.exceptval(check=False)
def strides_of_view(
    base: TensorImpl, ndim: cython.int, sizes: cython.pointer(int64_t), strides: cython.pointer(int64_t)
) -> cython.bint:
    """Give each run of mergeable dimensions of `base` its share of the new ones; False if one would straddle runs."""
    if base.numel == 0:
        step: int64_t = 1
        for i in range(ndim - 1, -1, -1):
            strides[i] = step
            step *= sizes[i] if sizes[i] > 1 else 1
        return True
    old_sizes = TensorImpl_sizes(base)
    old_strides = TensorImpl_strides(base)
    target: cython.int = ndim - 1
    run: int64_t = 1  # elements of the run of old dimensions that ends here
    inner: int64_t = old_strides[base.ndim - 1] if base.ndim else 1
    for dim in range(base.ndim - 1, -1, -1):
        run *= old_sizes[dim]
        if dim == 0 or (old_sizes[dim - 1] != 1 and old_strides[dim - 1] != run * inner):
            filled: int64_t = 1
            while target >= 0 and (filled < run or sizes[target] == 1):
                strides[target] = filled * inner
                filled *= sizes[target]
                target -= 1
            if filled != run:
                return False
            if dim > 0:
                inner = old_strides[dim - 1]
                run = 1
    return target == -1


# ---- other types


@cython.cfunc
def view_dtype(a: TensorBase, wanted):
    """Read the bytes as another type; where item sizes differ, the last dimension holds more or fewer items."""
    base = a.impl
    view = TensorImpl_look_alike(base)
    found: DType = dtype_of_code(base.dtype_code)
    dtype: DType = dtype_from_any(wanted)
    if dtype.itemsize == 0:
        raise TypeError(f"no element can be read as {dtype}.")
    view.dtype_code = dtype.code
    if dtype.itemsize != found.itemsize:
        if base.ndim == 0:
            raise ValueError(f"cannot view {found} as {dtype} without dimensions: the item sizes differ.")
        if TensorImpl_strides(base)[base.ndim - 1] != 1:
            raise ValueError(
                f"cannot view {found} as {dtype}: the item sizes differ, so the last stride must be 1, found "
                f"{TensorImpl_strides(base)[base.ndim - 1]}."
            )
        if dtype.itemsize < found.itemsize:
            split_items(view, found.itemsize // dtype.itemsize)
        else:
            join_items(view, dtype.itemsize // found.itemsize, found, dtype)
    TensorImpl_refresh(view)
    check_aligned(view, dtype)
    return Tensor_wrap(view)


@cython.cfunc
@cython.exceptval(-1)
def split_items(view: TensorImpl, ratio: int64_t) -> cython.int:
    last: cython.int = view.ndim - 1
    sizes = TensorImpl_sizes(view)
    if tx_multiply_overflows(sizes[last], ratio, cython.address(sizes[last])):
        raise ValueError(f"a last dimension {ratio} times as long has more elements than 63 bits count.")
    for i in range(last):
        TensorImpl_strides(view)[i] *= ratio
    view.storage_offset *= ratio
    return 0


@cython.cfunc
@cython.exceptval(-1)
def join_items(view: TensorImpl, ratio: int64_t, found: DType, dtype: DType) -> cython.int:
    last: cython.int = view.ndim - 1
    strides = TensorImpl_strides(view)
    for i in range(last):
        if strides[i] % ratio:
            refuse_to_join(f"the stride of dimension {i}", strides[i], ratio, found, dtype)
        strides[i] //= ratio
    if TensorImpl_sizes(view)[last] % ratio:
        refuse_to_join("the last size", TensorImpl_sizes(view)[last], ratio, found, dtype)
    if view.storage_offset % ratio:
        refuse_to_join("the storage offset", view.storage_offset, ratio, found, dtype)
    TensorImpl_sizes(view)[last] //= ratio
    view.storage_offset //= ratio
    return 0


@cython.cfunc
@cython.exceptval(-1)
def refuse_to_join(what, number: int64_t, ratio: int64_t, found: DType, dtype: DType) -> cython.int:
    raise ValueError(f"cannot view {found} as {dtype}: {what} must be divisible by {ratio}, found {number}.")


@cython.cfunc
@cython.exceptval(-1)
def check_aligned(view: TensorImpl, dtype: DType) -> cython.int:
    """Check that memory from outside, which starts anywhere, has the elements where loops may read them."""
    if view.storage is None or view.numel == 0:
        return 0
    alignment: int64_t = dtype.itemsize if dtype.numpy is None else dtype.numpy.alignment
    address = cython.cast(uintptr_t, view.storage.block.data) + view.storage_offset * dtype.itemsize
    if address % alignment:
        raise ValueError(f"the elements would not be aligned for {dtype}. Copy them with clone() first.")
    return 0


for _table, _kernel in (
    (native_functions.EXPAND, CKernel_with("expand", expand)),
    (native_functions.SQUEEZE, CKernel_with("squeeze", squeeze)),
    (native_functions.UNSQUEEZE, CKernel_with("unsqueeze", unsqueeze)),
    (native_functions.VIEW, CKernel_with("view", view)),
    (native_functions.RESHAPE, CKernel_with("reshape", reshape)),
    (native_functions.CONTIGUOUS, ArgumentsKernel_of(native_functions.CONTIGUOUS.schema, contiguous)),
    (native_functions.FLATTEN, ArgumentsKernel_of(native_functions.FLATTEN.schema, flatten)),
    (native_functions.UNFLATTEN, ArgumentsKernel_of(native_functions.UNFLATTEN.schema, unflatten)),
    (native_functions.VIEW_DTYPE, CKernel_with("view", view_dtype)),
):
    _table.register("CompositeExplicitAutograd", _kernel)
