"""View operators: new geometry over the same storage.

Every kernel here is composite: it touches sizes, strides and offset only, so it serves every device.
"""

import cython
from cython.cimports.libc.stdint import int64_t
from cython.cimports.tensix.dispatch.kernel import CKernel_unary, CKernel_with
from cython.cimports.tensix.dispatch.operator_table import OperatorTable
from cython.cimports.tensix.tensors.tensor import Tensor_wrap
from cython.cimports.tensix.tensors.tensor_base import TensorBase
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl,
    TensorImpl_copy_dims,
    TensorImpl_refresh,
    TensorImpl_shape,
    TensorImpl_sizes,
    TensorImpl_stride,
    TensorImpl_strides,
    TensorImpl_view,
    contiguous_strides,
    int64_of,
    tx_multiply_overflows,
    wrap_dim,
)

from tensix.dispatch import native_functions

__all__ = []

CONTIGUOUS_COPY = cython.declare(OperatorTable, native_functions.CONTIGUOUS_COPY)


# ---- order of dimensions


@cython.cfunc
def reverse_dims(a: TensorBase):
    base = a.impl
    view = TensorImpl_view(base, base.ndim)
    for i in range(base.ndim):
        TensorImpl_copy_dims(base, view, i, base.ndim - 1 - i, 1)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def permute(a: TensorBase, dims):
    base = a.impl
    if len(dims) != base.ndim:
        raise ValueError(f"permute() of {base.ndim} dimensions needs as many, found {tuple(dims)}.")
    view = TensorImpl_view(base, base.ndim)
    seen: cython.ulonglong = 0
    for i, dim in enumerate(dims):
        source = wrap_dim(int64_of(dim), base.ndim)
        if seen >> source & 1:
            raise ValueError(f"permute() needs each dimension once, found {tuple(dims)}.")
        seen |= cython.cast(cython.ulonglong, 1) << source
        TensorImpl_copy_dims(base, view, source, i, 1)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def transpose(a: TensorBase, dims):
    base = a.impl
    if len(dims) != 2:
        raise ValueError(f"transpose() exchanges two dimensions, found {tuple(dims)}.")
    first = wrap_dim(int64_of(dims[0]), base.ndim)
    second = wrap_dim(int64_of(dims[1]), base.ndim)
    view = TensorImpl_view(base, base.ndim)
    TensorImpl_copy_dims(base, view, 0, 0, base.ndim)
    TensorImpl_copy_dims(base, view, first, second, 1)
    TensorImpl_copy_dims(base, view, second, first, 1)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


# ---- other shapes of the same elements


@cython.cfunc
def expand(a: TensorBase, sizes):
    base = a.impl
    new: cython.int = len(sizes) - base.ndim
    if new < 0:
        raise ValueError(f"cannot expand shape {TensorImpl_shape(base)} to {tuple(sizes)}: it has fewer dimensions.")
    view = TensorImpl_view(base, len(sizes))
    for i, size in enumerate(sizes):
        extent: int64_t = TensorImpl_sizes(base)[i - new] if i >= new else 1
        wanted: int64_t = int64_of(size)
        if wanted == -1 and i >= new:
            wanted = extent
        if wanted < 0 or extent not in (wanted, 1):
            raise ValueError(
                f"cannot expand shape {TensorImpl_shape(base)} to {tuple(sizes)}: only dimensions of size 1 repeat."
            )
        TensorImpl_sizes(view)[i] = wanted
        TensorImpl_strides(view)[i] = TensorImpl_strides(base)[i - new] if i >= new and wanted == extent else 0
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def squeeze(a: TensorBase, dims):
    base = a.impl
    gone: cython.ulonglong = 0
    for dim in dims:
        where = wrap_dim(int64_of(dim), base.ndim)
        if TensorImpl_sizes(base)[where] != 1:
            raise ValueError(f"cannot squeeze dimension {dim} of shape {TensorImpl_shape(base)}: its size is not 1.")
        gone |= cython.cast(cython.ulonglong, 1) << where
    kept = [i for i in range(base.ndim) if not gone >> i & 1]
    view = TensorImpl_view(base, len(kept))
    for target, source in enumerate(kept):
        TensorImpl_copy_dims(base, view, source, target, 1)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def unsqueeze(a: TensorBase, dim):
    base = a.impl
    where = wrap_dim(int64_of(dim), base.ndim + 1)
    view = TensorImpl_view(base, base.ndim + 1)
    TensorImpl_copy_dims(base, view, 0, 0, where)
    TensorImpl_sizes(view)[where] = 1
    TensorImpl_strides(view)[where] = 0
    TensorImpl_copy_dims(base, view, where, where + 1, base.ndim - where)
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def view(a: TensorBase, shape):
    made = view_or_none(a.impl, shape)
    if made is None:
        raise ValueError(
            f"cannot view shape {TensorImpl_shape(a.impl)} with stride {TensorImpl_stride(a.impl)} as {tuple(shape)}: "
            "a new dimension would have no single stride. Use reshape(), which copies then."
        )
    return made


@cython.cfunc
def reshape(a: TensorBase, shape):
    made = view_or_none(a.impl, shape)
    return view(CONTIGUOUS_COPY.call1(a), shape) if made is None else made


@cython.cfunc
def view_or_none(base: TensorImpl, shape):
    """Return the view of another shape, None if the strides do not allow one."""
    made = TensorImpl_view(base, len(shape))
    sizes = TensorImpl_sizes(made)
    strides = TensorImpl_strides(made)
    fill_in_sizes(base, shape, sizes)
    if base.contiguous:
        contiguous_strides(made.ndim, sizes, strides)
    elif not strides_of_view(base, made.ndim, sizes, strides):
        return None
    TensorImpl_refresh(made)
    return Tensor_wrap(made)


@cython.cfunc
@cython.exceptval(-1)
def fill_in_sizes(base: TensorImpl, shape, sizes: cython.pointer(int64_t)) -> cython.int:
    """Take the wanted sizes, of which one may be -1, and check that they hold as many elements."""
    known: int64_t = 1
    unknown: cython.int = -1
    fits: cython.bint = True
    for i, item in enumerate(shape):
        size = int64_of(item)
        if size == -1 and unknown == -1:
            unknown = i
        elif size < 0:
            raise ValueError(f"sizes must be 0 or more, one of them may be -1, found {tuple(shape)}.")
        else:
            sizes[i] = size
            fits = fits and not tx_multiply_overflows(known, size, cython.address(known))
    if unknown == -1:
        fits = fits and known == base.numel
    else:
        fits = fits and known != 0 and base.numel % known == 0  # known of 0 would leave any size to choose from
        sizes[unknown] = base.numel // known if fits else 0
    if not fits:
        raise ValueError(
            f"cannot give {base.numel} elements of shape {TensorImpl_shape(base)} the shape {tuple(shape)}."
        )
    return 0


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


for _table, _kernel in (
    (native_functions.REVERSE_DIMS, CKernel_unary("reverse_dims", reverse_dims)),
    (native_functions.PERMUTE, CKernel_with("permute", permute)),
    (native_functions.TRANSPOSE, CKernel_with("transpose", transpose)),
    (native_functions.EXPAND, CKernel_with("expand", expand)),
    (native_functions.SQUEEZE, CKernel_with("squeeze", squeeze)),
    (native_functions.UNSQUEEZE, CKernel_with("unsqueeze", unsqueeze)),
    (native_functions.VIEW, CKernel_with("view", view)),
    (native_functions.RESHAPE, CKernel_with("reshape", reshape)),
):
    _table.register("CompositeExplicitAutograd", _kernel)
