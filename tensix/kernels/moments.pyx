"""Mean, variance and standard deviation: sums, and what NumPy's loops make of them.

Integers are summed in float64, float16 and bfloat16 in float32; the result has the type of the elements, of integers
the default one. The variance takes two passes, so that a large mean takes no digits away: first the mean, then the
mean of the squared distances to it.
"""
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy
from tensix.core.device cimport META
from tensix.kernels.conversion cimport (
    conversion_init,
    converting_loop,
    converting_loop_init,
    converting_loop_t,
)
from tensix.kernels.copy cimport converted
from tensix.kernels.iterator cimport (
    inner_loop_t,
    iterator_add,
    iterator_add_element,
    iterator_run,
    iterator_start,
    iterator_t,
    new_result,
)
from tensix.kernels.reduction cimport (
    axes_from_any,
    check_defined,
    fold,
    folding_loop_t,
    take_folding_loop,
    take_loop,
)
from tensix.tensors.dtype cimport default_float_code, dtype_of_code
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl,
    TensorImpl_const_data,
    TensorImpl_mutable_data,
    TensorImpl_refresh,
    TensorImpl_sizes,
    TensorImpl_strides,
    TensorImpl_view,
    check_unchanged,
    set_counts,
)

import numpy as np

from tensix.dispatch import native_functions
from tensix.tensors.dtype import dtype_named


cdef struct loop_t:
    inner_loop_t function
    void* data


# What is reckoned with, by the code of a floating type that NumPy has.
cdef folding_loop_t ADD[47]
cdef loop_t SUBTRACT[47]
cdef loop_t MULTIPLY[47]
cdef loop_t DIVIDE[47]
cdef loop_t SQRT[47]

for _name in ("float32", "float64", "complex64", "complex128"):
    _dtype = dtype_named(_name)
    _code = _dtype.code
    take_folding_loop(&ADD[_code], np.add, _dtype, 0)
    take_loop(np.subtract, _dtype, &SUBTRACT[_code].function, &SUBTRACT[_code].data)
    take_loop(np.multiply, _dtype, &MULTIPLY[_code].function, &MULTIPLY[_code].data)
    take_loop(np.divide, _dtype, &DIVIDE[_code].function, &DIVIDE[_code].data)
    take_loop(np.sqrt, _dtype, &SQRT[_code].function, &SQRT[_code].data)

cdef dict WORKING = {"float16": "float32", "bfloat16": "float32", "float32": "float32", "float64": "float64",
                     "complex64": "complex64", "complex128": "complex128"}
cdef dict REAL_PART = {"complex64": "float32", "complex128": "float64"}


cdef uint8_t working_code(TensorImpl x) except? 255:
    """Return the type to reckon in."""
    check_defined(x)
    return dtype_named(WORKING.get(dtype_of_code(x.dtype_code).name, "float64")).code


cdef uint8_t result_code(TensorImpl x) except? 255:
    """Return the type of a mean: that of the elements, the default one if they are no floating ones."""
    return x.dtype_code if dtype_of_code(x.dtype_code).name in WORKING else default_float_code()


cdef double count_of(TensorImpl x, uint64_t axes) noexcept:
    """Return how many elements fold into one."""
    cdef double count = 1
    for i in range(x.ndim):
        if (axes >> i) & 1:
            count *= TensorImpl_sizes(x)[i]
    return count


cdef int divide(TensorImpl self, double divisor) except -1:
    """Divide every element in place."""
    cdef iterator_t iterator
    cdef double divisors[2]  # large enough for each type
    if self.device_type == META:
        return 0
    number = np.array(divisor, dtype_of_code(self.dtype_code).numpy).tobytes()
    memcpy(divisors, <char*>number, len(number))
    iterator_start(&iterator, self.ndim, TensorImpl_sizes(self))
    iterator_add(&iterator, self, TensorImpl_mutable_data(self))
    iterator_add_element(&iterator, divisors)
    iterator_add(&iterator, self, TensorImpl_mutable_data(self))
    iterator_run(&iterator, DIVIDE[self.dtype_code].function, DIVIDE[self.dtype_code].data)
    return 0


cdef TensorImpl mean_impl(TensorImpl x, uint8_t working, uint64_t axes, bint keepdims):
    cdef TensorImpl out = fold(&ADD[working], x, working, axes, keepdims)
    divide(out, count_of(x, axes))
    return out


