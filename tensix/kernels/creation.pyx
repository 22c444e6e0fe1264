"""Creation: factories, tensors like others, nested sequences of numbers, and numbers at even distances.

A factory that fills is `empty` and a filling operator, one after the other, so it serves every device.

Of nested sequences only exact classes are read, so that no other code runs meanwhile. All else, such as arrays among
the numbers, numbers too large for their type, or no numbers at all, is left to NumPy, which knows what it means and
which error to raise.

In ranges integers are computed in int64 and all others in float64, whatever type they become, so that the last numbers
are as good as the first. What neither can hold is left to NumPy as well. On meta only the length is computed.
"""
from cpython.bool cimport PyBool_Check
from cpython.float cimport PyFloat_CheckExact
from cpython.list cimport PyList_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.number cimport PyIndex_Check, PyNumber_Index
from cpython.tuple cimport PyTuple_CheckExact
from libc.math cimport ceil, isfinite, signbit
from libc.stdint cimport INT64_MAX, INT64_MIN, int8_t, int64_t, uint8_t
from libc.string cimport memcpy, memset
from tensix.core.device cimport CPU, META, Device, Device_from_any, Device_get
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operands cimport write_fitting
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.loops.empty cimport check_strided
from tensix.loops.iterator cimport CHUNK_ELEMENTS, GRAIN_ELEMENTS, run_shares
from tensix.tensors.dtype cimport (
    BOOL, FLOAT32, FLOAT64, INT64, DType, default_float_code, dtype_from_any, dtype_of_code, is_integer, itemsize_of,
)
from tensix.tensors.tensor_base cimport TensorBase
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_new, TensorImpl_refresh, TensorImpl_shape,
    TensorImpl_sizes, TensorImpl_span, TensorImpl_strides, int64_of, tx_multiply_overflows,
)

import numpy as np

from tensix.dispatch import native_functions
from tensix.loops import copy, empty
from tensix.loops.numpy_kernel import NumpyKernel
from tensix.loops.numpy_results import computed
from tensix.tensors.dtype import complex64, float32
from tensix.tensors.memory_format import contiguous_format

cdef OperatorTable ASTYPE, CLONE, EMPTY, EXPAND, FILL_, RANDOM_, RESHAPE, ZEROS
from tensix.dispatch.native_functions import ASTYPE, CLONE, EMPTY, EXPAND, FILL_, RANDOM_, RESHAPE, ZEROS
cdef object LONGEST = 2**63 - 1

cdef enum:
    MAX_DEPTH = 8  # deeper sequences, such as a list that contains itself, are left to NumPy
    BOOLS = 1
    INTS = 2
    FLOATS = 4
    OTHERS = 8
    REAL = 1   # variants of kernels: of `frequencies`,
    LOWER = 1  # and of `triangle`


# ---- factories


cdef object call_factory(OperatorTable table, object shape, tuple more, object dtype, object device):
    """Call an operator that makes a tensor with its arguments unpacked, or as they are if somebody watches."""
    cdef int64_t sizes[64]
    cdef Device where
    cdef int ndim = 1
    cdef uint8_t code
    cdef int8_t device_type = 0
    cdef int8_t device_index = -1
    if dtype is None:
        code = default_float_code()
    else:
        code = (<DType>dtype).code if type(dtype) is DType else dtype_from_any(dtype).code
    if device is not None:
        where = Device_from_any(device)
        device_type, device_index = where.type_code, where.index
    if type(shape) is int or more:
        if more:
            ndim += copy_sizes(more, sizes + 1, 63)
        sizes[0] = int64_of(shape)
    else:
        ndim = copy_sizes(as_shape(shape), sizes, 64)
    return table.call_empty(ndim, sizes, code, device_type, device_index)


cdef int copy_sizes(tuple shape, int64_t* sizes, int most) except -1:
    """Fill in sizes, at most `most`, and return how many there are."""
    cdef int ndim = 0
    if len(shape) > most:
        raise ValueError(f"a tensor has at most 64 dimensions, found {64 - most + len(shape)}.")
    for size in shape:
        if not PyIndex_Check(size):
            refuse_size(size)
        sizes[ndim] = int64_of(size)
        ndim += 1
    return ndim


