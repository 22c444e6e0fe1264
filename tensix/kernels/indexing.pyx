"""Advanced indexing: tensors, arrays, lists and bools select a copy. See Note [Basic and advanced keys].

Masks and positions, also several of them and among basic keys, have loops here. NumPy selects all else, over zero-copy
views, so that the meaning of an index is NumPy's, and it says what is wrong with one. Elements are moved, never
interpreted: where NumPy lacks a type, another of the same size is used.

Note [Order of an advanced index]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Keys may be any objects, and asking them what they mean runs their code, which may do anything, to the tensor as well.
So all of them are asked before the first address is taken. What is written is made writable before anything is read:
it may take its own bytes then, and what is read may be the same tensor.

Note [Choosing without branches]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Whether a bit of a mask is set cannot be foreseen, and a branch that is guessed wrong costs more than a store. So each
element is stored, and the next one over it unless its bit was set. The loop ends at the number that was counted: the
mask may change meanwhile, by another thread, but nothing is written behind the end.
"""
from cpython.number cimport PyNumber_Index
from cpython.slice cimport PySlice_AdjustIndices, PySlice_Unpack
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport llabs
from libc.string cimport memcpy, memset
from numpy cimport import_array, ndarray
from tensix.core.device cimport CPU
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operator_table cimport begin_use_of, end_use_of
from tensix.exchange.ndarray cimport impl_of_ndarray
from tensix.kernels.searching cimport places_of_mask
from tensix.kernels.sorting cimport flattened
from tensix.loops.conversion cimport copy_strided
from tensix.loops.copy cimport converted, in_order
from tensix.loops.empty cimport empty_impl
from tensix.loops.item cimport item_t, place_of_item, sixteen_bytes_t
from tensix.loops.iterator cimport CHUNK_ELEMENTS, GRAIN_ELEMENTS, advance, broadcast_dims, run_shares
from tensix.loops.numpy_results cimport array_of_bits, call_numpy, take_over
from tensix.loops.overlap cimport check_writable_once, may_overlap
from tensix.loops.parallel cimport parallel_for
from tensix.tensors.dtype cimport BOOL, INT64, UINT64, dtype_of_code, is_integer, itemsize_of
from tensix.tensors.index_key cimport is_position
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_bump_version, TensorImpl_const_data, TensorImpl_has_sizes, TensorImpl_is_dense,
    TensorImpl_mutable_data, TensorImpl_refresh_order, TensorImpl_sizes, TensorImpl_strides, int64_of, wrap_dim,
)

from operator import getitem, setitem

import numpy as np

from tensix.dispatch import native_functions
from tensix.loops.numpy_kernel import NumpyKernel

import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(ndarray array)

cdef object LARGEST_POSITION = np.iinfo(np.int64).max


cdef object index(Kernel self, object table, arguments_t args):
    """Copy the elements that an index selects."""
    cdef int count = begin_uses_of_keys(<object>args[1])
    try:
        return selected_by(<TensorBase>args[0], <object>args[1])
    finally:
        end_uses_of_keys(<object>args[1], count)


cdef int begin_uses_of_keys(object index) except -1:
    """Count a use of each tensor in an index, and return the number of keys. See Note [Operands in use]."""
    cdef int count = 0
    if isinstance(index, TensorBase):
        begin_use_of(<TensorBase>index)
    elif isinstance(index, tuple):
        try:
            for key in <tuple>index:
                if isinstance(key, TensorBase):
                    begin_use_of(<TensorBase>key)
                count += 1
        except BaseException:
            end_uses_of_keys(index, count)
            raise
    return count


cdef int end_uses_of_keys(object index, int count) except -1:
    cdef int i
    if isinstance(index, TensorBase):
        end_use_of(<TensorBase>index)
    for i in range(count):
        key = (<tuple>index)[i]
        if isinstance(key, TensorBase):
            end_use_of(<TensorBase>key)
    return 0


