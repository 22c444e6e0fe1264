"""View operators that reorder dimensions or look at parts: new geometry over the same storage.

Every kernel here is composite: it touches sizes, strides and offset only, so it serves every device.

Note [Positions beyond 64 bits]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
An index or a length beyond 64 bits is out of every range, and the error should say so. Such a number is taken for the
largest or smallest of 64 bits, which is out of every range as well; the error's text shows the number as given.

Note [Lists that change]
~~~~~~~~~~~~~~~~~~~~~~~~
Taking a number runs its ``__index__``, which may be anybody's code and may lengthen the list that the number came from.
Kernels that make room for as many dimensions as a sequence has take a tuple of it first; of a tuple that is itself.
"""

import cython
from cython.cimports.cpython.long import PyLong_AsLongLongAndOverflow
from cython.cimports.cpython.number import PyIndex_Check
from cython.cimports.libc.stdint import INT64_MAX, INT64_MIN, int64_t, uint64_t
from cython.cimports.tensix.dispatch.kernel import ArgumentsKernel_of, CKernel_binary, CKernel_unary, CKernel_with
from cython.cimports.tensix.tensors.tensor_base import UNDEFINED, Tensor_wrap, TensorBase
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl,
    TensorImpl_check_bounds,
    TensorImpl_copy_dims,
    TensorImpl_look_alike,
    TensorImpl_refresh,
    TensorImpl_refresh_order,
    TensorImpl_shallow_copy_from,
    TensorImpl_sizes,
    TensorImpl_strides,
    TensorImpl_view,
    check_unchanged,
    int64_of,
    set_counts,
    wrap_dim,
)

from tensix.dispatch import native_functions

__all__ = []


def check_defined(base):
    """Check what making a view would check, for a kernel that may have to make none."""
    if base is UNDEFINED:
        raise RuntimeError("the tensor is undefined: there is nothing to look at. Make one with empty() or tensor().")
    return 0


def position_of(number):
    """Return an index, start or length. See Note [Positions beyond 64 bits]."""
    if type(number) is not int:
        return int64_of(number)
    overflow: cython.int = 0
    position = PyLong_AsLongLongAndOverflow(number, cython.address(overflow))
    if overflow:
        return INT64_MAX if overflow > 0 else INT64_MIN
    return position


# ---- the same elements in another body


@cython.cfunc
def detach(a: TensorBase):
    return Tensor_wrap(TensorImpl_look_alike(a.impl))


@cython.cfunc
def set_(a: TensorBase, source: TensorBase):
    check_defined(a.impl)
    check_defined(source.impl)
    TensorImpl_shallow_copy_from(a.impl, source.impl)
    return a


# ---- order of dimensions


@cython.cfunc
def reverse_dims(a: TensorBase):
    base = a.impl
    view = TensorImpl_view(base, base.ndim)
    last: cython.int = base.ndim - 1
    sizes, strides = TensorImpl_sizes(base), TensorImpl_strides(base)
    new_sizes, new_strides = TensorImpl_sizes(view), TensorImpl_strides(view)
    for i in range(base.ndim):
        new_sizes[last - i], new_strides[last - i] = sizes[i], strides[i]
    TensorImpl_refresh_order(view, base.numel)
    return Tensor_wrap(view)


@cython.cfunc
def permute(a: TensorBase, dims):
    base = a.impl
    dims = tuple(dims)  # See Note [Lists that change]
    if len(dims) != base.ndim:
        raise ValueError(f"permute() of {base.ndim} dimensions needs as many, found {dims}.")
    before: uint64_t = set_counts(base, base, base)
    view = TensorImpl_view(base, base.ndim)
    seen: cython.ulonglong = 0
    for i, dim in enumerate(dims):
        source = wrap_dim(int64_of(dim), base.ndim)
        if seen >> source & 1:
            raise ValueError(f"permute() needs each dimension once, found {dims}.")
        seen |= cython.cast(cython.ulonglong, 1) << source
        check_unchanged(before, base, base, base)
        TensorImpl_copy_dims(base, view, source, i, 1)
    TensorImpl_refresh_order(view, base.numel)
    return Tensor_wrap(view)


@cython.cfunc
def transpose(a: TensorBase, args: tuple):
    base = a.impl
    before: uint64_t = set_counts(base, base, base)
    first = wrap_dim(int64_of(args[1]), base.ndim)
    second = wrap_dim(int64_of(args[2]), base.ndim)
    check_unchanged(before, base, base, base)
    return exchanged(base, first, second)


