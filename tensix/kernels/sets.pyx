"""Sets: which values there are, by sorting them, and whether one is among others.

Equal elements are neighbours in a stable order, and the first of them is the first there was: it represents all. Each
not-a-number is unequal to all others, and so a value of its own.
"""
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset
from tensix.core.device cimport CPU
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.loops.copy cimport converted, copied
from tensix.loops.empty cimport empty_impl
from tensix.loops.item cimport complex64_t, complex128_t, ordered_t, place_of_ordered, place_of_value, value_t
from tensix.loops.iterator cimport run_shares
from tensix.kernels.searching cimport TOGETHER, find_places
from tensix.kernels.sorting cimport flattened, ordered
from tensix.kernels.views cimport narrowed
from tensix.tensors.dtype cimport BFLOAT16, BOOL, COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, INT64
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport TensorImpl, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_sizes

import numpy as np

from tensix.dispatch import native_functions
from tensix.loops.numpy_kernel import NumpyKernel


cdef struct groups_t:
    const void* elements
    const int64_t* positions  # in order; NULL if the elements are
    int64_t count
    int64_t* inverse          # of each element the number of its value; these three NULL if not wanted
    int64_t* indices          # of each value where it is first
    int64_t* counts
    void* values
    int code                  # the type of the elements
    int64_t found             # values


cdef int64_t group(value_t* elements, const groups_t* self) noexcept nogil:
    """Go through elements in order, and return how many values there are."""
    cdef const int64_t* positions = self.positions
    cdef int64_t* inverse = self.inverse
    cdef int64_t* indices = self.indices
    cdef int64_t* counts = self.counts
    cdef value_t* values = <value_t*>self.values
    cdef value_t value
    cdef value_t before = elements[0]
    cdef int64_t found = -1
    cdef int64_t i, place
    for i in range(self.count):  # no branch that the elements decide: an old value is written over
        place = i if positions == NULL else positions[i]
        value = elements[place]
        values[found + 1] = value
        if indices != NULL:
            indices[found + 1] = place
        found += (i == 0) | (value != before)
        before = value
        if inverse != NULL:
            inverse[place] = found
        if counts != NULL:
            counts[found] = i + 1  # where it ends
    if counts != NULL:
        for i in range(found, 0, -1):
            counts[i] -= counts[i - 1]
    return found + 1


ctypedef int64_t (*group_t)(const void* elements, const groups_t* self) noexcept nogil
cdef group_t[8] GROUP = [
    <group_t>group[uint8_t], <group_t>group[uint16_t], <group_t>group[uint32_t], <group_t>group[uint64_t],
    <group_t>group[float], <group_t>group[double], <group_t>group[complex64_t], <group_t>group[complex128_t],
]


cdef void group_all(void* groups, int64_t share) noexcept nogil:
    cdef groups_t* self = <groups_t*>groups
    self.found = GROUP[place_of_value(self.code)](self.elements, self)


cdef TensorImpl column(int64_t count, int code):
    """Return a tensor of one dimension, without values."""
    return empty_impl(1, &count, code, CPU, -1)


cdef TensorImpl first_of(TensorImpl column, int64_t count):
    """Return the first elements alone; the column itself if that is all."""
    return column if column.numel == count else copied(narrowed(column, 0, 0, count), column.dtype_code)


cdef enum:  # what an operator returns beside the values
    INDICES = 1   # where each value is first
    INVERSE = 2   # which value each element is
    COUNTS = 4    # how many elements are equal


