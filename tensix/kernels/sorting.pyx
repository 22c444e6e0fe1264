"""Sort along a dimension, with an unstable sort where the result cannot differ.

Note [Stable and fast]
~~~~~~~~~~~~~~~~~~~~~~
Integers and bools that are equal are the same, so an unstable order of them is a stable one; NumPy's function for it
takes many at once. Floats that are equal may differ in bits, but only zeros and not-a-numbers do: after an unstable
order these are read from the source once more, in their order there.

Positions are sorted with the elements: as one number of 64 bits, above an element's key, its distance from the least,
and below the position. No two of these are equal either. What does not fit into 64 bits is a pair of both, if there are
many; of few, keys are cut short first, and what that has left in the wrong order is put right by moving it along.

Many positions are not compared at all: they are dealt out by some bits of their keys at a time, from the lowest to the
highest, each time in the order in which they lie. Only bits in which keys differ count: numbers close to each other
take one round. Values alone are never dealt out: a million take NumPy's vectors a fifth of the time.

Complex numbers are sorted by NumPy.
"""
from libc.math cimport isnan
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from numpy cimport PyArray_Descr, import_array, npy_intp
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.kernels.views cimport moved
from tensix.loops.copy cimport converted, copied, copy_elements, in_order
from tensix.loops.empty cimport empty_impl, empty_strided_impl
from tensix.loops.item cimport ordered_t, place_of_ordered
from tensix.loops.iterator cimport CHUNK_ELEMENTS, GRAIN_ELEMENTS, run_shares
from tensix.loops.numpy_results cimport call_numpy, take_over
from tensix.exchange.ndarray cimport ndarray_of_impl
from tensix.tensors.dtype cimport (
    BFLOAT16, COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, INT64, UINT64, dtype_of_code, itemsize_of,
)
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_refresh_order, TensorImpl_sizes,
    TensorImpl_strides, TensorImpl_view, int64_of, wrap_dim,
)

import numpy as np

from tensix.dispatch import native_functions
from tensix.loops.numpy_kernel import NumpyKernel

import_array()

cdef extern from "numpy/arrayobject.h":
    int NPY_QUICKSORT, NPY_STABLESORT
    PyArray_ArrFuncs* PyDataType_GetArrFuncs(PyArray_Descr* descr)

cdef extern from "tensix/bits.h" nogil:
    int tx_highest_bit(uint64_t word)

cdef enum:
    FEW = 256      # keys of so many fit on the stack
    FEWEST = 24    # and so many are compared, even where there are few values to count
    DIGIT_BITS = 11


cdef struct pair_t:
    uint64_t key
    int64_t position


ctypedef fused dealt_t:
    uint64_t
    pair_t


# Sorts a line of the source to one of the result: of values, or of positions.
ctypedef void (*line_function_t)(
    const void* source, void* out, const lines_t* lines, uint64_t* scratch) noexcept nogil


cdef struct lines_t:
    line_function_t function
    const char* source
    char* out
    int64_t length      # of a line
    int64_t count       # of lines
    int64_t per_chunk
    int source_size     # of an element
    int out_size
    int code
    bint descending
    int failed


# ---- kernels


