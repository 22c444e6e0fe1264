"""The commonest advanced indices without NumPy: one mask, or one tensor of positions, over rows that lie in order.

A row is what one bit of the mask, or one position, selects: an element, or all that the dimensions behind it hold.

Note [Choosing without branches]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Whether a bit of a mask is set cannot be foreseen, and a branch that is guessed wrong costs more than a store. So each
element is stored, and the next one over it unless its bit was set. The loop ends at the number that was counted: the
mask may change meanwhile, by another thread, but nothing is written behind the end.
"""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from tensix.core.device cimport CPU
from tensix.loops.empty cimport empty_impl
from tensix.loops.item cimport item_t, place_of_item, sixteen_bytes_t
from tensix.loops.iterator cimport CHUNK_ELEMENTS, GRAIN_ELEMENTS, run_shares
from tensix.loops.overlap cimport may_overlap
from tensix.loops.parallel cimport parallel_for
from tensix.tensors.dtype cimport BOOL, INT64, itemsize_of
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_has_sizes, TensorImpl_mutable_data, TensorImpl_sizes,
)


cdef enum:
    PARTS = 16
    PLACES = 512  # bytes of a mask, that become positions before the first row is read or written
    PART_BYTES = 4 * CHUNK_ELEMENTS


cdef struct selection_t:
    const uint8_t* mask        # a byte per row; NULL if there are positions
    const int64_t* positions
    int64_t key_count          # of bytes, or of positions
    int64_t row_count          # of the tensor
    int64_t row_bytes
    int itemsize               # of the tensor's elements
    int64_t selected           # rows
    int64_t outside            # the first position that there is none for


cdef TensorBase select_rows(TensorImpl source, object key):
    """Return the rows that a mask or positions select, in a new tensor; None if NumPy has to."""
    cdef selection_t self
    cdef int64_t sizes[64]
    cdef TensorImpl made, index
    if not isinstance(key, TensorBase):
        return None
    index = index_of((<TensorBase>key).impl)
    if index is None or not selection_init(&self, source, index):
        return None
    made = empty_impl(result_sizes(&self, source, index, sizes), sizes, source.dtype_code, CPU, -1)
    take_keys(&self, index)
    cdef const char* rows = <const char*>TensorImpl_const_data(source)
    cdef char* out = <char*>TensorImpl_mutable_data(made)
    cdef part_t part
    part.is_done = True
    if self.selected * self.row_bytes < GRAIN_ELEMENTS:
        part.is_done = copy_rows(&self, rows, out)
    else:
        part.keys, part.rows, part.out = self, rows, out
        run_shares(copy_in_parts, &part, 1, GRAIN_ELEMENTS, source, index, None)
        self.outside = part.keys.outside
    if not part.is_done:
        refuse_position(&self)
    return Tensor_wrap(made)


