"""Searching: where the largest and least elements are, how many are not zero, and choice among them.

NumPy's functions for the place of an element go along the lines of a contiguous tensor. Choice is one walk over a mask
and two tensors that copies items by their size, whatever their type.
"""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy
from numpy cimport PyArray_Descr, import_array, npy_intp
from tensix.core.device cimport META
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.loops.copy cimport converted
from tensix.loops.empty cimport empty_impl
from tensix.loops.item cimport item_t, sixteen_bytes_t
from tensix.loops.iterator cimport (
    CHUNK_ELEMENTS,
    GRAIN_ELEMENTS,
    begin_use,
    end_use,
    inner_loop_t,
    iterator_add,
    iterator_run,
    iterator_start,
    iterator_t,
)
from tensix.loops.parallel cimport parallel_for
from tensix.kernels.statistical cimport axes_from_any, check_defined, reduced_impl
from tensix.kernels.views cimport permuted
from tensix.tensors.dtype cimport (
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    dtype_of_code,
    itemsize_of,
    refuse_undefined,
)
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap, UNDEFINED
from tensix.tensors.tensor_impl cimport (
    TensorImpl,
    TensorImpl_const_data,
    TensorImpl_mutable_data,
    TensorImpl_sizes,
    check_unchanged,
    int64_of,
    set_counts,
    wrap_dim,
)

from tensix.dispatch import native_functions
from tensix.kernels.statistical import TRUTH, ReductionKernel

import_array()

ctypedef int (*find_function_t)(void* items, npy_intp count, npy_intp* place, void* array) noexcept nogil

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArray_ArrFuncs:
        find_function_t argmax
        find_function_t argmin

    PyArray_ArrFuncs* PyDataType_GetArrFuncs(PyArray_Descr* descr)

cdef enum:
    PARTS = 16

cdef find_function_t LARGEST[47]  # by element types; NULL: floats of two bytes
cdef find_function_t LEAST[47]

cdef OperatorTable CONTIGUOUS = native_functions.CONTIGUOUS


# ---- positions