@cython.cfunc
def exchanged(base: TensorImpl, first: cython.int, second: cython.int):
    view = TensorImpl_look_alike(base)
    TensorImpl_copy_dims(base, view, first, second, 1)
    TensorImpl_copy_dims(base, view, second, first, 1)
    TensorImpl_refresh_order(view, base.numel)
    return Tensor_wrap(view)


@cython.cfunc
def t(a: TensorBase):
    if a.impl.ndim > 2:
        raise ValueError(f"t() is for at most 2 dimensions, found {a.impl.ndim}: use transpose(), permute() or mT.")
    return reverse_dims(a)


@cython.cfunc
def matrix_transpose(a: TensorBase):
    base = a.impl
    if base.ndim < 2:
        raise ValueError(f"mT is for 2 dimensions or more, found {base.ndim}.")
    return exchanged(base, base.ndim - 2, base.ndim - 1)


@cython.cfunc
def movedim(a: TensorBase, args: tuple):
    """Put the moved dimensions to their places, and let the others fill the gaps in their order."""
    base = a.impl
    moved = distinct_dims(args[1], base.ndim, "source")
    places = distinct_dims(args[2], base.ndim, "destination")
    if len(moved) != len(places):
        raise ValueError(f"movedim() needs a destination for each source, found {args[1]} and {args[2]}.")
    order = [dim for dim in range(base.ndim) if dim not in moved]
    for place, dim in sorted(zip(places, moved, strict=True)):
        order.insert(place, dim)
    return permute(a, order)


@cython.cfunc
def distinct_dims(dims, ndim: cython.int, what) -> list:
    """Return a dimension, or a sequence of them, counted from the front; each may come once."""
    wrapped = [wrap_dim(int64_of(dim), ndim) for dim in ((dims,) if PyIndex_Check(dims) else dims)]
    if len(set(wrapped)) != len(wrapped):
        raise ValueError(f"movedim() needs each {what} dimension once, found {tuple(dims)}.")
    return wrapped


# ---- parts


@cython.cfunc
def select(a: TensorBase, args: tuple):
    base = a.impl
    before: uint64_t = set_counts(base, base, base)
    dim = wrap_dim(int64_of(args[1]), base.ndim)
    index = position_of(args[2])
    check_unchanged(before, base, base, base)
    extent = TensorImpl_sizes(base)[dim]
    if index < 0:
        index += extent
    if not 0 <= index < extent:
        raise IndexError(f"index {args[2]} is out of bounds for dimension {dim} with size {extent}.")
    return selected(base, dim, index)


def selected(base, dim, index):
    """Return the view at one index, which is there."""
    view = TensorImpl_view(base, base.ndim - 1)
    TensorImpl_copy_dims(base, view, 0, 0, dim)
    TensorImpl_copy_dims(base, view, dim + 1, dim, base.ndim - 1 - dim)
    view.storage_offset += index * TensorImpl_strides(base)[dim]
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def narrow(a: TensorBase, args: tuple):
    base = a.impl
    before: uint64_t = set_counts(base, base, base)
    dim = wrap_dim(int64_of(args[1]), base.ndim)
    start = position_of(args[2])
    length = position_of(args[3])
    check_unchanged(before, base, base, base)
    extent = TensorImpl_sizes(base)[dim]
    if start < 0:
        start += extent
    if not (0 <= start <= extent and 0 <= length <= extent - start):
        raise IndexError(f"start ({args[2]}) + length ({args[3]}) exceeds dimension size ({extent}).")
    return narrowed(base, dim, start, length)


def narrowed(base, dim, start, length):
    """Return the view on a stretch of a dimension, all of which is there."""
    view = TensorImpl_look_alike(base)
    TensorImpl_sizes(view)[dim] = length
    if length != 0:  # else the offset stays inside the storage
        view.storage_offset += start * TensorImpl_strides(base)[dim]
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def diagonal(a: TensorBase, args: tuple):
    """Step along two dimensions at once; the diagonal comes last."""
    base = a.impl
    before: uint64_t = set_counts(base, base, base)
    offset = position_of(args[1])
    row = wrap_dim(int64_of(args[2]), base.ndim)
    column = wrap_dim(int64_of(args[3]), base.ndim)
    check_unchanged(before, base, base, base)
    if row == column:
        raise ValueError(f"a diagonal runs through two dimensions, found dimension {row} twice.")
    rows = TensorImpl_sizes(base)[row] + (offset if offset < 0 else 0)
    columns = TensorImpl_sizes(base)[column] - (offset if offset > 0 else 0)
    length: int64_t = max(min(rows, columns), 0)
    view = TensorImpl_view(base, base.ndim - 1)
    target: cython.int = 0
    for dim in range(base.ndim):
        if dim not in (row, column):
            TensorImpl_copy_dims(base, view, dim, target, 1)
            target += 1
    strides = TensorImpl_strides(base)
    TensorImpl_sizes(view)[target] = length
    TensorImpl_strides(view)[target] = strides[row] + strides[column]
    if length != 0:
        view.storage_offset += offset * strides[column] if offset > 0 else -offset * strides[row]
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