cdef bint write_rows(TensorImpl target, object key, TensorImpl values) except -1:
    """Write one element, or a row for each that is selected, and say so; False if NumPy has to.

    `target` is writable, and `values` has its type.
    """
    cdef selection_t self
    cdef int64_t sizes[64]
    cdef part_t part
    cdef TensorImpl index
    cdef int ndim
    if not isinstance(key, TensorBase) or not values.contiguous:
        return False
    cdef char* rows = <char*>TensorImpl_mutable_data(target)  # first: it may take bytes of its own, which runs any code
    index = index_of((<TensorBase>key).impl)
    if index is None or not selection_init(&self, target, index):
        return False
    take_keys(&self, index)
    if values.ndim != 0:
        ndim = result_sizes(&self, target, index, sizes)
        if not TensorImpl_has_sizes(values, ndim, sizes):
            return False
    elif self.row_bytes != self.itemsize:
        return False
    if may_overlap(target, values) or may_overlap(target, index):
        return False
    cdef const char* given = <const char*>TensorImpl_const_data(values)
    cdef int64_t step = 0 if values.ndim == 0 else self.row_bytes
    if not are_inside(&self):  # nothing is written then
        refuse_position(&self)
    if self.key_count + self.selected * (self.row_bytes // self.itemsize) < GRAIN_ELEMENTS:
        scatter_rows(&self, rows, given, step)
        return True
    # Safe whatever other threads write to the keys meanwhile: they are checked as they are read.
    part.keys, part.rows, part.given, part.step = self, rows, given, step
    run_shares(scatter_part, &part, 1, GRAIN_ELEMENTS, index, values, target)
    return True


cdef void scatter_part(void* part, int64_t share) noexcept nogil:
    scatter_rows(&(<part_t*>part).keys, <char*>(<part_t*>part).rows, (<part_t*>part).given, (<part_t*>part).step)


cdef TensorImpl index_of(TensorImpl key):
    """Return a key in the form that is read here: bools, or int64; None if it is neither or does not lie in order."""
    if key.device_type != CPU or key.storage is None or not key.contiguous or key.ndim == 0:
        return None
    return key if key.dtype_code in (BOOL, INT64) else None


cdef bint selection_init(selection_t* self, TensorImpl rows, TensorImpl index) except -1:
    """Set up a selection of rows; return False if it is none of these: NumPy does it, or knows what to say."""
    cdef bint is_mask = index.dtype_code == BOOL
    cdef int taken = index.ndim if is_mask else 1
    cdef int i
    if not rows.contiguous or rows.device_type != CPU or rows.storage is None or rows.ndim < taken:
        return False
    if rows.ndim - taken + (1 if is_mask else index.ndim) > 64:
        return False
    self.itemsize = itemsize_of(rows.dtype_code)
    self.row_count, self.row_bytes = 1, self.itemsize
    for i in range(taken):
        self.row_count *= TensorImpl_sizes(rows)[i]
        if is_mask and TensorImpl_sizes(rows)[i] != TensorImpl_sizes(index)[i]:
            return False
    for i in range(taken, rows.ndim):
        self.row_bytes *= TensorImpl_sizes(rows)[i]
    self.key_count = self.selected = index.numel
    if is_mask:
        self.selected = set_bytes(<const uint8_t*>TensorImpl_const_data(index), index.numel)
    return True


cdef int take_keys(selection_t* self, TensorImpl index) except -1:
    """Take the address of the keys."""
    self.mask, self.positions = NULL, NULL
    if index.dtype_code == BOOL:
        self.mask = <const uint8_t*>TensorImpl_const_data(index)
    else:
        self.positions = <const int64_t*>TensorImpl_const_data(index)
    return 0


cdef struct part_t:
    selection_t keys
    const char* rows
    char* out
    bint is_done
    const char* given  # what is written to the rows, and the step from one to the next
    int64_t step


cdef void copy_in_parts(void* whole, int64_t share) noexcept nogil:
    """Let each thread take some of the keys; the number of rows that a part of a mask selects says where they go."""
    cdef part_t parts[PARTS]
    cdef part_t* part
    cdef selection_t* self = &(<part_t*>whole).keys
    cdef const char* rows = (<part_t*>whole).rows
    cdef char* out = (<part_t*>whole).out
    cdef int64_t i, start, stop
    cdef int64_t left = self.selected
    cdef int64_t count = min(<int64_t>PARTS, self.key_count, 1 + self.selected * self.row_bytes // PART_BYTES)
    for i in range(count):
        part = &parts[i]
        part.keys, part.rows, part.out = self[0], rows, out
        start, stop = self.key_count // count * i, self.key_count // count * (i + 1)
        if i == count - 1:
            stop = self.key_count
        part.keys.key_count = part.keys.selected = stop - start
        if self.mask != NULL:
            part.keys.mask += start
            part.rows += start * self.row_bytes
            part.keys.selected = left  # the last part takes what is left, also if the mask has changed meanwhile
            if i < count - 1:
                part.keys.selected = min(left, set_bytes(part.keys.mask, stop - start))
        else:
            part.keys.positions += start
        left -= part.keys.selected
        out += part.keys.selected * self.row_bytes
    parallel_for(count, copy_part, parts)
    for i in range(count):
        if not parts[i].is_done:
            self.outside, (<part_t*>whole).is_done = parts[i].keys.outside, False
            return


cdef void copy_part(void* parts, int64_t i) noexcept nogil:
    cdef part_t* part = &(<part_t*>parts)[i]
    part.is_done = copy_rows(&part.keys, part.rows, part.out)


cdef int result_sizes(const selection_t* self, TensorImpl rows, TensorImpl index, int64_t* sizes) noexcept:
    """Fill in the shape of what is selected, and return its length."""
    cdef int ndim = 1
    cdef int taken = 1
    cdef int i
    sizes[0] = self.selected
    if index.dtype_code == BOOL:
        taken = index.ndim
    else:
        ndim = index.ndim
        for i in range(ndim):
            sizes[i] = TensorImpl_sizes(index)[i]
    for i in range(taken, rows.ndim):
        sizes[ndim + i - taken] = TensorImpl_sizes(rows)[i]
    return ndim + rows.ndim - taken


cdef int64_t set_bytes(const uint8_t* mask, int64_t count) noexcept nogil:
    """Count the bytes that are not 0."""
    cdef int64_t found = 0
    cdef uint8_t few
    cdef int64_t i = 0
    cdef int64_t stop
    while i < count:
        stop = min(i + 255, count)  # a byte counts so many, and many bytes count at once
        few = 0
        while i < stop:
            few += mask[i] != 0
            i += 1
        found += few
    return found


# ---- loops


ctypedef bint (*copy_items_t)(const void* rows, selection_t* self, char* to) noexcept nogil
ctypedef void (*scatter_items_t)(void* rows, selection_t* self, const char* given, int64_t step) noexcept nogil
cdef copy_items_t[5] COPY_ITEMS = [
    <copy_items_t>copy_items[uint8_t], <copy_items_t>copy_items[uint16_t], <copy_items_t>copy_items[uint32_t],
    <copy_items_t>copy_items[uint64_t], <copy_items_t>copy_items[sixteen_bytes_t],
]
cdef scatter_items_t[5] SCATTER_ITEMS = [
    <scatter_items_t>scatter_items[uint8_t], <scatter_items_t>scatter_items[uint16_t],
    <scatter_items_t>scatter_items[uint32_t], <scatter_items_t>scatter_items[uint64_t],
    <scatter_items_t>scatter_items[sixteen_bytes_t],
]


cdef int64_t take_places(selection_t* part, const selection_t* self, int64_t start, int64_t left,
                         int64_t* places) noexcept nogil:
    """Set up what some bytes of the mask select, as positions; return how many, at most those that are left."""
    cdef int64_t found = 0
    cdef int64_t i
    for i in range(start, min(start + PLACES, self.key_count)):  # See Note [Choosing without branches]
        places[found] = i
        found += self.mask[i] != 0
    part[0] = self[0]
    part.mask, part.positions, part.key_count = NULL, places, min(found, left)
    return part.key_count


cdef bint copy_rows(selection_t* self, const char* rows, char* out) noexcept nogil:
    """Copy the selected rows one after the other; return False at a position outside."""
    cdef selection_t part
    cdef int64_t places[PLACES]
    cdef int64_t left = self.selected
    cdef int64_t start = 0
    cdef int64_t i, position
    if self.row_bytes == self.itemsize:
        return COPY_ITEMS[place_of_item(self.itemsize)](rows, self, out)
    if self.mask == NULL:
        for i in range(self.key_count):
            position = place_of(self, self.positions[i])
            if position < 0:
                return False
            memcpy(out + i * self.row_bytes, rows + position * self.row_bytes, self.row_bytes)
        return True
    while start < self.key_count:
        left -= take_places(&part, self, start, left, places)
        copy_rows(&part, rows, out)
        out += part.key_count * self.row_bytes
        start += PLACES
    memset(out, 0, left * self.row_bytes)
    return True


cdef bint copy_items(item_t* rows, selection_t* self, char* to) noexcept nogil:
    """Copy rows of one item. See Note [Choosing without branches]."""
    cdef item_t* out = <item_t*>to
    cdef const uint8_t* mask = self.mask
    cdef int64_t selected = self.selected
    cdef int64_t count = self.key_count
    cdef int64_t i = 0
    cdef int64_t found = 0
    cdef int64_t position
    if mask != NULL:
        while i < count and found < selected:
            out[found] = rows[i]
            found += mask[i] != 0
            i += 1
        if found < selected:
            memset(&out[found], 0, (selected - found) * sizeof(item_t))
        return True
    for i in range(count):
        position = place_of(self, self.positions[i])
        if position < 0:
            return False
        out[i] = rows[position]
    return True


cdef inline int64_t place_of(selection_t* self, int64_t position) noexcept nogil:
    """Return a position counted from the start, or -1."""
    cdef int64_t place = position + self.row_count if position < 0 else position
    if 0 <= place < self.row_count:
        return place
    self.outside = position
    return -1


cdef bint are_inside(selection_t* self) noexcept nogil:
    cdef int64_t i
    if self.mask == NULL:
        for i in range(self.key_count):
            if place_of(self, self.positions[i]) < 0:
                return False
    return True


cdef void scatter_rows(selection_t* self, char* rows, const char* given, int64_t step) noexcept nogil:
    """Write to the selected rows what lies at `given`, and `step` bytes further for each."""
    cdef selection_t part
    cdef int64_t places[PLACES]
    cdef int64_t left = self.selected
    cdef int64_t start = 0
    cdef int64_t i, place
    while self.mask != NULL and start < self.key_count:
        left -= take_places(&part, self, start, left, places)
        scatter_rows(&part, rows, given, step)
        given += part.key_count * step
        start += PLACES
    if self.mask != NULL:
        return
    if self.row_bytes == self.itemsize:
        SCATTER_ITEMS[place_of_item(self.itemsize)](rows, self, given, step)
        return
    for i in range(self.key_count):
        place = place_of(self, self.positions[i])
        if place >= 0:
            memcpy(rows + place * self.row_bytes, given + i * step, self.row_bytes)


cdef void scatter_items(item_t* rows, selection_t* self, const char* given, int64_t step) noexcept nogil:
    cdef int64_t i, place
    for i in range(self.key_count):
        place = place_of(self, self.positions[i])
        if place >= 0:
            rows[place] = (<const item_t*>given)[0]
        given += step


cdef int refuse_position(const selection_t* self) except -1:
    raise IndexError(f"index {self.outside} is out of bounds for dimension 0 with size {self.row_count}.")
