"""Advanced indices of several keys: positions along some dimensions, ints, slices and the rest along others.

The positions, broadcast to each other, become distances in bytes first; so all of them are checked before anything is
read or written, and they are read once, whatever other threads write meanwhile. Then each distance is a place to copy
from or to, within each place of the dimensions in front, and with all that the dimensions behind hold.

Whatever is unusual is left to NumPy, also to say what is wrong with it.
"""
from cpython.slice cimport PySlice_AdjustIndices, PySlice_Unpack
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport llabs
from numpy cimport import_array, ndarray
from tensix.core.device cimport CPU
from tensix.exchange.ndarray cimport impl_of_ndarray
from tensix.loops.conversion cimport copy_strided
from tensix.loops.copy cimport converted
from tensix.loops.empty cimport empty_impl
from tensix.kernels.searching cimport places_of_mask
from tensix.loops.item cimport item_t, place_of_item, sixteen_bytes_t
from tensix.loops.iterator cimport (
    CHUNK_ELEMENTS, GRAIN_ELEMENTS, advance, broadcast_dims, run_shares,
)
from tensix.loops.overlap cimport may_overlap
from tensix.tensors.dtype cimport BOOL, INT64, UINT64, is_integer, itemsize_of
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_has_sizes, TensorImpl_mutable_data, TensorImpl_refresh_order,
    TensorImpl_sizes, TensorImpl_strides,
)

import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(ndarray array)

cdef enum:
    FEW = 1024  # distances of so many positions fit on the stack


cdef struct run_t:              # dimensions that are walked as they lie
    int ndim
    int64_t sizes[64]
    int64_t steps[64]           # bytes


cdef struct gather_t:
    int itemsize
    int64_t start               # bytes, of ints and slices
    run_t outer                 # in front of the positions
    run_t inner                 # behind them
    int index_ndim
    int64_t index_sizes[64]
    int64_t count               # of positions
    int64_t* distances
    int advanced                # keys
    int64_t steps[64]           # of the dimensions that they are positions in
    int64_t extents[64]


# ---- keys


cdef bint gather_init(gather_t* self, TensorImpl base, list keys, list indices) except -1:
    """Sort the keys of an index by what they are; collect positions. Return False if NumPy has to."""
    cdef Py_ssize_t start = 0, stop = 0, step = 0
    cdef int64_t length
    cdef int consumed = 0
    cdef int dim = 0
    cdef int phase = 0           # 0 before the advanced keys, 1 among them, 2 behind
    cdef bint has_ellipsis = False
    cdef TensorImpl index
    cdef run_t* run
    cdef list forms = []
    self.itemsize = itemsize_of(base.dtype_code)
    self.start = 0
    self.outer.ndim = self.inner.ndim = 0
    self.advanced = 0
    if base.device_type != CPU or base.storage is None:
        return False
    for key in keys:
        if key is Ellipsis:
            if has_ellipsis:
                return False
            has_ellipsis = True
        elif isinstance(key, (slice, int)):
            if isinstance(key, bool):
                return False
            consumed += 1
        elif key is not None:
            if isinstance(key, TensorBase):
                index = (<TensorBase>key).impl
            elif isinstance(key, ndarray) and PyArray_ISCARRAY_RO(key) and key.dtype.char in "?bhilqBHI":
                index = impl_of_ndarray(key, False)
            else:
                return False
            if index.device_type != CPU or index.storage is None:
                return False
            if index.dtype_code == BOOL:
                if index.ndim == 0 or not fits(index, base, consumed, has_ellipsis):
                    return False
                forms.extend(places_of_mask(index))
                consumed += index.ndim
                continue
            if not is_integer(index.dtype_code) or index.dtype_code == UINT64:
                return False
            key = converted(index, INT64)
            consumed += 1
        forms.append(key)
    if consumed > base.ndim:
        return False
    if not has_ellipsis:
        forms.append(Ellipsis)
    for key in forms:
        if isinstance(key, TensorImpl) or isinstance(key, int):
            if phase == 2:
                return False     # keys that are apart from each other: their dimensions come first
            phase = 1
            length = TensorImpl_sizes(base)[dim]
            self.extents[self.advanced] = length
            self.steps[self.advanced] = TensorImpl_strides(base)[dim] * self.itemsize
            self.advanced += 1
            indices.append(key)
            dim += 1
            continue
        if phase == 1 and key is not Ellipsis or phase == 1 and consumed < base.ndim:
            phase = 2
        run = &self.inner if phase else &self.outer
        if key is None:
            add_dim(run, 1, 0)
        elif key is Ellipsis:
            if phase == 1 and has_ellipsis and forms[len(forms) - 1] is not Ellipsis:
                return False
            for _ in range(base.ndim - consumed):
                add_dim(run, TensorImpl_sizes(base)[dim], TensorImpl_strides(base)[dim] * self.itemsize)
                dim += 1
        else:
            PySlice_Unpack(key, &start, &stop, &step)
            length = PySlice_AdjustIndices(TensorImpl_sizes(base)[dim], &start, &stop, step)
            if length:
                self.start += start * TensorImpl_strides(base)[dim] * self.itemsize
            add_dim(run, length, TensorImpl_strides(base)[dim] * step * self.itemsize)
            dim += 1
    return self.outer.ndim + self.inner.ndim < 33 and broadcast(self, indices)


