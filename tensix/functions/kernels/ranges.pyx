"""Numbers at even distances, written straight into a new tensor.

Integers are reckoned in int64 and all others in float64, whatever type they become, so that the last numbers are as
good as the first. What neither can hold is left to NumPy, which knows what to say.
"""
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from libc.math cimport ceil, isfinite
from libc.stdint cimport int64_t
from tensix.core.device cimport CPU, Device_from_any
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.dtype cimport DType, dtype_of_code
from tensix.tensors.tensor cimport Tensor
from tensix.tensors.tensor_impl cimport TensorImpl_mutable_data

import numpy as np

from tensix.dispatch import native_functions
from tensix.functions.kernels.numpy_memory import computed

cdef OperatorTable EMPTY = native_functions.EMPTY
cdef OperatorTable ASTYPE = native_functions.ASTYPE

cdef enum:
    INT64 = 4
    FLOAT32 = 6
    FLOAT64 = 7


def arange(start, end, step=1, *, DType dtype=None, device=None):
    """Return the numbers from `start` on, `step` apart, up to `end`."""
    cdef bint are_ints = PyLong_CheckExact(start) and PyLong_CheckExact(end) and PyLong_CheckExact(step)
    cdef bint wants_ints
    cdef Tensor made = None
    if step == 0:
        raise ValueError("arange() needs a step other than 0.")
    if isinstance(start, complex) or isinstance(end, complex) or isinstance(step, complex):
        raise TypeError("arange() is for real numbers: complex ones have no order.")
    if dtype is None:
        dtype = dtype_of_code(INT64 if are_ints or not has_float(start, end, step) else FLOAT32)
    wants_ints = "integer" in dtype.kind
    if are_ints and (dtype.code == INT64 or not wants_ints):
        made = range_of_ints(start, end, step)
    elif not are_ints and not wants_ints and is_number(start) and is_number(end) and is_number(step):
        made = range_of_floats(start, end, step)
    if made is None:
        made = computed(np.arange, start, end, step, dtype.numpy if wants_ints else None)
    if made.impl.dtype_code != dtype.code:
        made = ASTYPE.call_with(made, dtype)
    return made if device is None or Device_from_any(device).type_code == CPU else made.to_device(device)


cdef bint is_number(object value) noexcept:
    return PyFloat_CheckExact(value) or PyLong_CheckExact(value)


cdef bint has_float(object start, object end, object step) except -1:
    return isinstance(start, float) or isinstance(end, float) or isinstance(step, float)


cdef Tensor range_of_ints(object start, object end, object step):
    """Return a range in int64; None if not all that is reckoned with fits."""
    cdef int64_t* out
    cdef int64_t first, distance
    count = max(0, -((start - end) // step))
    try:
        first, distance = start, step
        if count:
            _ = <int64_t>(start + (count - 1) * step)
        made = new_vector(count, INT64)
    except OverflowError:
        return None
    if count:
        out = <int64_t*>TensorImpl_mutable_data(made.impl)
        with nogil:
            fill_range(out, first, distance, made.impl.numel)
    return made


cdef Tensor range_of_floats(object start, object end, object step):
    """Return a range in float64, to the last bit as NumPy has it; None if its length cannot be told."""
    cdef double first, second, steps
    cdef double* out
    try:  # as Python reckons: among the three may be ints that no float holds
        first, second, steps = start, start + step, (end - start) / step
    except OverflowError:
        return None
    if not isfinite(steps) or steps > <double>(1 << 62) or steps == 0 and end != start:
        return None
    made = new_vector(<int64_t>max(0.0, ceil(steps)), FLOAT64)
    if made.impl.numel:
        out = <double*>TensorImpl_mutable_data(made.impl)
        with nogil:
            fill_range(out, first, second - first, made.impl.numel)
    if made.impl.numel > 1:
        out[1] = second  # the difference may have lost a bit of it
    return made


ctypedef fused number_t:
    int64_t
    double


cdef void fill_range(number_t* out, number_t first, number_t distance, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        out[i] = first + <number_t>i * distance


cdef Tensor new_vector(object count, int code):
    cdef int64_t[1] sizes
    sizes[0] = count
    return EMPTY.call_empty(1, sizes, code, CPU, -1)


native_functions.ARANGE.register("CompositeExplicitAutograd", arange)