cdef object position(arguments_t args, const find_function_t* find):
    """Return where along an axis, or in the elements one after the other, a function of NumPy finds something."""
    cdef TensorBase ordered = <TensorBase>args[0]
    cdef TensorImpl x = ordered.impl
    cdef TensorImpl made
    cdef uint64_t axes
    cdef uint64_t before = set_counts(x, x, x)
    cdef bint keepdims = <object>args[2]
    axis = <object>args[1]
    check_defined(x)
    axis = None if axis is None else wrap_dim(int64_of(axis), x.ndim)
    axes = axes_from_any(axis, x.ndim)
    if x.numel == 0:
        refuse_empty(x, axes)
    made = reduced_impl(x, INT64, axes, keepdims)
    result = Tensor_wrap(made)
    if x.device_type == META or made.numel == 0:
        return result
    if axis is not None and axis != x.ndim - 1:
        ordered = permuted(x, (*range(axis), *range(axis + 1, x.ndim), axis))
    ordered = CONTIGUOUS.call1(ordered)
    if find[x.dtype_code] == NULL:  # of two bytes, whose order is the same in four
        ordered = Tensor_wrap(converted(ordered.impl, FLOAT32))
    check_unchanged(before, x, x, x)
    find_in_lines(ordered.impl, made, find[ordered.impl.dtype_code])
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
    """Find a place in each line; threads share the lines of a large tensor.

    A single line is cut into parts, and the best of what is found in them, in their order, is that of the line.
    """
    cdef lines_t self
    cdef char candidates[PARTS * 16]
    cdef int64_t found[PARTS]
    cdef npy_intp best = 0
    cdef int64_t i
    cdef uint64_t before = set_counts(x, made, made)
    cdef bint is_single = made.numel == 1 and x.numel >= 2 * CHUNK_ELEMENTS
    self.places = <int64_t*>TensorImpl_mutable_data(made)
    self.items = <const char*>TensorImpl_const_data(x)
    check_unchanged(before, x, made, made)
    self.find, self.itemsize, self.lines = find, itemsize_of(x.dtype_code), PARTS if is_single else made.numel
    self.n = x.numel // self.lines
    self.last = x.numel - self.n * (self.lines - 1)
    if x.numel < GRAIN_ELEMENTS:
        self.share = self.lines
        find_share(&self, 0)
        return 0
    self.share = max(CHUNK_ELEMENTS // self.n, 1)
    cdef int64_t* place = self.places
    if is_single:
        self.places = found
    used_x = begin_use(x)
    with nogil:
        parallel_for((self.lines + self.share - 1) // self.share, find_share, &self)
        if is_single:
            for i in range(PARTS):
                found[i] += i * self.n
                memcpy(candidates + i * self.itemsize, self.items + found[i] * self.itemsize, self.itemsize)
            self.find(candidates, PARTS, &best, NULL)
            place[0] = found[best]
    end_use(used_x)
    return 0


cdef void find_share(void* context, int64_t share) noexcept nogil:
    cdef const lines_t* self = <const lines_t*>context
    cdef int64_t line, place
    for line in range(share * self.share, min((share + 1) * self.share, self.lines)):
        place = 0
        self.find(
            <void*>(self.items + line * self.n * self.itemsize), self.last if line == self.lines - 1 else self.n,
            <npy_intp*>&place, NULL)
        self.places[line] = place


cdef int take_functions() except -1:
    """Take NumPy's functions, which know what comes before what."""
    for code in (
            BOOL, UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128):
        descr = dtype_of_code(code).numpy
        functions = PyDataType_GetArrFuncs(<PyArray_Descr*>descr)
        LARGEST[code], LEAST[code] = functions.argmax, functions.argmin
    return 0


take_functions()


cdef int refuse_empty(TensorImpl x, uint64_t axes) except -1:
    for i in range(x.ndim):
        if (axes >> i) & 1 and TensorImpl_sizes(x)[i] == 0:
            raise ValueError("attempt to get argmax or argmin of an empty sequence: there is no element to point at.")
    return 0


cdef object argmax(Kernel self, object table, arguments_t args):
    return position(args, LARGEST)


cdef object argmin(Kernel self, object table, arguments_t args):
    return position(args, LEAST)


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

cdef void choose_1(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    choose(<uint8_t*>NULL, data, count, steps)

cdef void choose_2(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    choose(<uint16_t*>NULL, data, count, steps)

cdef void choose_4(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    choose(<uint32_t*>NULL, data, count, steps)

cdef void choose_8(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    choose(<uint64_t*>NULL, data, count, steps)

cdef void choose_16(char** data, const npy_intp* count, const npy_intp* steps, void* nothing) noexcept nogil:
    choose(<sixteen_bytes_t*>NULL, data, count, steps)


cdef inner_loop_t choice_for(int itemsize) noexcept nogil:
    if itemsize == 1:
        return choose_1
    if itemsize == 2:
        return choose_2
    if itemsize == 4:
        return choose_4
    return choose_8 if itemsize == 8 else choose_16


cdef object where(Kernel self, object table, arguments_t args):
    """Return the elements of one tensor where the condition holds, of another elsewhere, all three broadcast."""
    cdef iterator_t iterator
    cdef int64_t sizes[64]
    cdef int ndim
    cdef TensorBase condition = <TensorBase>args[0]
    cdef TensorImpl mask, out
    cdef TensorImpl x = (<TensorBase>args[1]).impl
    cdef TensorImpl y = (<TensorBase>args[2]).impl
    if condition.impl is UNDEFINED or x is UNDEFINED or y is UNDEFINED:
        refuse_undefined()
    cdef uint64_t before = set_counts(condition.impl, x, y)
    code = promote_codes(x.dtype_code, y.dtype_code)
    mask = converted(condition.impl, BOOL)
    cdef TensorImpl left = converted(x, code)
    cdef TensorImpl right = converted(y, code)
    check_unchanged(before, condition.impl, x, y)
    ndim = max(mask.ndim, left.ndim, right.ndim)
    for i in range(ndim):
        sizes[i] = 1
    for operand in (mask, left, right):
        take_sizes(operand, ndim, sizes)
    out = empty_impl(ndim, sizes, code, x.device_type, x.device_index)
    check_unchanged(before, condition.impl, x, y)
    iterator_start(&iterator, ndim, sizes)
    iterator_add(&iterator, mask, <void*>TensorImpl_const_data(mask))
    iterator_add(&iterator, left, <void*>TensorImpl_const_data(left))
    iterator_add(&iterator, right, <void*>TensorImpl_const_data(right))
    iterator_add(&iterator, out, TensorImpl_mutable_data(out))
    iterator_run(&iterator, choice_for(itemsize_of(code)), NULL)
    return Tensor_wrap(out)


cdef int take_sizes(TensorImpl operand, int ndim, int64_t* sizes) except -1:
    """Take the sizes of a tensor over where those found so far are 1; `iterator_add` refuses what does not fit."""
    cdef int i
    for i in range(operand.ndim):
        if sizes[ndim - operand.ndim + i] == 1:
            sizes[ndim - operand.ndim + i] = TensorImpl_sizes(operand)[i]
    return 0


for _table, _kernel in (
    (native_functions.ARGMAX, Kernel_of("argmax", argmax)),
    (native_functions.ARGMIN, Kernel_of("argmin", argmin)),
    (native_functions.COUNT_NONZERO,
     ReductionKernel("count_nonzero", None, 0, working=dict.fromkeys(TRUTH, "int64"))),
):
    _table.register("CPU", _kernel)
    _table.register("Meta", _kernel)
native_functions.WHERE.register("CPU", Kernel_of("where", where))