cdef bint fits(TensorImpl mask, TensorImpl base, int consumed, bint has_ellipsis) except -1:
    """Return whether a mask has the sizes of the dimensions that it selects from; behind an Ellipsis NumPy knows."""
    cdef int i
    if has_ellipsis or consumed + mask.ndim > base.ndim:
        return False
    for i in range(mask.ndim):
        if TensorImpl_sizes(mask)[i] != TensorImpl_sizes(base)[consumed + i]:
            return False
    return True


cdef void add_dim(run_t* run, int64_t size, int64_t step) noexcept:
    run.sizes[run.ndim], run.steps[run.ndim] = size, step
    run.ndim += 1


cdef bint broadcast(gather_t* self, list indices) except -1:
    """Find the common shape of positions; return False if there is none, or an int alone."""
    cdef TensorImpl index
    cdef int i
    cdef bint found = False
    cdef bint is_empty = True
    self.index_ndim = 0
    for key in indices:
        if isinstance(key, TensorImpl):
            found = True
            is_empty = is_empty and (<TensorImpl>key).numel == 0  # of others NumPy reads the positions all the same
            self.index_ndim = max(self.index_ndim, (<TensorImpl>key).ndim)
    if not found or self.index_ndim > 31:
        return False
    for i in range(self.index_ndim):
        self.index_sizes[i] = 1
    for key in indices:
        if isinstance(key, TensorImpl):
            index = key
            if broadcast_dims(
                    index.ndim, TensorImpl_sizes(index), self.index_ndim, self.index_sizes, self.index_sizes) < 0:
                return False
    self.count = 1
    for i in range(self.index_ndim):
        self.count *= self.index_sizes[i]
    return self.count != 0 or is_empty


cdef bint take_distances(gather_t* self, list indices) except -1:
    """Write how far each position is from the start; return False if one is outside."""
    cdef int64_t steps[64]
    cdef const char* positions
    cdef int64_t position
    cdef TensorImpl index
    cdef bint is_first = True
    cdef int i, k, missing
    for k in range(self.advanced):
        if not isinstance(indices[k], TensorImpl):
            position = indices[k]
            if position < 0:
                position += self.extents[k]
            if not 0 <= position < self.extents[k]:
                return False
            self.start += position * self.steps[k]
            continue
        if self.count == 0:
            continue
        index = indices[k]
        missing = self.index_ndim - index.ndim
        for i in range(self.index_ndim):
            steps[i] = 0
            if i >= missing and TensorImpl_sizes(index)[i - missing] != 1:
                steps[i] = TensorImpl_strides(index)[i - missing] * <int64_t>sizeof(int64_t)
        positions = <const char*>TensorImpl_const_data(index)
        if not add_distances(self, positions, steps, self.steps[k], self.extents[k], is_first):
            return False
        is_first = False
    return True


