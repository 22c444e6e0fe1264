"""Copies in other shapes: tensors joined, repeated and rolled. What strides can describe is in ``views.pyx``.

What joins makes the result once, and copies each part to its place in it. Its dimensions lie in memory in the order of
the first part's, if that has no gaps: transposed tensors give a transposed result, and no part is copied against its
grain.
"""
from cpython.number cimport PyNumber_Index
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.loops.copy cimport common_code, copied, copy_elements
from tensix.loops.empty cimport empty_impl, empty_strided_impl, put_in_order
from tensix.loops.item cimport item_t, place_of_item, sixteen_bytes_t
from tensix.loops.iterator cimport CHUNK_ELEMENTS, run_shares
from tensix.kernels.sorting cimport flattened
from tensix.kernels.views cimport narrowed
from tensix.tensors.dtype cimport INT64, UINT64, is_integer, itemsize_of
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_is_dense, TensorImpl_mutable_data, TensorImpl_refresh_order,
    TensorImpl_same_sizes, TensorImpl_shape, TensorImpl_sizes,
    TensorImpl_strides, TensorImpl_view, contiguous_strides, int64_of, tx_multiply_overflows, wrap_dim,
)

import numpy as np

from tensix.dispatch import native_functions
from tensix.loops.axes import as_tuple
from tensix.loops.numpy_kernel import NumpyKernel
from tensix.tensors.memory_format import contiguous_format

cdef OperatorTable CLONE = native_functions.CLONE
cdef OperatorTable EXPAND = native_functions.EXPAND
cdef OperatorTable RESHAPE = native_functions.RESHAPE


cdef object cat(Kernel self, object table, arguments_t args):
    """Join tensors along a dimension that they have; flattened, if that is None."""
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    cdef int64_t offset = 0
    cdef object axis = <object>args[1]
    cdef int64_t number = 0 if axis is None else int64_of(axis)
    cdef list parts = bodies_of(<object>args[0])
    cdef TensorImpl first = parts[0]
    cdef TensorImpl part, out
    cdef int dim = 0
    if axis is None:
        sizes[0] = 0
        for part in parts:
            lengthen(sizes, part.numel)
        out = empty_impl(1, sizes, common_code(parts), first.device_type, first.device_index)
        for part in parts:
            contiguous_strides(part.ndim, TensorImpl_sizes(part), strides)
            write(out, part, strides, offset)
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
    if not first.contiguous and TensorImpl_is_dense(first):
        put_in_order(out, TensorImpl_strides(first))
    for part in parts:
        write(out, part, TensorImpl_strides(out), offset)
        offset += TensorImpl_sizes(part)[dim] * TensorImpl_strides(out)[dim]
    return Tensor_wrap(out)


cdef object stack(Kernel self, object table, arguments_t args):
    """Join tensors of one shape along a new dimension."""
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    cdef int64_t number = int64_of(<object>args[1])
    cdef list parts = bodies_of(<object>args[0])
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
    if not first.contiguous and TensorImpl_is_dense(first):
        put_in_order(out, strides)
    for i in range(ndim - 1):
        strides[i] = TensorImpl_strides(out)[i + (i >= dim)]
    for i, part in enumerate(parts):
        write(out, part, strides, i * TensorImpl_strides(out)[dim])
    return Tensor_wrap(out)


cdef list bodies_of(object tensors):
    """Return the bodies of one or more tensors."""
    cdef list found = []
    for x in tensors:
        if not isinstance(x, TensorBase):
            raise TypeError(f"only tensors can be joined, found {type(x).__name__} among them.")
        found.append((<TensorBase>x).impl)
    if not found:
        raise ValueError("at least one tensor is needed, found none.")
    return found


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


cdef int write(TensorImpl out, TensorImpl part, const int64_t* strides, int64_t offset) except -1:
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
    return copy_elements(place, part)


# ---- rolled and tiled


