"""Numbers at even distances, written straight into a new tensor.

Integers are reckoned in int64 and all others in float64, whatever type they become, so that the last numbers are as
good as the first. What neither can hold is left to NumPy, which knows what to say. On meta only the length is reckoned.
"""
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from libc.math cimport ceil, isfinite, signbit
from libc.stdint cimport int64_t
from tensix.core.device cimport CPU, META, Device, Device_from_any
from tensix.core.export cimport begin_export, end_export
from tensix.core.storage_impl cimport StorageImpl
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.kernels.iterator cimport GRAIN_ELEMENTS
from tensix.kernels.strided_kernel cimport StridedKernel
from tensix.kernels.nested_numbers cimport is_as_asked
from tensix.tensors.dtype cimport DType, dtype_of_code
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport TensorImpl_mutable_data

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels.numpy_memory import computed

cdef OperatorTable EMPTY = native_functions.EMPTY
cdef OperatorTable ASTYPE = native_functions.ASTYPE
cdef OperatorTable COPY_ = native_functions.COPY_
cdef object LONGEST = 2**63 - 1

cdef enum:
    INT64 = 4
    FLOAT32 = 6
    FLOAT64 = 7


def arange(start, end, step=1, *, DType dtype=None, device=None):
    """Return the numbers from `start` on, `step` apart, up to `end`."""
    cdef bint are_ints = PyLong_CheckExact(start) and PyLong_CheckExact(end) and PyLong_CheckExact(step)
    cdef bint wants_ints
    cdef int64_t count
    cdef Device where = None
    cdef TensorBase made = None
    cdef TensorBase target = None
    if step == 0:
        raise ValueError("arange() needs a step other than 0.")
    if isinstance(start, complex) or isinstance(end, complex) or isinstance(step, complex):
        raise TypeError("arange() is for real numbers: complex ones have no order.")
    if dtype is None:
        dtype = dtype_of_code(INT64 if are_ints or not has_float(start, end, step) else FLOAT32)
    wants_ints = "integer" in dtype.kind
    count = length_of(start, end, step)
    if device is not None:
        where = Device_from_any(device)
        if where.type_code != CPU:  # before any number is made: the device may be meta, or have no memory for them
            target = new_vector(count, dtype.code, where.type_code, where.index)
        if where.type_code == META:
            return target
    if are_ints and (dtype.code == INT64 or not wants_ints):
        made = range_of_ints(start, step, count)
    elif not are_ints and not wants_ints and is_number(start) and is_number(end) and is_number(step):
        made = range_of_floats(start, step, count)
    if made is None:
        new_vector(count, dtype.code, META, -1)  # refuses lengths that NumPy would round up to 2**63, and lose
        made = computed(np.arange, start, end, step, dtype.numpy if wants_ints else None)
    if made.impl.dtype_code != dtype.code:
        made = ASTYPE.call_with(made, dtype)
    return made if target is None else COPY_.call2(target, made)


cdef bint is_number(object value) noexcept:
    return PyFloat_CheckExact(value) or PyLong_CheckExact(value)


cdef bint has_float(object start, object end, object step) except -1:
    return isinstance(start, float) or isinstance(end, float) or isinstance(step, float)


cdef int64_t length_of(object start, object end, object step) except -1:
    """Return how many numbers there are: exactly of ints, of others as NumPy reckons."""
    cdef double steps
    if not has_float(start, end, step):
        count = max(0, -((start - end) // step))
    else:
        steps = (end - start) / step
        if not isfinite(steps):
            raise ValueError(f"arange() from {start} to {end} in steps of {step} has no length that could be counted.")
        count = max(0, int(ceil(steps)))
        if steps == 0 and end != start:  # too little for a float, but not nothing
            count = 0 if signbit(steps) else 1
    if count > LONGEST:
        raise ValueError("arange() is asked for 2**63 numbers or more: no tensor has so many. Give it a longer step.")
    return count


cdef TensorBase range_of_ints(object start, object step, int64_t count):
    """Return a range in int64; None if NumPy has to make it."""
    cdef int64_t* out
    cdef int64_t first, distance
    cdef StorageImpl storage
    try:
        first, distance = start, step
        if count:
            _ = <int64_t>(start + (count - 1) * step)
    except OverflowError:
        return None
    made = new_vector(count, INT64, CPU, -1)
    if not is_as_asked(made.impl, 1, &count, INT64):
        return None
    if count:
        out = <int64_t*>TensorImpl_mutable_data(made.impl)
        if count < GRAIN_ELEMENTS:
            fill_range(out, first, distance, count)
            return made
        storage = made.impl.storage
        begin_export(storage)
        with nogil:
            fill_range(out, first, distance, count)
        end_export(storage)
    return made


cdef TensorBase range_of_floats(object start, object step, int64_t count):
    """Return a range in float64, to the last bit as NumPy has it; None if NumPy has to make it."""
    cdef double first, second
    cdef double* out
    cdef StorageImpl storage
    try:  # as Python reckons: one of the two may be an int that no float holds
        first, second = start, start + step
    except OverflowError:
        return None
    made = new_vector(count, FLOAT64, CPU, -1)
    if not is_as_asked(made.impl, 1, &count, FLOAT64):
        return None
    if count:
        out = <double*>TensorImpl_mutable_data(made.impl)
        if count < GRAIN_ELEMENTS:
            fill_floats(out, first, second, count)
            return made
        storage = made.impl.storage
        begin_export(storage)
        with nogil:
            fill_floats(out, first, second, count)
        end_export(storage)
    return made


cdef void fill_floats(double* out, double first, double second, int64_t count) noexcept nogil:
    fill_range(out, first, second - first, count)
    out[0] = first  # the sum has lost the sign of a zero, and the difference may have lost a bit of the second
    if count > 1:
        out[1] = second


ctypedef fused number_t:
    int64_t
    double


cdef void fill_range(number_t* out, number_t first, number_t distance, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        out[i] = first + <number_t>i * distance


cdef TensorBase new_vector(int64_t count, int code, int device_type, int device_index):
    return EMPTY.call_empty(1, &count, code, device_type, device_index)


native_functions.ARANGE.register("CompositeExplicitAutograd", StridedKernel(arange, native_functions.ARANGE.schema))