cdef object sort(Kernel self, object table, arguments_t args):
    """Return elements or positions in order; every order is stable, whether that is asked for or not."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef bint descending = <object>args[2]
    return Tensor_wrap(ordered(x, wrap_dim(int64_of(<object>args[1]), x.ndim), descending, self.variant))


cdef TensorImpl ordered(TensorImpl x, int dim, bint descending, bint wants_positions):
    """Return the elements of a dimension in order, or the positions that bring them into it."""
    cdef uint8_t narrow = x.dtype_code
    cdef TensorImpl source = x
    cdef TensorImpl out, made
    if narrow == COMPLEX64 or narrow == COMPLEX128:
        return take_over(call_numpy(
            complex_order, (ndarray_of_impl(x, False), dim, bool(descending), bool(wants_positions))))
    if narrow == FLOAT16 or narrow == BFLOAT16:
        source = converted(x, FLOAT32)
    if dim != x.ndim - 1 or not source.contiguous:
        source = moved(source, dim, x.ndim - 1)
        source = copied(source, source.dtype_code)
    out = empty_impl(
        source.ndim, TensorImpl_sizes(source), INT64 if wants_positions else source.dtype_code, x.device_type,
        x.device_index)
    if x.numel != 0:
        sort_lines(source, out, descending, wants_positions)
    if dim != x.ndim - 1:
        made = empty_strided_impl(x, out.dtype_code)
        copy_elements(made, moved(out, x.ndim - 1, dim))
        out = made
    return out if wants_positions else converted(out, narrow)


cdef TensorImpl flattened(TensorImpl x):
    """Return the elements in row-major order in one dimension: a view, or of what has another order, a copy."""
    cdef TensorImpl view
    x = in_order(x)
    view = TensorImpl_view(x, 1)
    TensorImpl_sizes(view)[0], TensorImpl_strides(view)[0] = x.numel, 1
    TensorImpl_refresh_order(view, x.numel)
    return view


cdef int sort_lines(TensorImpl source, TensorImpl out, bint descending, bint wants_positions) except -1:
    """Sort all lines."""
    cdef lines_t lines
    cdef int place
    cdef int64_t length = TensorImpl_sizes(source)[source.ndim - 1]
    place = place_of_ordered(source.dtype_code)
    lines.function = SORT_POSITIONS[place] if wants_positions else SORT_VALUES[place]
    lines.length, lines.count = length, source.numel // length
    lines.per_chunk = max(CHUNK_ELEMENTS // 8 // length, 1)
    lines.code, lines.descending, lines.failed = source.dtype_code, descending, False
    lines.source_size, lines.out_size = itemsize_of(source.dtype_code), itemsize_of(out.dtype_code)
    lines.out = <char*>TensorImpl_mutable_data(out)
    lines.source = <const char*>TensorImpl_const_data(source)
    if source.numel < GRAIN_ELEMENTS:
        lines.per_chunk = lines.count
    run_shares(
        sort_chunk, &lines, (lines.count + lines.per_chunk - 1) // lines.per_chunk, source.numel, source, None, None)
    if lines.failed:
        raise MemoryError(f"there is no memory to sort {length:,} elements.")
    return 0


cdef void sort_chunk(void* context, int64_t chunk) noexcept nogil:
    cdef lines_t* lines = <lines_t*>context
    cdef uint64_t few[FEW]
    cdef uint64_t* scratch = few
    cdef int64_t first = chunk * lines.per_chunk
    cdef int64_t i
    if lines.length > FEW:
        scratch = <uint64_t*>malloc(<size_t>lines.length * 4 * sizeof(uint64_t))
        if scratch == NULL:
            lines.failed = True
            return
    for i in range(first, min(first + lines.per_chunk, lines.count)):
        lines.function(
            lines.source + i * lines.length * lines.source_size, lines.out + i * lines.length * lines.out_size, lines,
            scratch)
    if scratch != few:
        free(scratch)


cdef inline int bit_length(uint64_t number) noexcept nogil:
    return tx_highest_bit(number) + 1 if number else 0


# ---- keys: numbers of 64 bits in the order of the elements


cdef inline uint64_t key_of(ordered_t value) noexcept nogil:
    """Return an element's key: of both zeros the same, and of all not-a-numbers, which come last."""
    cdef uint32_t half
    cdef uint64_t bits
    if ordered_t is float:
        if value != value:
            return <uint32_t>-1
        value += 0  # -0.0 becomes 0.0
        memcpy(&half, &value, 4)
        return half ^ (<uint32_t>-1 if half >> 31 else <uint32_t>1 << 31)
    elif ordered_t is double:
        if value != value:
            return <uint64_t>-1
        value += 0
        memcpy(&bits, &value, 8)
        return bits ^ (<uint64_t>-1 if bits >> 63 else <uint64_t>1 << 63)
    else:
        return <uint64_t>value ^ (<uint64_t>(<ordered_t>-1 < 1) << 63)


cdef inline uint64_t take_keys(const ordered_t* source, uint64_t* keys, int64_t count, uint64_t* least) noexcept nogil:
    """Write the keys of a line; return how far the largest is from the least."""
    cdef uint64_t key
    cdef uint64_t low = <uint64_t>-1
    cdef uint64_t high = 0
    cdef int64_t i
    for i in range(count):
        key = key_of(source[i])
        keys[i] = key
        low = min(low, key)
        high = max(high, key)
    least[0] = low
    return high - low