cdef object roll(Kernel self, object table, arguments_t args):
    """Copy the parts before and behind where each dimension is cut to the other end."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl source = x
    cdef TensorImpl target, out
    cdef int64_t offsets[64]
    cdef int i
    shifts, axes = as_tuple(<object>args[1]), <object>args[2]
    if axes is None:
        source = flattened(x)
        out = empty_impl(x.ndim, TensorImpl_sizes(x), x.dtype_code, x.device_type, x.device_index)
        target = flattened(out)
        axes = (0,) * len(shifts)
    else:
        target = out = empty_strided_impl(x, x.dtype_code)
        axes = as_tuple(axes)
    if len(shifts) != len(axes):
        if len(shifts) != 1 and len(axes) != 1:
            raise ValueError(f"roll() needs a dimension for each shift, found {shifts} and {axes}.")
        shifts, axes = shifts * (len(axes) if len(shifts) == 1 else 1), axes * (len(shifts) if len(axes) == 1 else 1)
    for i in range(source.ndim):
        offsets[i] = 0
    for shift, axis in zip(shifts, axes):
        i = wrap_dim(int64_of(axis), source.ndim)
        size = max(TensorImpl_sizes(source)[i], 1)
        offsets[i] = (offsets[i] + <int64_t>(PyNumber_Index(shift) % size)) % size
    if x.numel != 0:
        roll_from(target, source, offsets, 0)
    return Tensor_wrap(out)


cdef int roll_from(TensorImpl target, TensorImpl source, const int64_t* offsets, int dim) except -1:
    """Copy with a dimension and those behind it rolled."""
    cdef int64_t size
    while dim < source.ndim and offsets[dim] == 0:
        dim += 1
    if dim == source.ndim:
        return copy_elements(target, source)
    size = TensorImpl_sizes(source)[dim]
    cdef int64_t offset = offsets[dim]
    roll_from(narrowed(target, dim, offset, size - offset), narrowed(source, dim, 0, size - offset), offsets, dim + 1)
    roll_from(narrowed(target, dim, 0, offset), narrowed(source, dim, size - offset, offset), offsets, dim + 1)
    return 0


cdef object tile(Kernel self, object table, arguments_t args):
    """Copy the tensor to each tile at once: tiles are dimensions of the result, in which the tensor repeats."""
    cdef tuple counts = tuple([int64_of(count) for count in as_tuple(<object>args[1])])
    cdef tuple sizes = TensorImpl_shape((<TensorBase>args[0]).impl)
    cdef int ndim = max(len(counts), len(sizes))
    cdef list line = []
    cdef list tiles = []
    cdef list result = []
    if ndim > 64:
        raise ValueError(f"a tensor has at most 64 dimensions, and tile() would give it {ndim}.")
    for size, count in zip((1,) * (ndim - len(sizes)) + sizes, (1,) * (ndim - len(counts)) + counts):
        if count < 0:
            raise ValueError(f"tile() repeats 0 times or more, found {counts}.")
        if count != 1:
            line.append(1)
            tiles.append(count)
        line.append(size)
        tiles.append(size)
        result.append(size * count)
    if len(line) > 64:
        return TILE_BY_NUMPY.function(TILE_BY_NUMPY, table, args)
    made = EXPAND.call_with(RESHAPE.call_with(<TensorBase>args[0], tuple(line)), tuple(tiles))
    return RESHAPE.call_with(CLONE.call_with(made, contiguous_format), tuple(result))


# ---- each element repeated


cdef struct repeat_t:
    const char* source
    char* out
    const int64_t* counts   # of each position; NULL if all have the same
    int64_t count
    int64_t outer           # places in front of the dimension
    int64_t length          # of it
    int64_t block           # bytes behind it
    int64_t total           # of the result, per place in front
    int64_t share           # positions for a thread: all, if each has its own count
    int itemsize


cdef object repeat(Kernel self, object table, arguments_t args):
    return repeated(table, args, int64_of(<object>args[1]), None)


cdef object repeat_tensor(Kernel self, object table, arguments_t args):
    """Repeat by counts of one dimension, as many as there are positions; other counts NumPy broadcasts or refuses."""
    cdef TensorImpl counts = (<TensorBase>args[1]).impl
    if counts.ndim != 1 or not is_integer(counts.dtype_code) or counts.dtype_code == UINT64:
        return REPEAT_BY_NUMPY.function(REPEAT_BY_NUMPY, table, args)
    return repeated(table, args, 0, copied(counts, INT64))  # they are read twice, and must be the same


cdef object repeated(object table, arguments_t args, int64_t count, TensorImpl counts):
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl source, out
    cdef object axis = <object>args[2]
    cdef repeat_t job
    cdef int64_t sizes[64]
    cdef int64_t i
    cdef int dim = 0
    if axis is not None:
        dim = wrap_dim(int64_of(axis), x.ndim)
    source = flattened(x)
    job.outer, job.block, job.length = 1, itemsize_of(x.dtype_code), x.numel
    sizes[0] = x.numel
    if axis is not None:
        job.length = TensorImpl_sizes(x)[dim]
        for i in range(x.ndim):
            sizes[i] = TensorImpl_sizes(x)[i]
            if i < dim:
                job.outer *= sizes[i]
            elif i > dim:
                job.block *= sizes[i]
    job.count, job.total, job.counts = count, 0, NULL
    if counts is not None:
        if counts.numel != job.length:
            return REPEAT_BY_NUMPY.function(REPEAT_BY_NUMPY, table, args)
        job.counts = <const int64_t*>TensorImpl_const_data(counts)
        for i in range(job.length):
            if job.counts[i] < 0:
                raise ValueError("repeat() needs counts of 0 or more.")
            lengthen(&job.total, job.counts[i])
    elif count < 0:
        raise ValueError(f"repeat() needs a count of 0 or more, found {count}.")
    elif tx_multiply_overflows(job.length, count, &job.total):
        raise ValueError(f"repeat() by {count} would have more elements than 63 bits can count.")
    sizes[dim] = job.total
    out = empty_impl(1 if axis is None else x.ndim, sizes, x.dtype_code, x.device_type, x.device_index)
    result = Tensor_wrap(out)
    if out.numel == 0:
        return result
    job.out = <char*>TensorImpl_mutable_data(out)
    job.source = <const char*>TensorImpl_const_data(source)
    job.itemsize, job.share = itemsize_of(x.dtype_code), job.outer * job.length
    if counts is None:
        job.share = max(CHUNK_ELEMENTS * job.share // out.numel, 1)
    run_shares(repeat_share, &job, (job.outer * job.length + job.share - 1) // job.share, out.numel, source, None, None)
    return result


cdef void repeat_share(void* context, int64_t share) noexcept nogil:
    cdef repeat_t job = (<repeat_t*>context)[0]
    cdef int64_t start = share * job.share
    job.source += start * job.block
    job.out += start * job.count * job.block
    job.share = min(job.share, job.outer * job.length - start)
    if job.block != job.itemsize:
        repeat_blocks(&job)
    else:
        REPEAT_ITEMS[place_of_item(job.itemsize)](job.out, &job)


ctypedef void (*repeat_items_t)(void* out, const repeat_t* self) noexcept nogil
cdef repeat_items_t[5] REPEAT_ITEMS = [
    <repeat_items_t>repeat_items[uint8_t], <repeat_items_t>repeat_items[uint16_t],
    <repeat_items_t>repeat_items[uint32_t], <repeat_items_t>repeat_items[uint64_t],
    <repeat_items_t>repeat_items[sixteen_bytes_t],
]


cdef void repeat_items(item_t* out, const repeat_t* self) noexcept nogil:
    cdef const item_t* source = <const item_t*>self.source
    cdef const int64_t* counts = self.counts
    cdef int64_t count = self.count
    cdef int64_t length = self.length
    cdef int64_t i, _
    cdef item_t item
    if counts == NULL and count == 2:
        for i in range(self.share):
            item = source[i]
            out[2 * i] = item
            out[2 * i + 1] = item
        return
    for i in range(self.share):
        item = source[i]
        if counts != NULL:
            count = counts[i % length]
        for _ in range(count):
            out[0] = item
            out += 1


cdef void repeat_blocks(const repeat_t* self) noexcept nogil:
    cdef const char* source = self.source
    cdef char* out = self.out
    cdef int64_t count = self.count
    cdef int64_t i, _
    for i in range(self.share):
        if self.counts != NULL:
            count = self.counts[i % self.length]
        for _ in range(count):
            memcpy(out, source, self.block)
            out += self.block
        source += self.block


cdef Kernel REPEAT_BY_NUMPY = NumpyKernel(np.repeat, moves=True)
cdef Kernel TILE_BY_NUMPY = NumpyKernel(np.tile, moves=True)

for _table, _kernel in (
    (native_functions.CONCAT, Kernel_of("cat", cat)),
    (native_functions.STACK, Kernel_of("stack", stack)),
    (native_functions.REPEAT, Kernel_of("repeat_interleave", repeat)),
    (native_functions.REPEAT_TENSOR, Kernel_of("repeat_interleave of counts", repeat_tensor)),
    (native_functions.ROLL, Kernel_of("roll", roll)),
    (native_functions.TILE, Kernel_of("tile", tile)),
):
    _table.register("CPU", _kernel)