# ---- windows


@cython.cfunc
def unfold(a: TensorBase, args: tuple):
    """Lay windows over a dimension, so many elements apart; their elements become the last dimension."""
    base = a.impl
    before: uint64_t = set_counts(base, base, base)
    dim = wrap_dim(int64_of(args[1]), base.ndim)
    size = position_of(args[2])
    step = position_of(args[3])
    check_unchanged(before, base, base, base)
    extent = TensorImpl_sizes(base)[dim]
    if step <= 0:
        raise ValueError(f"unfold() needs a step of 1 or more, found {args[3]}.")
    if not 0 <= size <= extent:
        raise ValueError(f"unfold() needs a window of 0 to {extent} elements in dimension {dim}, found {args[2]}.")
    stride = TensorImpl_strides(base)[dim]
    view = TensorImpl_view(base, base.ndim + 1)
    TensorImpl_copy_dims(base, view, 0, 0, base.ndim)
    TensorImpl_sizes(view)[dim] = (extent - size) // step + 1
    TensorImpl_strides(view)[dim] = stride * step if step <= extent else stride  # beyond it there is one window
    TensorImpl_sizes(view)[base.ndim] = size
    TensorImpl_strides(view)[base.ndim] = stride
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def as_strided(a: TensorBase, args: tuple):
    """Look at the storage anew; only what the storage has can be seen."""
    base = a.impl
    size, stride = tuple(args[1]), tuple(args[2])
    if len(size) != len(stride):
        raise ValueError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)}).")
    view = TensorImpl_view(base, len(size))
    if base.storage is None:
        raise RuntimeError("the tensor has no storage that as_strided() could look at.")
    for i in range(view.ndim):
        TensorImpl_sizes(view)[i] = int64_of(size[i])
        TensorImpl_strides(view)[i] = int64_of(stride[i])
        if TensorImpl_sizes(view)[i] < 0:
            raise ValueError(f"as_strided() needs sizes of 0 or more, found {size}.")
    if args[3] is not None:
        view.storage_offset = int64_of(args[3])
    if view.storage_offset < 0:
        raise ValueError(f"as_strided() needs a storage offset of 0 or more, found {args[3]}.")
    TensorImpl_refresh(view)
    TensorImpl_check_bounds(view)
    return Tensor_wrap(view)


native_functions.REVERSE_DIMS.register("CompositeExplicitAutograd", CKernel_unary("reverse_dims", reverse_dims))
native_functions.T.register("CompositeExplicitAutograd", CKernel_unary("t", t))
native_functions.MATRIX_TRANSPOSE.register("CompositeExplicitAutograd", CKernel_unary("mT", matrix_transpose))
native_functions.PERMUTE.register("CompositeExplicitAutograd", CKernel_with("permute", permute))
for _table, _kernel in (
    (native_functions.DETACH, CKernel_unary("detach", detach)),
    (native_functions.SET_, CKernel_binary("set_", set_)),
    (native_functions.TRANSPOSE, ArgumentsKernel_of(native_functions.TRANSPOSE.schema, transpose)),
    (native_functions.MOVEDIM, ArgumentsKernel_of(native_functions.MOVEDIM.schema, movedim)),
    (native_functions.SELECT, ArgumentsKernel_of(native_functions.SELECT.schema, select)),
    (native_functions.NARROW, ArgumentsKernel_of(native_functions.NARROW.schema, narrow)),
    (native_functions.DIAGONAL, ArgumentsKernel_of(native_functions.DIAGONAL.schema, diagonal)),
    (native_functions.UNFOLD, ArgumentsKernel_of(native_functions.UNFOLD.schema, unfold)),
    (native_functions.AS_STRIDED, ArgumentsKernel_of(native_functions.AS_STRIDED.schema, as_strided)),
):
    _table.register("CompositeExplicitAutograd", _kernel)