cdef bint is_dealt_out(int64_t count, int bits) noexcept nogil:
    """Estimate whether dealing out is faster than NumPy's comparing, by what both took when measured."""
    cdef int64_t rounds = (bits + DIGIT_BITS - 1) // DIGIT_BITS
    cdef int64_t width = (bits + rounds - 1) // rounds if rounds else 0
    return rounds * ((<int64_t>1 << width) // 2 + 3 * count) < count * bit_length(count) * 2


cdef dealt_t* deal_out(dealt_t* items, dealt_t* other, int64_t count, int low, int bits) noexcept nogil:
    """Order items by some bits of their keys; return which of the two arrays has them. See Note [Stable and fast]."""
    cdef int64_t places[1 << DIGIT_BITS]
    cdef int rounds = (bits + DIGIT_BITS - 1) // DIGIT_BITS
    cdef int width = (bits + rounds - 1) // rounds if rounds else 0
    cdef uint64_t mask = (<uint64_t>1 << width) - 1
    cdef int64_t i, place, found
    cdef uint64_t digit
    for _ in range(rounds):
        memset(places, 0, (mask + 1) * sizeof(int64_t))
        for i in range(count):
            places[(dealt_key(items[i]) >> low) & mask] += 1
        place = 0
        for i in range(<int64_t>mask + 1):
            found = places[i]
            places[i] = place
            place += found
        for i in range(count):
            digit = (dealt_key(items[i]) >> low) & mask
            other[places[digit]] = items[i]
            places[digit] += 1
        items, other = other, items
        low += width
    return items


cdef inline uint64_t dealt_key(dealt_t item) noexcept nogil:
    if dealt_t is pair_t:
        return item.key
    else:
        return item


# ---- lines


cdef void sort_values(
        const ordered_t* source, ordered_t* out, const lines_t* lines, uint64_t* scratch) noexcept nogil:
    cdef int64_t count = lines.length
    cdef int kind = NPY_QUICKSORT
    if sizeof(ordered_t) == 1 or sizeof(ordered_t) == 2 and count > 3 * FEW:
        kind = NPY_STABLESORT  # the faster one of these
    if sizeof(ordered_t) == 1 and count > FEWEST:
        count_values(source, out, count)
    else:
        memcpy(out, source, count * sizeof(ordered_t))
        if count > 1:
            FUNCTIONS[lines.code].sort[kind](out, count, NULL)
    if ordered_t is float or ordered_t is double:
        restore(source, out, count, lines.descending)
    if lines.descending:
        reverse(out, count)


cdef void count_values(const ordered_t* source, ordered_t* out, int64_t count) noexcept nogil:
    """Sort by counting how often each value is there."""
    cdef int64_t counts[256]
    cdef int64_t i
    cdef uint8_t key
    memset(counts, 0, sizeof(counts))
    for i in range(count):
        counts[<uint8_t>(<uint8_t>source[i] + (128 if <ordered_t>-1 < 1 else 0))] += 1
    for i in range(256):
        key = <uint8_t>(i - (128 if <ordered_t>-1 < 1 else 0))
        if counts[i]:
            memset(out, key, counts[i])
            out += counts[i]


cdef void restore(const ordered_t* source, ordered_t* out, int64_t count, bint descending) noexcept nogil:
    """Take zeros and not-a-numbers from the source, in order, or backwards. See Note [Stable and fast]."""
    cdef int64_t numbers = count
    cdef int64_t first = 0
    cdef int64_t stop = count
    cdef int64_t i, zeros, middle
    cdef ordered_t value
    while numbers and isnan(out[numbers - 1]):
        numbers -= 1
    stop = numbers
    while first < stop:
        middle = (first + stop) // 2
        if out[middle] < 0:
            first = middle + 1
        else:
            stop = middle
    zeros, stop = first, numbers
    if numbers == count and not (zeros + 1 < count and out[zeros + 1] == 0):
        if zeros == count or out[zeros] != 0:
            return
    for i in range(count):
        value = source[count - 1 - i if descending else i]
        if value == 0 and zeros < stop:  # of both there may be more now: another thread may have written them
            out[zeros] = value
            zeros += 1
        elif isnan(value) and numbers < count:
            out[numbers] = value
            numbers += 1


cdef void reverse(ordered_t* items, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count // 2):
        items[i], items[count - 1 - i] = items[count - 1 - i], items[i]


cdef void sort_positions(
        const ordered_t* source, uint64_t* out, const lines_t* lines, uint64_t* scratch) noexcept nogil:
    cdef int64_t count = lines.length
    cdef uint64_t least = 0
    cdef uint64_t distance = 0
    cdef int bits
    cdef int low = bit_length(count - 1)
    cdef int cut
    cdef uint64_t mask = (<uint64_t>1 << low) - 1
    cdef uint64_t* found = out
    cdef int64_t i
    if sizeof(ordered_t) <= 2 and count > FEW and not lines.descending:
        memcpy(scratch, source, count * sizeof(ordered_t))  # of what others may change meanwhile, NumPy must not count
        for i in range(count):
            out[i] = i
        FUNCTIONS[lines.code].argsort[NPY_STABLESORT](scratch, <npy_intp*>out, count, NULL)
        return
    distance = take_keys(source, scratch, count, &least)
    bits = bit_length(distance)
    cut = max(bits + low - 64, 0)
    for i in range(count):
        scratch[i] -= least
        if lines.descending:
            scratch[i] = distance - scratch[i]
    if cut and count > FEW:
        sort_pairs(out, <pair_t*>(scratch + 2 * count), <pair_t*>scratch, count, bits)
        return
    for i in range(count):
        out[i] = (scratch[i] >> cut) << low | <uint64_t>i
    if not cut and is_dealt_out(count, bits):
        found = deal_out(out, scratch, count, low, bits)
    elif count > 1:
        FUNCTIONS[UINT64].sort[NPY_QUICKSORT](out, count, NULL)
    if cut:
        move_along(out, scratch, count, mask)
    for i in range(count):
        out[i] = found[i] & mask


cdef void sort_pairs(uint64_t* out, pair_t* pairs, pair_t* other, int64_t count, int bits) noexcept nogil:
    """Order positions beside their keys, which lie at the start of `other`."""
    cdef const uint64_t* keys = <const uint64_t*>other
    cdef int64_t i
    for i in range(count):
        pairs[i].key, pairs[i].position = keys[i], i
    pairs = deal_out(pairs, other, count, 0, bits)
    for i in range(count):
        out[i] = pairs[i].position


cdef void move_along(uint64_t* out, const uint64_t* keys, int64_t count, uint64_t mask) noexcept nogil:
    """Order what is in order but for a few bits of the keys."""
    cdef uint64_t item, key
    cdef int64_t i, j
    for i in range(1, count):
        item = out[i]
        key = keys[item & mask]
        j = i
        while j > 0 and keys[out[j - 1] & mask] > key:
            out[j] = out[j - 1]
            j -= 1
        out[j] = item


def complex_order(elements, axis, descending, wants_positions):
    """Return complex numbers in order, or their positions; descending is ascending from the other end."""
    if descending:
        elements = np.flip(elements, axis)
    elements = elements.copy()  # which no other thread changes
    found = (np.argsort if wants_positions else np.sort)(elements, axis, kind="stable")
    if not descending:
        return found
    found = np.flip(found, axis)
    return elements.shape[axis] - 1 - found if wants_positions else found.copy()


cdef line_function_t[10] SORT_VALUES = [
    <line_function_t>sort_values[uint8_t], <line_function_t>sort_values[int8_t], <line_function_t>sort_values[uint16_t],
    <line_function_t>sort_values[int16_t], <line_function_t>sort_values[uint32_t],
    <line_function_t>sort_values[int32_t], <line_function_t>sort_values[uint64_t],
    <line_function_t>sort_values[int64_t], <line_function_t>sort_values[float], <line_function_t>sort_values[double],
]
cdef line_function_t[10] SORT_POSITIONS = [
    <line_function_t>sort_positions[uint8_t], <line_function_t>sort_positions[int8_t],
    <line_function_t>sort_positions[uint16_t], <line_function_t>sort_positions[int16_t],
    <line_function_t>sort_positions[uint32_t], <line_function_t>sort_positions[int32_t],
    <line_function_t>sort_positions[uint64_t], <line_function_t>sort_positions[int64_t],
    <line_function_t>sort_positions[float], <line_function_t>sort_positions[double],
]


for _code in range(47):  # NumPy's functions for all types but floats of two bytes, and what NumPy lacks
    _dtype = dtype_of_code(_code)
    if _dtype is not None and _code != FLOAT16 and _code != BFLOAT16 and _dtype.numpy is not None:
        _descr = _dtype.numpy
        FUNCTIONS[<int>_code] = PyDataType_GetArrFuncs(<PyArray_Descr*>_descr)
native_functions.SORT.register("CPU", Kernel_of("sort", sort, False))
native_functions.ARGSORT.register("CPU", Kernel_of("argsort", sort, True))
native_functions.PARTITION.register("CPU", NumpyKernel(np.partition, widens=True))