cdef object selected_by(TensorBase a, object index):
    cdef TensorImpl made
    selected = select_rows(a.impl, index)
    if selected is not None:
        return selected
    cdef list keys = keys_of_index(index)
    cdef int code = a.impl.dtype_code
    selected = gather(a.impl, keys)
    if selected is not None:
        return selected
    source = array_of_bits(a.impl, False)
    where = tuple([array_of_key(key) for key in keys])
    try:
        found = call_numpy(getitem, (source, where))
    except IndexError as error:
        raise IndexError(in_our_words(error)) from None
    # NumPy gives a number where no dimension is left, and a view if all keys are basic: a call of this operator by
    # name gets the copy that its schema promises.
    made = take_over(without_overlap(found, source))
    made.dtype_code = code
    return Tensor_wrap(made)


cdef object index_put_(Kernel kernel, object table, arguments_t args):
    """Write values, broadcast and converted, to the elements that an index selects."""
    cdef int count = begin_uses_of_keys(<object>args[1])
    try:
        return write_selected(<TensorBase>args[0], <object>args[1], <TensorBase>args[2])
    finally:
        end_uses_of_keys(<object>args[1], count)


cdef object write_selected(TensorBase self, object index, TensorBase values):
    cdef list keys = keys_of_index(index)
    check_writable_once(self.impl)
    TensorImpl_mutable_data(self.impl)
    if values.impl.dtype_code != self.impl.dtype_code:
        values = Tensor_wrap(converted(values.impl, self.impl.dtype_code))
    if not values.impl.contiguous and TensorImpl_is_dense(values.impl):
        values = Tensor_wrap(in_order(values.impl))
    if write_rows(self.impl, index, values.impl) or scatter(self.impl, keys, values.impl):
        TensorImpl_bump_version(self.impl)
        return self
    target = array_of_bits(self.impl, True)
    source = without_overlap(array_of_bits(values.impl, False), target)
    where = tuple([without_overlap(array_of_key(key), target) for key in keys])
    try:
        call_numpy(setitem, (target, where, source))
    except IndexError as error:
        raise IndexError(in_our_words(error)) from None
    except (TypeError, ValueError) as error:  # of shapes; types have been checked
        raise ValueError(in_our_words(error)) from None
    TensorImpl_bump_version(self.impl)
    return self


cdef list keys_of_index(object index):
    """Return the keys of an index in forms whose code has run. See Note [Order of an advanced index]."""
    if isinstance(index, tuple):
        return [plain_key(key) for key in index]
    return [plain_key(index)]


cdef object plain_key(object key):
    """Return a key in a form that runs no code when NumPy reads it: an int, a slice of ints, an array, a tensor."""
    if key is None or key is Ellipsis or isinstance(key, (bool, TensorBase)):
        return key
    if isinstance(key, slice):
        return slice(plain_bound(key.start), plain_bound(key.stop), plain_bound(key.step))
    if is_position(key):
        return max(-LARGEST_POSITION, min(PyNumber_Index(key), LARGEST_POSITION))  # out of bounds in any case
    if isinstance(key, (str, bytes)):
        refuse_key(type(key).__name__)
    try:
        array = np.asarray(key)
    except ValueError:
        raise IndexError(f"a {type(key).__name__} whose parts have different lengths is not an index.") from None
    if array.size == 0 and not isinstance(key, np.ndarray):
        return array.astype(np.int64)  # an empty list says nothing of its type
    if array.dtype.kind not in "biu":
        refuse_key(type(key).__name__ if array.dtype == object else f"{type(key).__name__} of {array.dtype}")
    return array


cdef object plain_bound(object bound):
    return None if bound is None else PyNumber_Index(bound)


cdef int refuse_key(str found) except -1:
    raise IndexError(
        "an index is made of ints, slices, Ellipsis, None, and of tensors, arrays or lists of integers or bools, found "
        f"{found}."
    )


cdef object array_of_key(object key):
    """Return a key with its tensor as an array, and no numbers that NumPy would take for negative ones."""
    cdef TensorImpl impl
    if isinstance(key, TensorBase):
        impl = (<TensorBase>key).impl
        kind = dtype_of_code(impl.dtype_code).kind
        if kind not in "biu":
            refuse_key(f"tensor of {dtype_of_code(impl.dtype_code)}")
        key = array_of_bits(impl, False)
    if isinstance(key, np.ndarray) and key.dtype == np.uint64:
        return np.minimum(key, LARGEST_POSITION).astype(np.int64)
    return key