cdef int refuse_size(object size) except -1:
    """Say that a size is none; an element type in its place is meant to be `dtype`."""
    try:
        hint = f" An element type is given by name: dtype={str(dtype_from_any(size))!r}."
    except TypeError:
        hint = ""
    raise TypeError(f"sizes are ints, found {size!r} among them.{hint}")


cdef tuple as_shape(object shape):
    """Return sizes given as ``f(3, 4)``, ``f((3, 4))`` or ``f(3)``."""
    if type(shape) is tuple:
        if len(<tuple>shape) != 1 or PyIndex_Check((<tuple>shape)[0]):
            return <tuple>shape
        shape = (<tuple>shape)[0]
    if PyIndex_Check(shape):
        return (shape,)
    if not hasattr(shape, "__iter__"):
        refuse_size(shape)
    return tuple(shape)


cdef class FactoryKernel(Kernel):
    """Make a tensor without values and fill it by another operator."""

    cdef OperatorTable fill
    cdef object value  # what to fill with; None: random numbers, whose operator gets the generator

    def __init__(self, OperatorTable fill, value=None):
        self.fill, self.value, self.name = fill, value, f"empty, then {fill.schema.name}"
        self.function, self.empty_function = make_and_fill, make_and_fill_of_numbers


cdef object make_and_fill(Kernel kernel, object table, arguments_t args):
    cdef FactoryKernel self = kernel
    cdef bint is_random = self.value is None
    made = empty_as_asked(<object>args[0], args + 1 + is_random, None, None)
    return self.fill.call_with(made, <object>args[1] if is_random else self.value)


cdef object make_and_fill_of_numbers(
        Kernel kernel, int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type, int8_t device_index):
    cdef FactoryKernel self = <FactoryKernel>kernel
    made = EMPTY.call_empty(ndim, sizes, dtype_code, device_type, device_index)
    return self.fill.call1(made) if self.value is None else self.fill.call_with(made, self.value)


cdef object full(Kernel self, object table, arguments_t args):
    return FILL_.call_with(empty_as_asked(<object>args[0], args + 2, None, None), <object>args[1])


cdef TensorBase empty_as_asked(object size, arguments_t options, object dtype, object device):
    """Return an empty tensor with the options of a factory: dtype, layout, device, pin_memory; two have a stand-in."""
    check_strided(<object>options[1], <object>options[3])
    if <object>options[0] is not None:
        dtype = <object>options[0]
    if <object>options[2] is not None:
        device = <object>options[2]
    return call_factory(EMPTY, size, (), dtype, device)


cdef object randint(Kernel self, object table, arguments_t args):
    made = empty_as_asked(<object>args[2], args + 4, dtype_of_code(INT64), None)
    if PyLong_CheckExact(<object>args[0]) and PyLong_CheckExact(<object>args[1]):
        return RANDOM_.call((made, <object>args[0], <object>args[1], <object>args[3]), None)
    return RANDOM_(made, <object>args[0], <object>args[1], generator=<object>args[3])


# ---- tensors like others, or with strides


cdef object empty_like(Kernel self, object table, arguments_t args):
    """Return an empty tensor of this shape."""
    return like(<object>args[0], args + 1)


cdef object full_like(Kernel self, object table, arguments_t args):
    """Return a filled tensor of this shape."""
    return FILL_.call_with(like(<object>args[0], args + 2), <object>args[1])


cdef TensorBase like(TensorBase tensor, arguments_t options):
    cdef TensorImpl impl = tensor.impl
    cdef int i
    for i in range(4):
        if <object>options[i] is not None:
            return empty_as_asked(
                TensorImpl_shape(impl), options, dtype_of_code(impl.dtype_code),
                Device_get(impl.device_type, impl.device_index))
    return EMPTY.call_empty(
        impl.ndim, TensorImpl_sizes(impl), impl.dtype_code, impl.device_type, impl.device_index)


