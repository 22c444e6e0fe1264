"""Searching: where elements are, how many are not zero, and choice among them.

NumPy's functions for the place of an element go along the lines of a contiguous tensor. Choice is one walk over a mask
and two tensors that copies items by their size, whatever their type.
"""
from libc.stdint cimport int16_t, int32_t, int64_t, int8_t, uint16_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy, memset
from numpy cimport npy_intp
from tensix.core.device cimport CPU, META
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.kernels.sorting cimport FUNCTIONS, find_function_t, flattened
from tensix.kernels.statistical cimport axes_from_any, reduced_impl
from tensix.kernels.views cimport moved
from tensix.loops.copy cimport converted
from tensix.loops.empty cimport empty_impl
from tensix.loops.item cimport (
    complex64_t, complex128_t, item_t, ordered_t, place_of_item, place_of_ordered, place_of_value, sixteen_bytes_t,
    value_t,
)
from tensix.loops.iterator cimport (
    CHUNK_ELEMENTS, GRAIN_ELEMENTS, broadcast_dims, iterator_add, iterator_run, iterator_start, iterator_t, run_shares,
)
from tensix.loops.parallel cimport parallel_for
from tensix.tensors.dtype cimport (
    BFLOAT16, BOOL, COMPLEX128, COMPLEX64, FLOAT16, FLOAT32, INT64, itemsize_of,
)
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_sizes, int64_of, wrap_dim,
)

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels.statistical import ReductionKernel, TRUTH
from tensix.loops.numpy_kernel import NumpyKernel

cdef enum:
    PARTS = 16
    LARGEST = 1
    SMALLEST = 2

cdef OperatorTable CONTIGUOUS = native_functions.CONTIGUOUS


# ---- positions


cdef object position(Kernel self, object table, arguments_t args):
    """Return where the largest or smallest element is: along an axis, or in the elements one after the other."""
    cdef TensorBase ordered = <TensorBase>args[0]
    cdef TensorImpl x = ordered.impl
    cdef TensorImpl made
    cdef uint64_t axes
    cdef bint keepdims = <object>args[2]
    axis = <object>args[1]
    axis = None if axis is None else wrap_dim(int64_of(axis), x.ndim)
    axes = axes_from_any(axis, x.ndim)
    if x.numel == 0:
        refuse_empty(x, axes)
    made = reduced_impl(x, INT64, axes, keepdims)
    result = Tensor_wrap(made)
    if x.device_type == META or made.numel == 0:
        return result
    if axis is not None and axis != x.ndim - 1:
        ordered = Tensor_wrap(moved(x, axis, x.ndim - 1))
    ordered = CONTIGUOUS.call1(ordered)
    functions = FUNCTIONS[x.dtype_code]
    if functions == NULL:  # of two bytes, whose order is the same in four
        ordered = Tensor_wrap(converted(ordered.impl, FLOAT32))
        functions = FUNCTIONS[FLOAT32]
    find_in_lines(ordered.impl, made, functions.argmax if self.variant == LARGEST else functions.argmin)
    return result


cdef struct lines_t:
    find_function_t find
    const char* items
    int64_t* places
    int64_t lines
    int64_t n           # elements of a line
    int64_t last        # of the last one
    int64_t share       # lines for a thread
    int64_t itemsize