cdef bint add_distances(
        gather_t* self, const char* positions, const int64_t* steps, int64_t step, int64_t extent,
        bint is_first) noexcept nogil:
    """Add how far the positions along one dimension are, to nothing if they are the first."""
    cdef int64_t place[64]
    cdef int64_t* to = self.distances
    cdef int last = self.index_ndim - 1
    cdef int64_t row = self.index_sizes[last] if last >= 0 else 1
    cdef int64_t inner = steps[last] if last >= 0 else 0
    cdef int64_t i
    cdef int64_t position = 0
    cdef int dim
    for dim in range(last):
        place[dim] = 0
    for _ in range(self.count // row):
        for i in range(row):
            if i == 0 or inner != 0:
                position = (<const int64_t*>(positions + i * inner))[0]
                position += extent if position < 0 else 0
                if <uint64_t>position >= <uint64_t>extent:
                    return False
                position *= step
            to[i] = position if is_first else to[i] + position
        to += row
        positions = advance(last, self.index_sizes, steps, place, positions)
    return True


cdef int result_sizes(const gather_t* self, int64_t* sizes) noexcept:
    """Fill in the shape of what is selected, and return its length."""
    cdef int ndim = 0
    cdef int i
    for i in range(self.outer.ndim):
        sizes[ndim + i] = self.outer.sizes[i]
    ndim += self.outer.ndim
    for i in range(self.index_ndim):
        sizes[ndim + i] = self.index_sizes[i]
    ndim += self.index_ndim
    for i in range(self.inner.ndim):
        sizes[ndim + i] = self.inner.sizes[i]
    return ndim + self.inner.ndim


cdef void follow_memory(gather_t* self, TensorImpl made) noexcept:
    """Let the dimensions of a new result, and the walk, follow each other as those of the source do in memory.

    Of positions in one dimension alone: of ``x.T[:, t]`` rows are copied as a whole, and ``x.T[t]`` reads row by row.
    """
    cdef int64_t stride = 1
    cdef int outer = self.outer.ndim
    cdef int inner = self.inner.ndim
    if self.advanced != 1 or (outer != 0) == (inner != 0):
        return
    if outer and compare(&self.outer, self.steps[0]) < 0:
        stride = set_strides(made, 0, outer, stride)
        set_strides(made, outer, self.index_ndim, stride)
        self.inner, self.outer.ndim = self.outer, 0
    elif inner and compare(&self.inner, self.steps[0]) > 0:
        stride = set_strides(made, 0, self.index_ndim, stride)
        set_strides(made, self.index_ndim, inner, stride)
        self.outer, self.inner.ndim = self.inner, 0
    else:
        return
    TensorImpl_refresh_order(made, made.numel)


cdef int compare(const run_t* run, int64_t step) noexcept:
    """Return -1 if all steps of a run are shorter than another one, 1 if all are longer, otherwise 0."""
    cdef int shorter = 0
    cdef int longer = 0
    cdef int i
    for i in range(run.ndim):
        if run.sizes[i] > 1 and run.steps[i] != 0 and step != 0:
            shorter += llabs(run.steps[i]) < llabs(step)
            longer += llabs(run.steps[i]) > llabs(step)
    return 1 if longer == run.ndim else -1 if shorter == run.ndim else 0


cdef int64_t set_strides(TensorImpl made, int first, int count, int64_t stride) noexcept:
    """Let dimensions of a new tensor lie side by side in row-major order; return the stride of what is around them."""
    cdef int i
    for i in range(first + count - 1, first - 1, -1):
        TensorImpl_strides(made)[i] = stride
        stride *= max(TensorImpl_sizes(made)[i], 1)
    return stride


# ---- reading and writing


ctypedef void (*move_t)(
    void* other, const gather_t* self, const char* items, int64_t step, bint reads) noexcept nogil
cdef move_t[5] MOVE = [
    <move_t>move[uint8_t], <move_t>move[uint16_t], <move_t>move[uint32_t], <move_t>move[uint64_t],
    <move_t>move[sixteen_bytes_t],
]


cdef TensorBase gather(TensorImpl source, list keys):
    """Return what an index selects, in a new tensor; None if NumPy has to."""
    cdef gather_t self
    cdef list indices = []
    cdef int64_t sizes[64]
    cdef int64_t few[FEW]
    cdef TensorImpl made, held
    cdef char* out
    cdef const char* items
    cdef shares_t shares
    if not gather_init(&self, source, keys, indices):
        return None
    made = empty_impl(result_sizes(&self, sizes), sizes, source.dtype_code, CPU, -1)
    follow_memory(&self, made)
    result = Tensor_wrap(made)
    self.distances = few
    if self.count > FEW:
        held = empty_impl(1, &self.count, INT64, CPU, -1)
        self.distances = <int64_t*>TensorImpl_mutable_data(held)
    if not take_distances(&self, indices):
        return None
    if made.numel == 0:
        return result
    out = <char*>TensorImpl_mutable_data(made)
    items = <const char*>TensorImpl_const_data(source) + self.start
    if made.numel < GRAIN_ELEMENTS:
        MOVE[place_of_item(self.itemsize)](out, &self, items, 1, True)
        return result
    shares.gather, shares.items, shares.out = &self, items, out
    shares.length = self.outer.sizes[0] if self.outer.ndim else self.count
    shares.item_step = self.outer.steps[0] if self.outer.ndim else 0
    shares.out_step = made.numel // shares.length * self.itemsize
    shares.share = max(CHUNK_ELEMENTS * shares.length // made.numel, 1)
    run_shares(
        gather_share, &shares, (shares.length + shares.share - 1) // shares.share, made.numel, source, None, None)
    return result


cdef struct shares_t:
    const gather_t* gather
    const char* items
    char* out
    int64_t length      # of the outermost dimension, or of the positions
    int64_t item_step   # bytes from one to the next in the source
    int64_t out_step
    int64_t share       # for a thread


cdef void gather_share(void* context, int64_t share) noexcept nogil:
    """Gather a share of the outermost dimension, or of the positions if there is none in front of them."""
    cdef const shares_t* self = <const shares_t*>context
    cdef gather_t part = self.gather[0]
    cdef int64_t start = share * self.share
    cdef int64_t count = min(self.share, self.length - start)
    if part.outer.ndim:
        part.outer.sizes[0] = count
    else:
        part.count = count
        part.distances += start
    MOVE[place_of_item(part.itemsize)](
        self.out + start * self.out_step, &part, self.items + start * self.item_step, 1, True)


cdef bint scatter(TensorImpl target, list keys, TensorImpl values) except -1:
    """Write one element, or one for each that an index selects, and say so; False if NumPy has to.

    `target` is writable, and `values` has its type.
    """
    cdef gather_t self
    cdef int64_t sizes[64]
    cdef int64_t few[FEW]
    cdef list indices = []
    cdef TensorImpl held
    cdef int ndim, i
    cdef int64_t moved = 1
    cdef shares_t given
    if not gather_init(&self, target, keys, indices):
        return False
    ndim = result_sizes(&self, sizes)
    if values.ndim != 0 and not (values.contiguous and TensorImpl_has_sizes(values, ndim, sizes)):
        return False
    self.distances = few
    if self.count > FEW:
        held = empty_impl(1, &self.count, INT64, CPU, -1)
        self.distances = <int64_t*>TensorImpl_mutable_data(held)
    if may_overlap(target, values) or not take_distances(&self, indices):
        return False
    for i in range(ndim):
        moved *= sizes[i]
    if moved == 0:
        return True
    given.gather, given.out, given.item_step = &self, <char*>TensorImpl_const_data(values), values.ndim != 0
    given.items = <char*>TensorImpl_mutable_data(target) + self.start
    run_shares(scatter_all, &given, 1, moved, values, None, target)
    return True


cdef void scatter_all(void* context, int64_t share) noexcept nogil:
    """Write what lies in order to the places."""
    cdef const shares_t* self = <const shares_t*>context
    MOVE[place_of_item(self.gather.itemsize)](self.out, self.gather, self.items, self.item_step, False)


cdef void move(item_t* other, const gather_t* self, const char* items, int64_t step, bint reads) noexcept nogil:
    """Copy from the places to what lies in order, or back; `step` 0: one element to all."""
    cdef int64_t outer[64]
    cdef int64_t inner[64]
    cdef const char* place
    cdef item_t item
    cdef int64_t row = 1
    cdef int64_t row_step = self.itemsize
    cdef int64_t rows = 1
    cdef int inner_dims = self.inner.ndim
    cdef int64_t i, _
    cdef int dim
    while inner_dims > 0 and (row == 1 or self.inner.steps[inner_dims - 1] == row * row_step):
        inner_dims -= 1  # what lies as one dimension is walked as one
        if self.inner.sizes[inner_dims] != 1:
            row_step = self.inner.steps[inner_dims] if row == 1 else row_step
            row *= self.inner.sizes[inner_dims]
    for dim in range(inner_dims):
        rows *= self.inner.sizes[dim]
        inner[dim] = 0
    for dim in range(self.outer.ndim):
        outer[dim] = 0
    while True:
        if rows == 1 and row == 1:
            if reads:
                for i in range(self.count):
                    other[i] = (<const item_t*>(items + self.distances[i]))[0]
            elif step:
                for i in range(self.count):
                    (<item_t*>(items + self.distances[i]))[0] = other[i]
            else:
                item = other[0]
                for i in range(self.count):
                    (<item_t*>(items + self.distances[i]))[0] = item
            other += self.count * step
        else:
            for i in range(self.count):
                place = items + self.distances[i]
                for _ in range(rows):
                    if reads:
                        copy_strided(sizeof(item_t), place, row_step, <char*>other, sizeof(item_t), row)
                    else:
                        copy_strided(sizeof(item_t), <char*>other, step * sizeof(item_t), <char*>place, row_step, row)
                    other += row * step
                    place = advance(inner_dims, self.inner.sizes, self.inner.steps, inner, place)
        dim = self.outer.ndim
        items = advance(dim, self.outer.sizes, self.outer.steps, outer, items)
        while dim and outer[dim - 1] == 0:
            dim -= 1
        if dim == 0:
            return


# ---- a position for each element


cdef struct along_t:
    int itemsize
    int ndim
    int64_t sizes[64]           # of the result
    int64_t steps[64]           # bytes of the source, 0 along the dimension of the positions
    int64_t index_steps[64]     # bytes
    int64_t step                # bytes of the source along that dimension
    int64_t extent
    const char* items
    const char* positions
    char* out
    int64_t rows                # of the result
    bint is_done


ctypedef bint (*take_t)(void* out, const along_t* self) noexcept nogil
cdef take_t[5] TAKE_ALONG = [
    <take_t>take_along[uint8_t], <take_t>take_along[uint16_t], <take_t>take_along[uint32_t],
    <take_t>take_along[uint64_t], <take_t>take_along[sixteen_bytes_t],
]


cdef TensorBase gather_along(TensorImpl source, TensorImpl index, int dim):
    """Return the elements at positions in one dimension, the others broadcast; None if NumPy has to."""
    cdef along_t self
    cdef TensorImpl made
    cdef int64_t size, index_size
    cdef int i
    if source.device_type != CPU or index.device_type != CPU or source.storage is None or index.storage is None:
        return None
    self.itemsize, self.ndim = itemsize_of(source.dtype_code), source.ndim
    for i in range(source.ndim):
        size, index_size = TensorImpl_sizes(source)[i], TensorImpl_sizes(index)[i]
        self.sizes[i] = index_size if i == dim or index_size != 1 else size
        if i != dim and size != self.sizes[i] and size != 1:
            return None
        self.steps[i] = 0 if i == dim or size == 1 else TensorImpl_strides(source)[i] * self.itemsize
        self.index_steps[i] = 0 if index_size == 1 else TensorImpl_strides(index)[i] * <int64_t>sizeof(int64_t)
    self.step, self.extent = TensorImpl_strides(source)[dim] * self.itemsize, TensorImpl_sizes(source)[dim]
    made = empty_impl(source.ndim, self.sizes, source.dtype_code, CPU, -1)
    result = Tensor_wrap(made)
    if made.numel == 0 or source.numel == 0:
        return result if made.numel == 0 else None
    self.out = <char*>TensorImpl_mutable_data(made)
    self.items = <const char*>TensorImpl_const_data(source)
    self.positions = <const char*>TensorImpl_const_data(index)
    self.rows = made.numel // self.sizes[made.ndim - 1]
    run_shares(take_all, &self, 1, made.numel, source, index, None)
    return result if self.is_done else None


cdef void take_all(void* context, int64_t share) noexcept nogil:
    cdef along_t* self = <along_t*>context
    self.is_done = TAKE_ALONG[place_of_item(self.itemsize)](self.out, self)


cdef bint take_along(item_t* out, const along_t* self) noexcept nogil:
    """Copy row by row; return False at a position outside."""
    cdef const char* items = self.items
    cdef const char* positions = self.positions
    cdef int64_t place[64]
    cdef int64_t index_place[64]
    cdef int last = self.ndim - 1
    cdef int64_t row = self.sizes[last]
    cdef int64_t index_step = self.index_steps[last]
    cdef int64_t item_step = self.steps[last]
    cdef int64_t i, position
    cdef int dim
    for dim in range(last):
        place[dim] = index_place[dim] = 0
    for _ in range(self.rows):
        for i in range(row):
            position = (<const int64_t*>(positions + i * index_step))[0]
            position += self.extent if position < 0 else 0
            if <uint64_t>position >= <uint64_t>self.extent:
                return False
            out[i] = (<const item_t*>(items + i * item_step + position * self.step))[0]
        out += row
        items = advance(last, self.sizes, self.steps, place, items)
        positions = advance(last, self.sizes, self.index_steps, index_place, positions)
    return True