cdef object empty_strided(Kernel self, object table, arguments_t args):
    """Return a tensor over just so many elements as the strides reach."""
    cdef int64_t lowest = 0
    cdef int64_t highest = -1
    cdef tuple size = tuple(<object>args[0])
    cdef tuple stride = tuple(<object>args[1])
    check_strided(<object>args[3], <object>args[5])
    if len(size) != len(stride):
        raise ValueError(f"empty_strided() needs a stride for each size, found {size} and {stride}.")
    cdef TensorImpl shape = TensorImpl_new(0, 0, len(size))
    for i in range(len(size)):
        TensorImpl_sizes(shape)[i], TensorImpl_strides(shape)[i] = int64_of(size[i]), int64_of(stride[i])
        if TensorImpl_sizes(shape)[i] < 0:
            raise ValueError(f"empty_strided() needs sizes of 0 or more, found {size}.")
    TensorImpl_refresh(shape)
    if shape.numel and not (TensorImpl_span(shape, &lowest, &highest) and highest < LONGEST + lowest):
        raise ValueError(f"empty_strided() of shape {size} with stride {stride}: elements are counted in 63 bits.")
    made = call_factory(EMPTY, (highest - lowest + 1,), (), <object>args[2], <object>args[4])
    return made.as_strided(size, stride, -lowest)


# ---- nested sequences of Python's own numbers, written straight into a tensor


cdef TensorBase tensor_of_numbers(object data, int code):
    """Return a new tensor, of the default type for these numbers if `code` is -1; None if NumPy has to read them."""
    cdef int64_t sizes[MAX_DEPTH]
    cdef int ndim = 0
    cdef int kinds
    cdef char* place
    cdef TensorBase made
    item = data
    while PyList_CheckExact(item) or PyTuple_CheckExact(item):
        if ndim == MAX_DEPTH or len(item) == 0:
            return None
        sizes[ndim] = len(item)
        ndim += 1
        item = item[0]
    kinds = kinds_in(data, sizes, ndim)
    if kinds & OTHERS:
        return None
    if code < 0:
        code = default_float_code() if kinds & FLOATS else INT64 if kinds & INTS else BOOL
    made = EMPTY.call_empty(ndim, sizes, code, CPU, -1)
    place = <char*>TensorImpl_mutable_data(made.impl)
    try:
        return made if write_numbers(data, sizes, ndim, code, &place) else None
    except OverflowError:
        return None


cdef int kinds_in(object data, const int64_t* sizes, int ndim) except -1:
    """Return what kinds of numbers there are; OTHERS too if not all sequences of a depth have its length."""
    cdef int kinds = 0
    if ndim == 0:
        if PyFloat_CheckExact(data):
            return FLOATS
        return INTS if PyLong_CheckExact(data) else BOOLS if PyBool_Check(data) else OTHERS
    if not is_sequence_of(data, sizes[0]):
        return OTHERS
    if PyList_CheckExact(data):
        for item in <list>data:
            kinds |= kinds_in(item, sizes + 1, ndim - 1)
    else:
        for item in <tuple>data:
            kinds |= kinds_in(item, sizes + 1, ndim - 1)
    return kinds


cdef bint write_numbers(object data, const int64_t* sizes, int ndim, uint8_t code, char** place) except -1:
    """Write numbers one after the other, and say whether all could be: an allocator may have changed the sequences."""
    if ndim == 0:
        if kinds_in(data, sizes, 0) & OTHERS or not write_fitting(code, place[0], data):
            return False
        place[0] += itemsize_of(code)
        return True
    if not is_sequence_of(data, sizes[0]):
        return False
    if PyList_CheckExact(data):
        for item in <list>data:
            if not write_numbers(item, sizes + 1, ndim - 1, code, place):
                return False
    else:
        for item in <tuple>data:
            if not write_numbers(item, sizes + 1, ndim - 1, code, place):
                return False
    return True


cdef inline bint is_sequence_of(object data, int64_t length) except -1:
    return (PyList_CheckExact(data) or PyTuple_CheckExact(data)) and len(data) == length


# ---- numbers that follow from their positions