cdef object unique(Kernel self, object table, arguments_t args):
    """Return the values, and what else the kernel's variant names, in the order of these names."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl elements = x
    cdef TensorImpl inverse = None
    cdef TensorImpl indices = None
    cdef TensorImpl counts = None
    cdef TensorImpl positions = None
    cdef TensorImpl values
    cdef groups_t groups
    cdef int64_t found = 0
    cdef bint wants_indices = self.variant & INDICES
    cdef bint wants_inverse = self.variant & INVERSE
    cdef bint wants_counts = self.variant & COUNTS
    if x.dtype_code == FLOAT16 or x.dtype_code == BFLOAT16:
        elements = converted(x, FLOAT32)
    elements = flattened(elements)
    cdef uint8_t code = x.dtype_code
    cdef int64_t count = elements.numel
    if wants_inverse or wants_indices:
        positions = ordered(elements, 0, False, True)
    else:
        elements = ordered(elements, 0, False, False)
    values = column(count, elements.dtype_code)
    if wants_inverse:
        inverse = empty_impl(x.ndim, TensorImpl_sizes(x), INT64, CPU, -1)
    if wants_indices:
        indices = column(count, INT64)
    if wants_counts:
        counts = column(count, INT64)
    if count != 0:
        groups.count = count
        groups.positions = <const int64_t*>address_of(positions)
        groups.inverse = <int64_t*>address_of(inverse)
        groups.indices = <int64_t*>address_of(indices)
        groups.counts = <int64_t*>address_of(counts)
        groups.values = address_of(values)
        groups.elements = TensorImpl_const_data(elements)
        groups.code = elements.dtype_code
        run_shares(group_all, &groups, 1, count, elements, None, None)
        found = groups.found
    results = [Tensor_wrap(converted(first_of(values, found), code))]
    if wants_indices:
        results.append(Tensor_wrap(first_of(indices, found)))
    if wants_inverse:
        results.append(Tensor_wrap(inverse))
    if wants_counts:
        results.append(Tensor_wrap(first_of(counts, found)))
    return tuple(results) if self.variant else results[0]


cdef void* address_of(TensorImpl made) except? NULL:
    """Return the address that a tensor is written to; NULL for None."""
    return NULL if made is None else TensorImpl_mutable_data(made)


# ---- whether an element is among others


cdef enum:
    FEW_VALUES = 8  # so many are compared with each element


cdef struct membership_t:
    const void* elements
    int64_t count
    const void* values
    int64_t value_count
    bint in_order
    uint8_t* out
    bint inverted
    int code  # the type of both
    bint is_done


cdef bint look_up(ordered_t* elements, const membership_t* self) noexcept nogil:
    """Fill in the result; return False if the values have to be in order for that."""
    cdef const ordered_t* values = <const ordered_t*>self.values
    cdef ordered_t element
    cdef int64_t i, j, count
    cdef int64_t places[TOGETHER]
    cdef uint8_t* out = self.out
    if self.value_count <= FEW_VALUES:
        memset(out, 0, self.count)
        for j in range(self.value_count):
            element = values[j]
            for i in range(self.count):
                out[i] |= elements[i] == element
    elif self.in_order:
        i = 0
        while i < self.count:
            count = min(self.count - i, <int64_t>TOGETHER)
            find_places(values, self.value_count - 1, elements + i, count, False, places)
            for j in range(count):
                out[i + j] = values[places[j]] == elements[i + j]
            i += count
    elif ordered_t is float or ordered_t is double:
        return False
    elif not look_up_in_table(elements, values, self):
        return False
    if self.inverted:
        for i in range(self.count):
            out[i] ^= 1
    return True


cdef bint look_up_in_table(ordered_t* elements, const ordered_t* values, const membership_t* self) noexcept nogil:
    """Mark the integers of a range that are among the values, and read the marks; return False if it is too long."""
    cdef ordered_t least = values[0]
    cdef ordered_t greatest = values[0]
    cdef uint64_t length, place
    cdef uint8_t* marks
    cdef int64_t i
    for i in range(self.value_count):
        least = min(least, values[i])
        greatest = max(greatest, values[i])
    length = <uint64_t>greatest - <uint64_t>least
    if length > <uint64_t>(4 * (self.count + self.value_count)):
        return False
    marks = <uint8_t*>calloc(length + 1, 1)
    if marks == NULL:
        return False
    for i in range(self.value_count):
        place = <uint64_t>values[i] - <uint64_t>least
        if place <= length:  # as ever, unless another thread writes meanwhile
            marks[place] = 1
    for i in range(self.count):
        place = <uint64_t>elements[i] - <uint64_t>least
        self.out[i] = marks[place] if place <= length else 0
    free(marks)
    return True


ctypedef bint (*look_up_t)(const void* elements, const membership_t* self) noexcept nogil
cdef look_up_t[10] LOOK_UP = [
    <look_up_t>look_up[uint8_t], <look_up_t>look_up[int8_t], <look_up_t>look_up[uint16_t], <look_up_t>look_up[int16_t],
    <look_up_t>look_up[uint32_t], <look_up_t>look_up[int32_t], <look_up_t>look_up[uint64_t],
    <look_up_t>look_up[int64_t], <look_up_t>look_up[float], <look_up_t>look_up[double],
]


cdef object isin(Kernel self, object table, arguments_t args):
    """Compare with each of a few values, or search those in order; complex numbers have none that C knows."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef TensorImpl y = (<TensorBase>args[1]).impl
    cdef TensorImpl elements, values, out
    cdef membership_t membership
    cdef bint inverted = <object>args[2]
    cdef int code = promote_codes(x.dtype_code, y.dtype_code)
    if code == COMPLEX64 or code == COMPLEX128:
        return ISIN_OF_COMPLEX.function(ISIN_OF_COMPLEX, table, args)
    elements, values = converted(x, code), converted(y, code)
    if code == FLOAT16 or code == BFLOAT16:
        code = FLOAT32
        elements, values = converted(elements, code), converted(values, code)
    elements, values = flattened(elements), flattened(values)
    out = empty_impl(x.ndim, TensorImpl_sizes(x), BOOL, CPU, -1)
    if out.numel == 0:
        return Tensor_wrap(out)
    membership.inverted, membership.out = inverted, <uint8_t*>TensorImpl_mutable_data(out)
    membership.in_order = False
    if not run_look_up(&membership, elements, values):
        values = ordered(values, 0, False, False)
        membership.in_order = True
        run_look_up(&membership, elements, values)
    return Tensor_wrap(out)


cdef bint run_look_up(membership_t* membership, TensorImpl elements, TensorImpl values) except -1:
    """Look up all elements."""
    membership.values = NULL
    if values.numel != 0:
        membership.values = TensorImpl_const_data(values)
    membership.elements = TensorImpl_const_data(elements)
    membership.count, membership.value_count, membership.code = elements.numel, values.numel, elements.dtype_code
    run_shares(look_up_all, membership, 1, max(elements.numel, values.numel), elements, values, None)
    return membership.is_done


cdef void look_up_all(void* membership, int64_t share) noexcept nogil:
    cdef membership_t* self = <membership_t*>membership
    self.is_done = LOOK_UP[place_of_ordered(self.code)](self.elements, self)


cdef Kernel ISIN_OF_COMPLEX = NumpyKernel(np.isin, promotes=True)

for _table, _kernel in (
    (native_functions.ISIN, Kernel_of("isin", isin)),
    (native_functions.UNIQUE_ALL, Kernel_of("unique_all", unique, INDICES | INVERSE | COUNTS)),
    (native_functions.UNIQUE_COUNTS, Kernel_of("unique_counts", unique, COUNTS)),
    (native_functions.UNIQUE_INVERSE, Kernel_of("unique_inverse", unique, INVERSE)),
    (native_functions.UNIQUE_VALUES, Kernel_of("unique_values", unique)),
):
    _table.register("CPU", _kernel)
