"""View operators that return many: the parts of a tensor along one dimension.

Every kernel here is composite: it touches sizes, strides and offset only, so it serves every device.
"""

import cython
from cython.cimports.libc.stdint import int64_t
from cython.cimports.tensix.dispatch.kernel import ArgumentsKernel_of
from cython.cimports.tensix.kernels.views import check_defined, narrowed, position_of, selected
from cython.cimports.tensix.tensors.tensor_base import TensorBase
from cython.cimports.tensix.tensors.tensor_impl import TensorImpl, TensorImpl_sizes, int64_of, wrap_dim

from tensix.dispatch import native_functions

__all__ = []


@cython.cfunc
def unbind(a: TensorBase, args: tuple):
    base = a.impl
    check_defined(base)
    parts = []  # before the sizes are looked at: a new list may start a collection, which may run other code
    dim = wrap_dim(int64_of(args[1]), base.ndim)
    while len(parts) < TensorImpl_sizes(base)[dim]:
        parts.append(selected(base, dim, len(parts)))
    return tuple(parts)


@cython.cfunc
def split(a: TensorBase, args: tuple):
    size = position_of(args[1])
    return split_by(a.impl, int64_of(args[2]), size)


@cython.cfunc
def split_by(base: TensorImpl, axis: int64_t, size: int64_t):
    """Return parts of one size, the last of what is left; without elements one part."""
    parts = []  # as in unbind()
    dim = wrap_dim(axis, base.ndim)
    extent = TensorImpl_sizes(base)[dim]
    if size < 0 or (size == 0 and extent != 0):
        raise ValueError(f"split() needs parts of 1 element or more in dimension {dim}, found {size}.")
    start: int64_t = 0
    while True:
        length: int64_t = min(size, extent - start)
        parts.append(narrowed(base, dim, start, length))
        start += length
        if start == extent:
            return tuple(parts)


@cython.cfunc
def split_with_sizes(a: TensorBase, args: tuple):
    base = a.impl
    check_defined(base)
    parts = []  # as in unbind()
    lengths = [position_of(size) for size in tuple(args[1])]
    dim = wrap_dim(int64_of(args[2]), base.ndim)
    extent = TensorImpl_sizes(base)[dim]
    left: int64_t = extent
    for length in lengths:
        if not 0 <= length <= left:
            left = -1
            break
        left -= length
    if left != 0:
        raise ValueError(
            f"split() needs sizes of 0 or more that make up the {extent} of dimension {dim}, found {args[1]}."
        )
    start: int64_t = 0
    for length in lengths:
        parts.append(narrowed(base, dim, start, length))
        start += length
    return tuple(parts)


@cython.cfunc
def chunk(a: TensorBase, args: tuple):
    """Return so many parts or fewer; without elements all of them, each empty."""
    base = a.impl
    chunks = int64_of(args[1])
    dim = wrap_dim(int64_of(args[2]), base.ndim)
    extent = TensorImpl_sizes(base)[dim]
    if chunks <= 0:
        raise ValueError(f"chunk() needs 1 chunk or more, found {chunks}.")
    if extent != 0:
        return split_by(base, dim, (extent - 1) // chunks + 1)
    parts = [None] * chunks  # all the room at once: an absurd number fails here
    dim = wrap_dim(dim, base.ndim)
    for i in range(chunks):
        parts[i] = narrowed(base, dim, 0, 0)
    return tuple(parts)


for _table, _kernel in (
    (native_functions.UNBIND, ArgumentsKernel_of(native_functions.UNBIND.schema, unbind)),
    (native_functions.SPLIT, ArgumentsKernel_of(native_functions.SPLIT.schema, split)),
    (native_functions.SPLIT_WITH_SIZES, ArgumentsKernel_of(native_functions.SPLIT_WITH_SIZES.schema, split_with_sizes)),
    (native_functions.CHUNK, ArgumentsKernel_of(native_functions.CHUNK.schema, chunk)),
):
    _table.register("CompositeExplicitAutograd", _kernel)