cdef object arange(Kernel self, object table, arguments_t args):
    """Return the numbers from the first on, a step apart, up to the second."""
    cdef object start = <object>args[0]
    cdef object end = <object>args[1]
    cdef object step = <object>args[2]
    cdef DType dtype = <object>args[3]
    cdef object device = <object>args[5]
    cdef bint are_ints = PyLong_CheckExact(start) and PyLong_CheckExact(end) and PyLong_CheckExact(step)
    cdef bint wants_ints
    cdef int64_t count
    cdef TensorBase made = None
    check_strided(<object>args[4], <object>args[6])
    if step == 0:
        raise ValueError("arange() needs a step other than 0.")
    if not are_ints and (isinstance(start, complex) or isinstance(end, complex) or isinstance(step, complex)):
        raise TypeError("arange() is for real numbers: complex ones have no order.")
    if dtype is None:
        dtype = dtype_of_code(INT64 if are_ints or not has_float(start, end, step) else FLOAT32)
    wants_ints = is_integer(dtype.code)
    count = length_of_ints(start, end, step) if are_ints else length_of(start, end, step)
    if device is None or Device_from_any(device).type_code == CPU:
        if are_ints and (dtype.code == INT64 or not wants_ints):
            made = range_of_ints(start, step, count)
        elif not are_ints and not wants_ints and is_number(start) and is_number(end) and is_number(step):
            made = range_of_floats(start, step, count, FLOAT32 if dtype.code == FLOAT32 else FLOAT64)
    if made is not None:
        return made if made.impl.dtype_code == dtype.code else ASTYPE.call_with(made, dtype)
    new_vector(count, dtype.code, META, -1)  # refuses lengths that NumPy would round up to 2**63, and lose
    return numbers_of_numpy(count, dtype, device, np.arange, start, end, step, dtype.numpy if wants_ints else None)


cdef bint is_number(object value) noexcept:
    return PyFloat_CheckExact(value) or PyLong_CheckExact(value)


cdef bint has_float(object start, object end, object step) except -1:
    return isinstance(start, float) or isinstance(end, float) or isinstance(step, float)


cdef int64_t length_of_ints(object start, object end, object step) except -1:
    """Return how many numbers there are."""
    cdef int overflow[3]
    cdef int64_t first = PyLong_AsLongLongAndOverflow(start, &overflow[0])
    cdef int64_t bound = PyLong_AsLongLongAndOverflow(end, &overflow[1])
    cdef int64_t distance = PyLong_AsLongLongAndOverflow(step, &overflow[2])
    cdef int64_t most = INT64_MAX // 4  # of three such numbers the sum cannot overflow
    if overflow[0] or overflow[1] or overflow[2] or max(first, bound, distance) >= most or (
            min(first, bound, distance) <= -most):
        return length_of(start, end, step)
    if (bound > first) != (distance > 0) or bound == first:
        return 0
    return (bound - first + distance - (1 if distance > 0 else -1)) // distance