cdef int find_in_lines(TensorImpl x, TensorImpl made, find_function_t find) except -1:
    """Find a place in each line; of a long single line in each of some parts, and the best of those in their order."""
    cdef lines_t self
    cdef bint is_single = made.numel == 1 and x.numel >= 2 * CHUNK_ELEMENTS
    self.places = <int64_t*>TensorImpl_mutable_data(made)
    self.items = <const char*>TensorImpl_const_data(x)
    self.find, self.itemsize, self.lines = find, itemsize_of(x.dtype_code), PARTS if is_single else made.numel
    self.n = x.numel // self.lines
    self.last = x.numel - self.n * (self.lines - 1)
    if x.numel < GRAIN_ELEMENTS:
        self.share = self.lines
        find_share(&self, 0)
        return 0
    self.share = max(CHUNK_ELEMENTS // self.n, 1)
    if is_single:
        return run_shares(find_in_parts, &self, 1, x.numel, x, None, None)
    return run_shares(find_share, &self, (self.lines + self.share - 1) // self.share, x.numel, x, None, None)


cdef void find_in_parts(void* context, int64_t share) noexcept nogil:
    """Find a place in the only line, whose parts threads share."""
    cdef lines_t* self = <lines_t*>context
    cdef char candidates[PARTS * 16]
    cdef int64_t found[PARTS]
    cdef int64_t* place = self.places
    cdef npy_intp best = 0
    cdef int64_t i
    self.places = found
    parallel_for(PARTS, find_share, self)
    for i in range(PARTS):
        found[i] += i * self.n
        memcpy(candidates + i * self.itemsize, self.items + found[i] * self.itemsize, self.itemsize)
    self.find(candidates, PARTS, &best, NULL)
    place[0] = found[best]


cdef void find_share(void* context, int64_t share) noexcept nogil:
    cdef const lines_t* self = <const lines_t*>context
    cdef int64_t line, place
    for line in range(share * self.share, min((share + 1) * self.share, self.lines)):
        place = 0
        self.find(
            <void*>(self.items + line * self.n * self.itemsize), self.last if line == self.lines - 1 else self.n,
            <npy_intp*>&place, NULL)
        self.places[line] = place


cdef int refuse_empty(TensorImpl x, uint64_t axes) except -1:
    for i in range(x.ndim):
        if (axes >> i) & 1 and TensorImpl_sizes(x)[i] == 0:
            raise ValueError("attempt to get argmax or argmin of an empty sequence: there is no element to point at.")
    return 0


# ---- choice


cdef void choose(item_t* of_type, char** data, const npy_intp* count, const npy_intp* steps) noexcept nogil:
    cdef char* mask = data[0]
    cdef char* left = data[1]
    cdef char* right = data[2]
    cdef char* target = data[3]
    cdef npy_intp i, _
    cdef item_t a, b
    if steps[0] == 1 and steps[1] == sizeof(item_t) and steps[2] == sizeof(item_t) and steps[3] == sizeof(item_t):
        for i in range(count[0]):  # without steps the compiler sees how to take many at once
            a = (<item_t*>left)[i]
            b = (<item_t*>right)[i]
            (<item_t*>target)[i] = a if mask[i] else b
        return
    for _ in range(count[0]):
        (<item_t*>target)[0] = (<item_t*>left)[0] if mask[0] else (<item_t*>right)[0]
        mask += steps[0]
        left += steps[1]
        right += steps[2]
        target += steps[3]


ctypedef void (*choose_t)(void* of_type, char** data, const npy_intp* count, const npy_intp* steps) noexcept nogil
cdef choose_t[5] CHOOSE = [
    <choose_t>choose[uint8_t], <choose_t>choose[uint16_t], <choose_t>choose[uint32_t], <choose_t>choose[uint64_t],
    <choose_t>choose[sixteen_bytes_t],
]


cdef void choose_any(char** data, const npy_intp* count, const npy_intp* steps, void* itemsize) noexcept nogil:
    CHOOSE[place_of_item((<int*>itemsize)[0])](NULL, data, count, steps)


cdef object where(Kernel self, object table, arguments_t args):
    """Return the elements of one tensor where the condition holds, of another elsewhere, all three broadcast."""
    cdef iterator_t iterator
    cdef int64_t sizes[64]
    cdef int ndim, itemsize
    cdef TensorBase condition = <TensorBase>args[0]
    cdef TensorImpl mask, out
    cdef TensorImpl x = (<TensorBase>args[1]).impl
    cdef TensorImpl y = (<TensorBase>args[2]).impl
    code = promote_codes(x.dtype_code, y.dtype_code)
    mask = converted(condition.impl, BOOL)
    cdef TensorImpl left = converted(x, code)
    cdef TensorImpl right = converted(y, code)
    ndim = max(mask.ndim, left.ndim, right.ndim)
    for i in range(ndim):
        sizes[i] = 1
    for operand in (mask, left, right):  # `iterator_add` refuses those that do not fit
        broadcast_dims((<TensorImpl>operand).ndim, TensorImpl_sizes(<TensorImpl>operand), ndim, sizes, sizes)
    out = empty_impl(ndim, sizes, code, x.device_type, x.device_index)
    iterator_start(&iterator, ndim, sizes)
    iterator_add(&iterator, mask, <void*>TensorImpl_const_data(mask))
    iterator_add(&iterator, left, <void*>TensorImpl_const_data(left))
    iterator_add(&iterator, right, <void*>TensorImpl_const_data(right))
    iterator_add(&iterator, out, TensorImpl_mutable_data(out))
    itemsize = itemsize_of(code)
    iterator_run(&iterator, choose_any, &itemsize)
    return Tensor_wrap(out)


# ---- elements that are not zero


cdef enum:
    NONZERO_PARTS = 64  # of the elements, for threads to share


cdef struct places_t:
    const void* elements
    int code                # their type
    int64_t count           # of elements
    int64_t part            # of elements in each of the parts, but for the last
    int64_t found[NONZERO_PARTS]    # up to the end of a part, of those that are not zero
    int ndim
    int64_t sizes[64]
    int64_t* columns[64]    # where the positions in each dimension are written
    int64_t step            # from one to the next
    uint64_t bits           # of an integer, those that tell it from zero
    bint counts             # whether elements are counted, not written


cdef void write_places(value_t* elements, const places_t* self, int64_t start, int64_t stop, int64_t found,
                       int64_t end) noexcept nogil:
    """Write positions row by row, from so many that are found to an end. See Note [Choosing without branches]."""
    cdef int last = self.ndim - 1
    cdef int64_t step = self.step
    cdef int64_t* column = self.columns[last]
    cdef int64_t position[64]
    cdef int64_t first, i, behind
    cdef uint64_t bits = self.bits
    cdef int dim = last
    elements += start
    i = start
    while dim >= 0:
        position[dim] = i % self.sizes[dim]
        i //= self.sizes[dim]
        dim -= 1
    while start < stop:
        first = found
        behind = min(self.sizes[last], position[last] + stop - start)
        elements -= position[last]
        for i in range(position[last], behind):
            if found == end:
                break
            column[found * step] = i
            found += is_set(elements[i], bits)
        elements += behind
        start += behind - position[last]
        position[last] = 0
        for dim in range(last):
            for i in range(first, found):
                self.columns[dim][i * step] = position[dim]
        dim = last - 1
        while dim >= 0:
            position[dim] += 1
            if position[dim] < self.sizes[dim]:
                break
            position[dim] = 0
            dim -= 1
    for dim in range(self.ndim):
        for i in range(found, end):  # another thread has written zeros since they were counted
            self.columns[dim][i * step] = 0


cdef inline bint is_set(value_t element, uint64_t bits) noexcept nogil:
    if value_t is uint8_t or value_t is uint16_t or value_t is uint32_t or value_t is uint64_t:
        return (element & bits) != 0
    else:
        return element != 0


cdef void go_through(value_t* elements, places_t* self, int64_t part) noexcept nogil:
    cdef int64_t start = part * self.part
    cdef int64_t stop = min(start + self.part, self.count)
    cdef uint64_t bits = self.bits
    cdef int64_t found = 0
    cdef int64_t i
    if self.counts:
        for i in range(start, stop):
            found += is_set(elements[i], bits)
        self.found[part] = found
    else:
        write_places(elements, self, start, stop, self.found[part - 1] if part else 0, self.found[part])


ctypedef void (*go_through_t)(const void* elements, places_t* self, int64_t part) noexcept nogil
cdef go_through_t[8] GO_THROUGH = [
    <go_through_t>go_through[uint8_t], <go_through_t>go_through[uint16_t], <go_through_t>go_through[uint32_t],
    <go_through_t>go_through[uint64_t], <go_through_t>go_through[float], <go_through_t>go_through[double],
    <go_through_t>go_through[complex64_t], <go_through_t>go_through[complex128_t],
]


cdef void go_through_part(void* places, int64_t part) noexcept nogil:
    cdef places_t* self = <places_t*>places
    GO_THROUGH[place_of_value(self.code)](self.elements, self, part)


cdef int go(places_t* self, TensorImpl flat, bint counts) except -1:
    """Go through all elements."""
    if flat.numel == 0:
        return 0
    self.elements, self.counts = TensorImpl_const_data(flat), counts
    return run_shares(
        go_through_part, self, (self.count + self.part - 1) // self.part, flat.numel, flat, None, None)


cdef TensorImpl start_places(places_t* self, TensorImpl x):
    """Count the elements that are not zero, up to the end of each part; return all in row-major order."""
    cdef int part
    cdef TensorImpl flat
    flat = flattened(x)
    self.code, self.count, self.ndim = x.dtype_code, x.numel, x.ndim
    self.part = max((x.numel + NONZERO_PARTS - 1) // NONZERO_PARTS, <int64_t>CHUNK_ELEMENTS)
    memset(self.found, 0, sizeof(self.found))
    self.bits = 0x7FFF if x.dtype_code == FLOAT16 or x.dtype_code == BFLOAT16 else <uint64_t>-1
    for i in range(x.ndim):
        self.sizes[i] = TensorImpl_sizes(x)[i]
    go(self, flat, True)
    for part in range(1, NONZERO_PARTS):
        self.found[part] += self.found[part - 1]
    return flat


cdef list places_of_mask(TensorImpl x):
    """Return a body of positions per dimension."""
    cdef places_t places
    cdef TensorImpl flat, column
    cdef list found = []
    flat = start_places(&places, x)
    places.step = 1
    for i in range(places.ndim):
        column = empty_impl(1, &places.found[NONZERO_PARTS - 1], INT64, CPU, -1)
        found.append(column)
        places.columns[i] = <int64_t*>TensorImpl_mutable_data(column)
    if places.found[NONZERO_PARTS - 1]:
        go(&places, flat, False)
    return found


cdef object nonzero(Kernel self, object table, arguments_t args):
    """Return positions; without dimensions there are none to tell."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    if x.ndim == 0:
        raise ValueError("nonzero() needs a tensor with dimensions. Give it one with reshape(x, (1,)).")
    return tuple([Tensor_wrap(column) for column in places_of_mask(x)])


cdef object argwhere(Kernel self, object table, arguments_t args):
    """Return positions in the columns of a matrix."""
    cdef places_t places
    cdef int64_t sizes[2]
    cdef TensorImpl flat, made
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    flat = start_places(&places, x)
    sizes[0], sizes[1] = places.found[NONZERO_PARTS - 1], places.ndim
    made = empty_impl(2, sizes, INT64, CPU, -1)
    result = Tensor_wrap(made)
    if sizes[0] and places.ndim:
        places.step = places.ndim
        for i in range(places.ndim):
            places.columns[i] = <int64_t*>TensorImpl_mutable_data(made) + i
        go(&places, flat, False)
    return result


# ---- values in a tensor that is in order


cdef struct search_t:
    int code
    const void* ordered
    int64_t length
    const void* values
    int64_t count
    int64_t* out
    bint from_right


cdef void search(ordered_t* ordered, const search_t* self, int64_t start) noexcept nogil:
    cdef const ordered_t* values = <const ordered_t*>self.values
    cdef int64_t stop = min(start + CHUNK_ELEMENTS, self.count)
    while start < stop:
        find_places(
            ordered, self.length, values + start, min(stop - start, <int64_t>TOGETHER), self.from_right,
            self.out + start)
        start += TOGETHER


ctypedef void (*search_function_t)(const void* ordered, const search_t* self, int64_t start) noexcept nogil
cdef search_function_t[10] SEARCH = [
    <search_function_t>search[uint8_t], <search_function_t>search[int8_t], <search_function_t>search[uint16_t],
    <search_function_t>search[int16_t], <search_function_t>search[uint32_t], <search_function_t>search[int32_t],
    <search_function_t>search[uint64_t], <search_function_t>search[int64_t], <search_function_t>search[float],
    <search_function_t>search[double],
]


cdef void search_chunk(void* context, int64_t chunk) noexcept nogil:
    cdef const search_t* self = <const search_t*>context
    SEARCH[place_of_ordered(self.code)](self.ordered, self, chunk * CHUNK_ELEMENTS)


cdef object searchsorted(Kernel self, object table, arguments_t args):
    """Search for values of the same type; what has to be converted or put into order first NumPy does."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl y = (<TensorBase>args[1]).impl
    cdef TensorImpl ordered, values, out
    cdef search_t search
    cdef object side = <object>args[2]
    cdef uint8_t code = x.dtype_code
    if x.ndim != 1:
        raise ValueError(f"searchsorted() needs a tensor of one dimension to search in, found {x.ndim}.")
    if <object>args[3] is not None or y.dtype_code != code or code == COMPLEX64 or code == COMPLEX128 or (
            side != "left" and side != "right"):
        return SEARCH_BY_NUMPY.function(SEARCH_BY_NUMPY, table, args)
    if code == FLOAT16 or code == BFLOAT16:
        code = FLOAT32
    ordered, values = flattened(converted(x, code)), flattened(converted(y, code))
    out = empty_impl(y.ndim, TensorImpl_sizes(y), INT64, CPU, -1)
    result = Tensor_wrap(out)
    if out.numel == 0:
        return result
    search.code, search.from_right = code, side == "right"
    search.out = <int64_t*>TensorImpl_mutable_data(out)
    search.ordered = NULL
    if ordered.numel != 0:
        search.ordered = TensorImpl_const_data(ordered)
    search.values = TensorImpl_const_data(values)
    search.length, search.count = ordered.numel, values.numel
    run_shares(
        search_chunk, &search, (search.count + CHUNK_ELEMENTS - 1) // CHUNK_ELEMENTS, out.numel, values, ordered, None)
    return result


def searchsorted_kernel(sorted, self, *, side, sorter):
    """Search by NumPy."""
    return np.searchsorted(sorted, self, side, sorter)


cdef Kernel SEARCH_BY_NUMPY = NumpyKernel(searchsorted_kernel, widens=True)


for _table, _kernel in (
    (native_functions.ARGMAX, Kernel_of("argmax", position, LARGEST)),
    (native_functions.ARGMIN, Kernel_of("argmin", position, SMALLEST)),
    (native_functions.COUNT_NONZERO,
     ReductionKernel("count_nonzero", None, 0, working=dict.fromkeys(TRUTH, "int64"))),
):
    _table.register("CPU", _kernel)
    _table.register("Meta", _kernel)
native_functions.WHERE.register("CPU", Kernel_of("where", where))
for _table, _kernel in (
    (native_functions.ARGWHERE, Kernel_of("argwhere", argwhere)),
    (native_functions.NONZERO, Kernel_of("nonzero", nonzero)),
    (native_functions.SEARCHSORTED, Kernel_of("searchsorted", searchsorted)),
):
    _table.register("CPU", _kernel)