cdef TensorImpl distances(TensorImpl x, TensorImpl center, uint8_t working):
    """Return x less its mean, a new tensor."""
    cdef iterator_t iterator
    cdef converting_loop_t wrapped
    cdef uint64_t before = set_counts(x, x, x)
    cdef TensorImpl out = new_result(x.ndim, TensorImpl_sizes(x), working, x, x)
    check_unchanged(before, x, x, x)
    if x.device_type == META:
        return out
    converting_loop_init(&wrapped, SUBTRACT[working].function, SUBTRACT[working].data, 3)
    if x.dtype_code != working:
        conversion_init(&wrapped.conversions[0], x.dtype_code, working)
    iterator_start(&iterator, x.ndim, TensorImpl_sizes(x))
    iterator_add(&iterator, x, <void*>TensorImpl_const_data(x))
    iterator_add(&iterator, center, <void*>TensorImpl_const_data(center))
    iterator_add(&iterator, out, TensorImpl_mutable_data(out))
    if x.dtype_code != working:
        iterator_run(&iterator, converting_loop, &wrapped)
    else:
        iterator_run(&iterator, SUBTRACT[working].function, SUBTRACT[working].data)
    return out


cdef TensorImpl as_real(TensorImpl x):
    """Return the view on complex numbers as pairs of real ones; others as they are."""
    name = REAL_PART.get(dtype_of_code(x.dtype_code).name)
    if name is None:
        return x
    cdef TensorImpl view = TensorImpl_view(x, x.ndim + 1)
    view.dtype_code = dtype_named(name).code
    for i in range(x.ndim):
        TensorImpl_sizes(view)[i], TensorImpl_strides(view)[i] = TensorImpl_sizes(x)[i], 2 * TensorImpl_strides(x)[i]
    TensorImpl_sizes(view)[x.ndim], TensorImpl_strides(view)[x.ndim] = 2, 1
    view.storage_offset *= 2
    TensorImpl_refresh(view)
    return view


cdef int square(TensorImpl self) except -1:
    """Square every element in place."""
    cdef iterator_t iterator
    cdef void* data
    if self.device_type == META:
        return 0
    data = TensorImpl_mutable_data(self)
    iterator_start(&iterator, self.ndim, TensorImpl_sizes(self))
    for _ in range(3):
        iterator_add(&iterator, self, data)
    iterator_run(&iterator, MULTIPLY[self.dtype_code].function, MULTIPLY[self.dtype_code].data)
    return 0


cdef int take_roots(TensorImpl self) except -1:
    """Take the square root of every element in place."""
    cdef iterator_t iterator
    cdef void* data
    if self.device_type == META:
        return 0
    data = TensorImpl_mutable_data(self)
    iterator_start(&iterator, self.ndim, TensorImpl_sizes(self))
    for _ in range(2):
        iterator_add(&iterator, self, data)
    iterator_run(&iterator, SQRT[self.dtype_code].function, SQRT[self.dtype_code].data)
    return 0


def mean(TensorBase tensor not None, *, axis=None, keepdims=False):
    """Return the mean."""
    cdef TensorImpl x = tensor.impl
    cdef uint8_t working = working_code(x)
    return Tensor_wrap(converted(mean_impl(x, working, axes_from_any(axis, x.ndim), keepdims), result_code(x)))


cdef object spread(TensorImpl x, object axis, double correction, bint keepdims, bint has_root):
    """Return the variance, or its root."""
    cdef uint8_t working = working_code(x)
    cdef uint64_t axes
    cdef TensorImpl center, squares, out
    cdef double divisor
    axes = axes_from_any(axis, x.ndim)
    divisor = count_of(x, axes) - correction
    center = mean_impl(x, working, axes, True)
    squares = as_real(distances(x, center, working))
    square(squares)
    if squares.ndim > x.ndim:  # real and imaginary part
        squares = fold(&ADD[squares.dtype_code], squares, squares.dtype_code, <uint64_t>1 << x.ndim, False)
    out = fold(&ADD[squares.dtype_code], squares, squares.dtype_code, axes, keepdims)
    divide(out, max(divisor, 0.0))
    if has_root:
        take_roots(out)
    return Tensor_wrap(out if working != squares.dtype_code else converted(out, result_code(x)))


def var(TensorBase tensor not None, *, axis=None, correction=0.0, keepdims=False):
    """Return the variance."""
    return spread(tensor.impl, axis, correction, keepdims, False)


def std(TensorBase tensor not None, *, axis=None, correction=0.0, keepdims=False):
    """Return the root of the variance."""
    return spread(tensor.impl, axis, correction, keepdims, True)


for _table, _kernel in ((native_functions.MEAN, mean), (native_functions.VAR, var), (native_functions.STD, std)):
    _table.register("CPU", _kernel)
    _table.register("Meta", _kernel)