cdef int64_t length_of(object start, object end, object step) except -1:
    """Return how many numbers there are: exactly of ints, of others as NumPy counts."""
    cdef double steps
    if not has_float(start, end, step):
        count = max(0, -((start - end) // step))
    else:
        if PyFloat_CheckExact(start) and PyFloat_CheckExact(end) and PyFloat_CheckExact(step):
            steps = (<double>end - <double>start) / <double>step
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
    cdef range_t range
    cdef int64_t span = 0
    try:
        range.first, range.distance = start, step
    except OverflowError:
        return None
    if count and (tx_multiply_overflows(count - 1, range.distance, &span) or overflows(range.first, span)):
        return None
    range.count, range.code = count, INT64
    return filled(&range)


cdef struct range_t:
    void* out
    int64_t count
    uint8_t code             # INT64: these two are meant; FLOAT32 or FLOAT64: the others
    int64_t first
    int64_t distance
    double first_float
    double distance_float


cdef TensorBase filled(range_t* range):
    """Return the numbers of a range."""
    made = new_vector(range.count, range.code, CPU, -1)
    if range.count:
        range.out = TensorImpl_mutable_data(made.impl)
        run_shares(fill_any, range, 1, range.count, None, None, made.impl)
    return made


cdef void fill_any(void* context, int64_t share) noexcept nogil:
    cdef const range_t* range = <const range_t*>context
    if range.code == INT64:
        fill_range(<int64_t*>range.out, range.first, range.distance, range.count)
    elif range.code == FLOAT32:
        fill_range(<float*>range.out, range.first_float, range.distance_float, range.count)
    else:
        fill_range(<double*>range.out, range.first_float, range.distance_float, range.count)


cdef bint overflows(int64_t a, int64_t b) noexcept:
    return a > INT64_MAX - b if b > 0 else a < INT64_MIN - b


cdef TensorBase range_of_floats(object start, object step, int64_t count, uint8_t code):
    """Return a range, to the last bit as NumPy has it in float64; None if NumPy has to make it."""
    cdef double first, second
    try:  # as Python computes: one of the two may be an int that no float holds
        first, second = start, start + step
    except OverflowError:
        return None
    made = even_floats(first, second - first, count, code)
    if count:  # the sum has lost the sign of a zero, the difference perhaps a bit of the second
        write_float(TensorImpl_mutable_data(made.impl), code, 0, first)
        if count > 1:
            write_float(TensorImpl_mutable_data(made.impl), code, 1, second)
    return made


cdef TensorBase even_floats(double first, double distance, int64_t count, uint8_t code):
    """Return numbers at even distances, computed in float64, as float32 or float64."""
    cdef range_t range
    range.count, range.code, range.first_float, range.distance_float = count, code, first, distance
    return filled(&range)


cdef inline void write_float(void* numbers, uint8_t code, int64_t place, double number) noexcept nogil:
    if code == FLOAT32:
        (<float*>numbers)[place] = <float>number
    else:
        (<double*>numbers)[place] = number


ctypedef fused number_t:
    int64_t
    float
    double

ctypedef fused exact_t:
    int64_t
    double


cdef void fill_range(number_t* out, exact_t first, exact_t distance, int64_t count) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        out[i] = <number_t>(first + <exact_t>i * distance)


cdef TensorBase new_vector(int64_t count, int code, int device_type, int device_index):
    return EMPTY.call_empty(1, &count, code, device_type, device_index)


def numbers_of_numpy(count, dtype, device, function, *args):
    """Return the numbers that a function of NumPy makes as a tensor of a type, on a device: on meta none are made."""
    where = Device("cpu" if device is None else device)
    target = None if where.type == "cpu" else call_factory(EMPTY, count, (), dtype, where)  # first: it may be refused
    if where.type == "meta":
        return target
    made = ASTYPE(computed(function, *args), dtype)
    return made if target is None else target.copy_(made)


cdef object linspace(Kernel self, object table, arguments_t args):
    """Return so many numbers between two, computed in float64 or complex128; what is not plain is left to NumPy."""
    cdef object start = <object>args[0]
    cdef object end = <object>args[1]
    cdef object steps = <object>args[2]
    cdef DType dtype = <object>args[4]
    cdef object device = <object>args[6]
    cdef uint8_t code = FLOAT32 if dtype is None else dtype.code
    cdef int64_t count, intervals
    cdef double first, last, distance
    check_strided(<object>args[5], <object>args[7])
    if (device is None or Device_from_any(device).type_code == CPU) and code in (FLOAT32, FLOAT64) and (
            is_short(start) and is_short(end) and PyLong_CheckExact(steps) and 0 <= steps <= LONGEST):
        first, last, count = start, end, steps
        intervals = count - 1 if <object>args[3] else count
        distance = (last - first) / <double>intervals if intervals > 0 else 0
        if distance != 0:  # too small for a float; or there are no numbers, or only one
            made = even_floats(first, distance, count, code)
            if intervals < count:
                write_float(TensorImpl_mutable_data(made.impl), code, count - 1, last)
            return made
    return linspace_of_numpy(start, end, steps, <object>args[3], dtype, device)


cdef bint is_short(object number) except -1:
    """Return whether it is a float, or an int that NumPy computes with as an int64."""
    cdef int overflow = 0
    if PyLong_CheckExact(number):
        PyLong_AsLongLongAndOverflow(number, &overflow)
        return not overflow
    return PyFloat_CheckExact(number)


cdef object linspace_of_numpy(object start, object end, object steps, object endpoint, object dtype, object device):
    steps = PyNumber_Index(steps)
    if not 0 <= steps < 2**63:
        raise ValueError(f"linspace() needs a number of elements that is 0 or more and below 2**63, found num={steps}.")
    if dtype is None:
        dtype = complex64 if isinstance(start, complex) or isinstance(end, complex) else float32
    exact = dtype.numpy if dtype.kind in "iu" else None
    return numbers_of_numpy(steps, dtype, device, np.linspace, start, end, steps, endpoint, False, exact)


cdef object frequencies(Kernel self, object table, arguments_t args):
    """Return the frequencies of a transform, computed in float64; what is not plain is left to NumPy.

    Those of 0 and above come first, then those below; of the transform of real numbers there are the first alone.
    """
    cdef object n = <object>args[0]
    cdef object above = n // 2 + 1 if self.variant == REAL else (n + 1) // 2
    cdef object below = 0 if self.variant == REAL else n // 2
    cdef object d = <object>args[1]
    cdef DType dtype = <object>args[2]
    cdef object device = <object>args[4]
    cdef uint8_t code = FLOAT32 if dtype is None else dtype.code
    cdef int64_t count, first_part, i
    cdef double lowest
    cdef void* numbers
    check_strided(<object>args[3], <object>args[5])
    if n < 1:
        raise ValueError(f"{self.name}() needs 1 element or more, found {n}.")
    if is_number(d) and n < GRAIN_ELEMENTS and code in (FLOAT32, FLOAT64) and (
            device is None or Device_from_any(device).type_code == CPU):
        lowest, first_part, count = 1.0 / (n * d), above, above + below
        made = new_vector(count, code, CPU, -1)
        numbers = TensorImpl_mutable_data(made.impl)
        for i in range(count):
            write_float(numbers, code, i, (i if i < first_part else i - count) * lowest)
        return made
    function = getattr(np.fft, self.name)
    return numbers_of_numpy(above + below, float32 if dtype is None else dtype, device, function, n, d)


cdef object eye(Kernel self, object table, arguments_t args):
    """Write ones to a diagonal of zeros, on other devices by other operators."""
    cdef object dtype = <object>args[3]
    cdef int64_t* sizes
    cdef int64_t place, _
    cdef double one[2]
    cdef char* data
    check_strided(<object>args[4], <object>args[6])
    made = call_factory(
        ZEROS, (<object>args[0], <object>args[1]), (), float32 if dtype is None else dtype, <object>args[5])
    cdef TensorImpl impl = made.impl
    cdef int64_t diagonal = int64_of(min(max(<object>args[2], -INT64_MAX), INT64_MAX))
    cdef int64_t itemsize = itemsize_of(impl.dtype_code)
    if impl.device_type != CPU or not write_fitting(impl.dtype_code, one, True):
        made.diagonal(diagonal).fill_(1)
        return made
    sizes = TensorImpl_sizes(impl)
    if not (-sizes[0] < diagonal < sizes[1]):
        return made
    data = <char*>TensorImpl_mutable_data(impl)
    place = diagonal if diagonal >= 0 else -diagonal * sizes[1]
    for _ in range(min(sizes[0], sizes[1] - diagonal) if diagonal >= 0 else min(sizes[0] + diagonal, sizes[1])):
        memcpy(data + place * itemsize, one, itemsize)
        place += sizes[1] + 1
    return made


cdef object meshgrid(Kernel self, object table, arguments_t args):
    """Copy the positions on each axis to all points of the grid."""
    tensors, indexing = tuple(<object>args[0]), <object>args[1]
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid() takes indexing='xy' or 'ij', found {indexing!r}.")
    places = list(range(len(tensors)))
    if indexing == "xy":
        places[:2] = places[:2][::-1]  # the first two axes lie along columns and rows
    shape = [1] * len(tensors)
    for x, place in zip(tensors, places):
        shape[place] = x.size
    grids = []
    for x, place in zip(tensors, places):
        line = [1] * len(tensors)
        line[place] = x.size
        view = EXPAND.call_with(RESHAPE.call_with(x, tuple(line)), tuple(shape))
        grids.append(CLONE.call_with(view, contiguous_format))
    return tuple(grids)


cdef Kernel TRIL_BY_NUMPY = NumpyKernel(np.tril)
cdef Kernel TRIU_BY_NUMPY = NumpyKernel(np.triu)


cdef object triangle(Kernel self, object table, arguments_t args):
    """Copy matrices with zeros on one side of a diagonal; what does not lie in rows is left to NumPy."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef int64_t* sizes = TensorImpl_sizes(x)
    cdef object k = <object>args[1]
    cdef TensorBase made
    cdef triangles_t triangles
    cdef void* target
    cdef const void* source
    cdef Kernel by_numpy = TRIL_BY_NUMPY if self.variant == LOWER else TRIU_BY_NUMPY
    if not (x.contiguous and x.ndim >= 2 and type(k) is int and -sizes[x.ndim - 2] <= k <= sizes[x.ndim - 1]):
        return by_numpy.function(by_numpy, table, args)
    made = EMPTY.call_empty(x.ndim, sizes, x.dtype_code, CPU, -1)
    target = TensorImpl_mutable_data(made.impl)
    source = TensorImpl_const_data(x)
    triangles.target, triangles.source = <char*>target, <const char*>source
    triangles.lines = x.numel // sizes[x.ndim - 1] if x.numel else 0
    triangles.rows, triangles.columns, triangles.diagonal = sizes[x.ndim - 2], sizes[x.ndim - 1], k
    triangles.itemsize, triangles.is_lower = itemsize_of(x.dtype_code), self.variant == LOWER
    triangles.share = max(CHUNK_ELEMENTS // max(triangles.columns, 1), 1)
    run_shares(
        copy_triangles, &triangles, (triangles.lines + triangles.share - 1) // triangles.share, x.numel, x, None,
        made.impl)
    return made


cdef struct triangles_t:
    char* target
    const char* source
    int64_t lines       # of all matrices
    int64_t share       # of them, for a thread
    int64_t rows        # of a matrix
    int64_t columns
    int64_t diagonal
    int itemsize
    bint is_lower


cdef void copy_triangles(void* context, int64_t share) noexcept nogil:
    """Copy a share of the lines."""
    cdef const triangles_t* self = <const triangles_t*>context
    cdef bint is_lower = self.is_lower
    cdef int64_t row, split
    cdef int64_t width = self.columns * self.itemsize
    cdef int64_t start = share * self.share
    cdef char* target = self.target + start * width
    cdef const char* source = self.source + start * width
    for row in range(start, min(start + self.share, self.lines)):
        split = min(max(row % self.rows + self.diagonal + is_lower, 0), self.columns) * self.itemsize  # one side's end
        if is_lower:
            memcpy(target, source, split)
            memset(target + split, 0, width - split)
        else:
            memset(target, 0, split)
            memcpy(target + split, source + split, width - split)
        target += width
        source += width


for _table, _kernel in (
    (native_functions.ZEROS, FactoryKernel(FILL_, 0)),
    (native_functions.ONES, FactoryKernel(FILL_, 1)),
    (native_functions.RAND, FactoryKernel(native_functions.UNIFORM_)),
    (native_functions.RANDN, FactoryKernel(native_functions.NORMAL_)),
    (native_functions.FULL, Kernel_of("full", full)),
    (native_functions.RANDINT, Kernel_of("randint", randint)),
    (native_functions.EMPTY_STRIDED, Kernel_of("empty_strided", empty_strided)),
    (native_functions.EMPTY_LIKE, Kernel_of("empty_like", empty_like)),
    (native_functions.FULL_LIKE, Kernel_of("full_like", full_like)),
    (native_functions.ARANGE, Kernel_of("arange", arange)),
    (native_functions.LINSPACE, Kernel_of("linspace", linspace)),
    (native_functions.EYE, Kernel_of("eye", eye)),
    (native_functions.FFTFREQ, Kernel_of("fftfreq", frequencies)),
    (native_functions.RFFTFREQ, Kernel_of("rfftfreq", frequencies, REAL)),
):
    _table.register("CompositeExplicitAutograd", _kernel)
for _table, _key, _kernel in copy.KERNELS + empty.KERNELS:
    _table.register(_key, _kernel)
native_functions.MESHGRID.register("CPU", Kernel_of("meshgrid", meshgrid))
native_functions.TRIL.register("CPU", Kernel_of("tril", triangle, LOWER))
native_functions.TRIU.register("CPU", Kernel_of("triu", triangle))
