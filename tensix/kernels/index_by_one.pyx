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
    cdef part_t whole
    cdef selection_t* self = &whole.keys
    cdef int64_t sizes[64]
    cdef TensorImpl made, index
    if not isinstance(key, TensorBase):
        return None
    index = (<TensorBase>key).impl
    if not selection_init(self, source, index):
        return None
    made = empty_impl(result_sizes(self, source, index, sizes), sizes, source.dtype_code, CPU, -1)
    take_keys(self, index)
    whole.rows = <char*>TensorImpl_const_data(source)
    whole.other, whole.step, whole.reads = <char*>TensorImpl_mutable_data(made), self.row_bytes, True
    if self.selected * self.row_bytes < GRAIN_ELEMENTS:
        move_part(&whole, 0)
    else:
        run_shares(copy_in_parts, &whole, 1, GRAIN_ELEMENTS, source, index, None)
    if not whole.is_done:
        refuse_position(self)
    return Tensor_wrap(made)


cdef bint write_rows(TensorImpl target, object key, TensorImpl values) except -1:
    """Write one element, or a row for each that is selected, and say so; False if NumPy has to.

    `target` is writable, and `values` has its type.
    """
    cdef part_t whole
    cdef selection_t* self = &whole.keys
    cdef int64_t sizes[64]
    cdef TensorImpl index
    cdef int ndim
    if not isinstance(key, TensorBase) or not values.contiguous:
        return False
    whole.rows = <char*>TensorImpl_mutable_data(target)  # first: it may take bytes of its own, which runs any code
    index = (<TensorBase>key).impl
    if not selection_init(self, target, index):
        return False
    take_keys(self, index)
    if values.ndim != 0:
        ndim = result_sizes(self, target, index, sizes)
        if not TensorImpl_has_sizes(values, ndim, sizes):
            return False
    elif self.row_bytes != self.itemsize:
        return False
    if may_overlap(target, values) or may_overlap(target, index):
        return False
    whole.other, whole.reads = <char*>TensorImpl_const_data(values), False
    whole.step = 0 if values.ndim == 0 else self.row_bytes
    if not are_inside(self):  # nothing is written then
        refuse_position(self)
    # Safe whatever other threads write to the keys meanwhile: they are checked as they are read.
    run_shares(
        move_part, &whole, 1, self.key_count + self.selected * (self.row_bytes // self.itemsize), index, values, target)
    return True


cdef bint selection_init(selection_t* self, TensorImpl rows, TensorImpl index) except -1:
    """Set up a selection of rows; return False if it is none of these: NumPy does it, or knows what to say."""
    cdef bint is_mask = index.dtype_code == BOOL
    cdef int taken = index.ndim if is_mask else 1
    cdef int i
    if not is_mask and index.dtype_code != INT64 or index.ndim == 0 or not (rows.contiguous and index.contiguous):
        return False
    if rows.device_type != CPU or index.device_type != CPU or rows.storage is None or index.storage is None:
        return False
    if rows.ndim < taken or rows.ndim - taken + (1 if is_mask else index.ndim) > 64:
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
    char* rows
    char* other        # what the rows are copied to, or what is written to them, if it is not read,
    int64_t step       # and how far it is from one to the next
    bint reads
    bint is_done


cdef void copy_in_parts(void* whole, int64_t share) noexcept nogil:
    """Let each thread take some of the keys; the number of rows that a part of a mask selects says where they go."""
    cdef part_t parts[PARTS]
    cdef part_t* part
    cdef selection_t* self = &(<part_t*>whole).keys
    cdef char* out = (<part_t*>whole).other
    cdef int64_t i, start, stop
    cdef int64_t left = self.selected
    cdef int64_t count = min(<int64_t>PARTS, self.key_count, 1 + self.selected * self.row_bytes // PART_BYTES)
    for i in range(count):
        part = &parts[i]
        part[0] = (<part_t*>whole)[0]
        part.other = out
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
    parallel_for(count, move_part, parts)
    (<part_t*>whole).is_done = True
    for i in range(count):
        if not parts[i].is_done:
            self.outside, (<part_t*>whole).is_done = parts[i].keys.outside, False
            return


cdef void move_part(void* parts, int64_t i) noexcept nogil:
    cdef part_t* part = &(<part_t*>parts)[i]
    part.is_done = move_rows(&part.keys, part.rows, part.other, part.step, part.reads)


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


ctypedef bint (*move_items_t)(void* rows, selection_t* self, char* other, int64_t step, bint reads) noexcept nogil
cdef move_items_t[5] MOVE_ITEMS = [
    <move_items_t>move_items[uint8_t], <move_items_t>move_items[uint16_t], <move_items_t>move_items[uint32_t],
    <move_items_t>move_items[uint64_t], <move_items_t>move_items[sixteen_bytes_t],
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


cdef bint move_rows(selection_t* self, char* rows, char* other, int64_t step, bint reads) noexcept nogil:
    """Copy the selected rows one after the other, or write to them, `step` 0 the same row; False: one is outside."""
    cdef selection_t part
    cdef int64_t places[PLACES]
    cdef int64_t left = self.selected
    cdef int64_t start = 0
    cdef int64_t i, place
    if self.row_bytes == self.itemsize and (reads or self.mask == NULL):
        return MOVE_ITEMS[place_of_item(self.itemsize)](rows, self, other, step, reads)
    if self.mask == NULL:
        for i in range(self.key_count):
            place = place_of(self, self.positions[i])
            if place < 0:
                return False
            if reads:
                memcpy(other, rows + place * self.row_bytes, self.row_bytes)
            else:
                memcpy(rows + place * self.row_bytes, other, self.row_bytes)
            other += step
        return True
    while start < self.key_count:
        left -= take_places(&part, self, start, left, places)
        move_rows(&part, rows, other, step, reads)
        other += part.key_count * step
        start += PLACES
    if reads:
        memset(other, 0, left * self.row_bytes)
    return True


cdef bint move_items(item_t* rows, selection_t* self, char* other, int64_t step, bint reads) noexcept nogil:
    """Copy rows of one item, or write to them. See Note [Choosing without branches]."""
    cdef item_t* out = <item_t*>other
    cdef const uint8_t* mask = self.mask
    cdef int64_t selected = self.selected
    cdef int64_t count = self.key_count
    cdef int64_t i = 0
    cdef int64_t found = 0
    cdef int64_t place
    if mask != NULL:
        while i < count and found < selected:
            out[found] = rows[i]
            found += mask[i] != 0
            i += 1
        if found < selected:
            memset(&out[found], 0, (selected - found) * sizeof(item_t))
        return True
    for i in range(count):
        place = place_of(self, self.positions[i])
        if place < 0:
            return False
        if reads:
            out[i] = rows[place]
        else:
            rows[place] = (<item_t*>(other + i * step))[0]
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


cdef int refuse_position(const selection_t* self) except -1:
    raise IndexError(f"index {self.outside} is out of bounds for dimension 0 with size {self.row_count}.")