cdef object without_overlap(object source, object target):
    """Return what is read, copied if it may lie where will be written."""
    if isinstance(source, np.ndarray) and source.base is not None and np.may_share_memory(source, target):
        return call_numpy(source.copy, ())
    return source


cdef str in_our_words(object error):
    """Return NumPy's text with our names of things."""
    text = str(error).replace("NumPy boolean array indexing assignment", "assignment to the elements of a mask")
    return text.replace("arrays", "tensors").replace("array", "tensor").replace("axis", "dimension")


# ---- positions along a dimension


def as_positions(indices):
    """Return indices that NumPy takes: of uint64 it would not, and bools it would take for 0 and 1."""
    if indices.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, found {indices.dtype}.")
    return np.minimum(indices, np.iinfo(np.int64).max).astype(np.int64) if indices.dtype == np.uint64 else indices


cdef object take(Kernel self, object table, arguments_t args):
    """Gather; what is not an index of that form, or out of bounds, is for NumPy to say."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef object axis = <object>args[2]
    cdef TensorBase found = None
    cdef int dim = 0 if axis is None else wrap_dim(int64_of(axis), x.ndim)
    if are_positions((<TensorBase>args[1]).impl):
        found = gather(flattened(x) if axis is None else x, [slice(None)] * dim + [<object>args[1]])
    return TAKE_BY_NUMPY.function(TAKE_BY_NUMPY, table, args) if found is None else found


cdef object take_along_axis(Kernel self, object table, arguments_t args):
    """Gather along one dimension; the same holds."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl index = (<TensorBase>args[1]).impl
    cdef int64_t axis = int64_of(<object>args[2])
    cdef TensorBase found = None
    if index.ndim == x.ndim and are_positions(index):
        found = gather_along(x, converted(index, INT64), wrap_dim(axis, x.ndim))
    return ALONG_BY_NUMPY.function(ALONG_BY_NUMPY, table, args) if found is None else found


cdef bint are_positions(TensorImpl index) except -1:
    """Return whether a tensor has integers that fit into int64."""
    return is_integer(index.dtype_code) and index.dtype_code != UINT64


def take_kernel(self, index, *, axis):
    """Take copies."""
    return np.take(self, as_positions(index), axis)


def take_along_axis_kernel(self, indices, axis):
    """Take copies."""
    if indices.ndim != self.ndim:
        raise ValueError(f"take_along_axis() needs indices of {self.ndim} dimensions, found {indices.ndim}.")
    return np.take_along_axis(self, as_positions(indices), axis)


# ---- one mask, or one tensor of positions, over rows that lie in order
#
# A row is what one bit of the mask, or one position, selects: an element, or all that the dimensions behind it hold.


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
    made = empty_impl(sizes_of_rows(self, source, index, sizes), sizes, source.dtype_code, CPU, -1)
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
        ndim = sizes_of_rows(self, target, index, sizes)
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


cdef int sizes_of_rows(const selection_t* self, TensorImpl rows, TensorImpl index, int64_t* sizes) noexcept:
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
    cdef selection_t keys = self[0]  # a copy: what is written may not change it
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
        place = place_of(&keys, keys.positions[i])
        if place < 0:
            self.outside = keys.outside
            return False
        if reads:
            out[i] = rows[place]
        else:
            rows[place] = (<item_t*>other)[0]
            other += step
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


# ---- several keys: positions along some dimensions, ints, slices and the rest along others
#
# The positions, broadcast to each other, become distances in bytes first; so all of them are checked before anything is
# read or written, and they are read once, whatever other threads write meanwhile. Then each distance is a place to copy
# from or to, within each place of the dimensions in front, and with all that the dimensions behind hold.


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


cdef Kernel TAKE_BY_NUMPY = NumpyKernel(take_kernel, moves=True)
cdef Kernel ALONG_BY_NUMPY = NumpyKernel(take_along_axis_kernel, moves=True)

for _table, _kernel in (
    (native_functions.INDEX_TENSOR, Kernel_of("index", index)),
    (native_functions.INDEX_PUT_, Kernel_of("index_put_", index_put_)),
    (native_functions.TAKE, Kernel_of("take", take)),
    (native_functions.TAKE_ALONG_AXIS, Kernel_of("take_along_dim", take_along_axis)),
):
    _table.register("CPU", _kernel)
