"""Basic indexing: ints, slices, Ellipsis and None select a view. See Note [Basic and advanced keys]."""

import cython
from cython.cimports.cpython.long import PyLong_AsLongLongAndOverflow
from cython.cimports.cpython.number import PyNumber_Index
from cython.cimports.cpython.slice import PySlice_AdjustIndices, PySlice_Unpack
from cython.cimports.libc.stdint import int64_t, uint64_t
from cython.cimports.tensix.dispatch.kernel import CKernel_with
from cython.cimports.tensix.tensors.index_key import is_position
from cython.cimports.tensix.tensors.tensor_base import Tensor_wrap, TensorBase
from cython.cimports.tensix.tensors.tensor_impl import (
    TensorImpl,
    TensorImpl_copy_dims,
    TensorImpl_refresh,
    TensorImpl_sizes,
    TensorImpl_strides,
    TensorImpl_view,
    check_unchanged,
    set_counts,
)

from tensix.dispatch import native_functions

__all__ = []


@cython.cfunc
def index(a: TensorBase, key):
    """Take ints, slices, Ellipsis and None, alone or in a tuple."""
    base = a.impl
    before: uint64_t = set_counts(base, base, base)
    view: TensorImpl
    if type(key) is int and base.ndim != 0:
        view = TensorImpl_view(base, base.ndim - 1)
        index_int(base, view, 0, 0, key, before)
        TensorImpl_copy_dims(base, view, 1, 0, base.ndim - 1)
    elif isinstance(key, slice) and base.ndim != 0:
        view = TensorImpl_view(base, base.ndim)
        index_slice(base, view, 0, 0, key, before)
        TensorImpl_copy_dims(base, view, 1, 1, base.ndim - 1)
    else:
        view = index_tuple(base, key if isinstance(key, tuple) else (key,))
    TensorImpl_refresh(view)
    return Tensor_wrap(view)


@cython.cfunc
def index_tuple(base: TensorImpl, keys: tuple) -> TensorImpl:
    consumed: cython.int = 0
    added: cython.int = 0
    ellipses: cython.int = 0
    for key in keys:
        if isinstance(key, slice):
            consumed += 1
        elif key is None:
            added += 1
        elif key is Ellipsis:
            ellipses += 1
        else:
            consumed += 1
            added -= 1
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...').")
    if consumed > base.ndim:
        raise IndexError(f"too many indices for a tensor of {base.ndim} dimensions: found {consumed}.")
    before: uint64_t = set_counts(base, base, base)
    view = TensorImpl_view(base, base.ndim + added)
    source: cython.int = 0  # the next dimension of base
    target: cython.int = 0  # and of the view
    rest: cython.int = base.ndim - consumed
    for key in keys:
        if isinstance(key, slice):
            index_slice(base, view, source, target, key, before)
            source += 1
            target += 1
        elif key is None:
            TensorImpl_sizes(view)[target] = 1
            TensorImpl_strides(view)[target] = 0
            target += 1
        elif key is Ellipsis:
            TensorImpl_copy_dims(base, view, source, target, rest)
            source += rest
            target += rest
            rest = 0
        else:
            index_int(base, view, source, target, key, before)
            source += 1
    TensorImpl_copy_dims(base, view, source, target, rest)
    return view


@cython.cfunc
@cython.exceptval(-1)
def index_int(
    base: TensorImpl, view: TensorImpl, source: cython.int, target: cython.int, key, before: uint64_t
) -> cython.int:
    """Move the offset to one index of a dimension."""
    if type(key) is not int:
        key = index_of(key)
        check_unchanged(before, base, base, base)
    extent = TensorImpl_sizes(base)[source]
    overflow: cython.int = 0
    position = PyLong_AsLongLongAndOverflow(key, cython.address(overflow))
    if position < 0:
        position += extent
    if overflow or not 0 <= position < extent:
        refuse_index(key, source, extent)
    view.storage_offset += position * TensorImpl_strides(base)[source]
    return 0


@cython.cfunc
def index_of(key):
    """Return an index that is no plain int as one."""
    if not is_position(key):
        raise IndexError(f"a basic index is made of ints, slices, Ellipsis and None, found {type(key).__name__}.")
    return PyNumber_Index(key)


@cython.cfunc
@cython.exceptval(-1)
def refuse_index(key, dim: cython.int, extent: int64_t) -> cython.int:
    raise IndexError(f"index {key} is out of bounds for dimension {dim} with size {extent}.")


@cython.cfunc
@cython.exceptval(-1)
def index_slice(
    base: TensorImpl, view: TensorImpl, source: cython.int, target: cython.int, key: slice, before: uint64_t
) -> cython.int:
    """Fill in one dimension of the view by a slice; a step may be negative."""
    start: cython.Py_ssize_t = 0
    stop: cython.Py_ssize_t = 0
    step: cython.Py_ssize_t = 0
    PySlice_Unpack(key, cython.address(start), cython.address(stop), cython.address(step))
    check_unchanged(before, base, base, base)
    length = PySlice_AdjustIndices(TensorImpl_sizes(base)[source], cython.address(start), cython.address(stop), step)
    stride = TensorImpl_strides(base)[source]
    if length != 0:  # else the offset stays inside the storage
        view.storage_offset += start * stride
    TensorImpl_sizes(view)[target] = length
    TensorImpl_strides(view)[target] = stride * step
    return 0


# Composite: geometry only, so it serves every device.
native_functions.INDEX.register("CompositeExplicitAutograd", CKernel_with("index", index))
