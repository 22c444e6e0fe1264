"""The array API standard's chapter on creation, and PyTorch's factories."""
from cpython.buffer cimport PyObject_CheckBuffer
from libc.stdint cimport int64_t, uintptr_t
from numpy cimport ndarray
from tensix.core.allocator cimport current_allocator
from tensix.core.data_ptr cimport DataPtr, DataPtr_move_out, address_from_any, data_ptr_move, data_ptr_t
from tensix.core.device cimport CPU, Device, Device_from_any
from tensix.core.storage_impl cimport StorageImpl
from tensix.tensors.dispatch_key cimport dense_keys_of_device
from tensix.dispatch.operands cimport is_number
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.kernels.creation cimport as_shape, call_factory, tensor_of_numbers
from tensix.loops.empty cimport check_strided
from tensix.exchange.buffer cimport impl_of_buffer
from tensix.exchange.dlpack cimport impl_of_dlpack
from tensix.tensors.dtype cimport BFLOAT16, FLOAT32, FLOAT64, DType, dtype_from_any, is_integer
from tensix.exchange.foreign_memory cimport impl_over_memory
from tensix.exchange.ndarray cimport impl_of_ndarray
from tensix.exchange.numpy_calls cimport call_ignoring_errors
from tensix._tensor cimport Tensor
from tensix.tensors.tensor_base cimport Tensor_wrap
from tensix.tensors.tensor_impl cimport TensorImpl_shallow_copy, int64_of

import numpy as np

from tensix import memory
from tensix.core import Storage
from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import method
from tensix.functions.data_types import result_type

__all__ = [
    "arange", "asarray", "empty", "empty_like", "empty_strided", "eye", "from_blob", "from_dlpack", "from_numpy",
    "full", "full_like", "linspace", "meshgrid", "ones", "ones_like", "rand", "rand_like", "randint", "randint_like",
    "randn", "randn_like", "scalar_tensor", "tensor", "tril", "triu", "zeros", "zeros_like",
]

cdef OperatorTable EMPTY, ZEROS, ONES, FULL, RAND, RANDN, RANDINT, EMPTY_LIKE, FULL_LIKE, ARANGE, LINSPACE, EYE
cdef OperatorTable ASTYPE, CLONE, UNIFORM_, NORMAL_, RANDOM_
from tensix.dispatch.native_functions import (
    EMPTY, ZEROS, ONES, FULL, RAND, RANDN, RANDINT, EMPTY_LIKE, FULL_LIKE, ARANGE, LINSPACE, EYE, ASTYPE, CLONE,
    UNIFORM_, NORMAL_, RANDOM_,
)

cdef set NUMBERS = {bool, int, float, complex}
cdef frozenset HOLD_NO_MEMORY = frozenset([bool, int, float, complex, str, list, tuple, range])

# What Python's own numbers become, where NumPy would take twice the precision.
cdef dict DEFAULTS = {np.dtype("f8"): np.dtype("f4"), np.dtype("c16"): np.dtype("c8")}


# ---- of one value, or none


def empty(shape=(), *sizes, dtype=None, device=None, memory_format=None, alignment=None, layout=None, pin_memory=None):
    """Return a tensor whose elements are whatever the memory held.

    Parameters
    ----------
    shape : int or sequence of int, optional
        The sizes, 0 or more each; none if not given.
    *sizes : int
        More sizes, if `shape` is the first: ``empty(3, 4)`` is ``empty((3, 4))``.
    dtype : DType, optional
        The element type; float32 if not given.
    device : str or Device, optional
        Where the elements are; the CPU if not given.
    memory_format : MemoryFormat, optional
        The order of the elements; row-major if not given.
    alignment : int, bytes, a power of two up to 2**30, optional
        What the address is a multiple of, also after the storage was resized or copied; what the allocator promises,
        64 unless told otherwise, if not given.
    layout : Layout, optional
        How the elements are kept: new tensors are `strided`. Sparse ones are made by `sparse_coo_tensor`.
    pin_memory : bool, optional
        False: tensix pins no memory. It is here for programs that give it.

    Returns
    -------
    Tensor
        On a resizable storage.

    Raises
    ------
    ValueError
        If a size is negative, the bytes cannot be counted in 63 bits, the memory format is for another number of
        dimensions, the alignment is not a power of two in its range, the layout is another one, or `pin_memory` is
        True.
    OutOfMemoryError
        If there is no memory.

    Examples
    --------
    >>> tensix.empty(3, 4).shape
    (3, 4)
    """
    if alignment is not None:
        return aligned_empty(shape, sizes, dtype, device, memory_format, alignment, layout, pin_memory)
    return call_with_options(EMPTY, shape, sizes, dtype, device, layout, pin_memory, "memory_format", memory_format)


def zeros(shape=(), *sizes, dtype=None, device=None, alignment=None, layout=None, pin_memory=None):
    """Return a tensor of zeros; parameters as for `empty`.

    Examples
    --------
    >>> tensix.zeros(2)
    tensor([0., 0.])
    """
    if alignment is not None:
        return aligned_empty(shape, sizes, dtype, device, None, alignment, layout, pin_memory).zero_()
    return call_with_options(ZEROS, shape, sizes, dtype, device, layout, pin_memory, None, None)


def ones(shape=(), *sizes, dtype=None, device=None, alignment=None, layout=None, pin_memory=None):
    """Return a tensor of ones; parameters as for `empty`.

    Examples
    --------
    >>> tensix.ones(2)
    tensor([1., 1.])
    """
    if alignment is not None:
        return aligned_empty(shape, sizes, dtype, device, None, alignment, layout, pin_memory).fill_(1)
    return call_with_options(ONES, shape, sizes, dtype, device, layout, pin_memory, None, None)


def full(shape, fill_value, *, dtype=None, device=None, alignment=None, layout=None, pin_memory=None):
    """Return a tensor of one value.

    Parameters
    ----------
    shape : int or sequence of int
        The sizes.
    fill_value : bool, int, float, complex or Tensor
        The value of every element, or a tensor that is broadcast.
    dtype : DType, optional
        The element type; that of the value if not given.
    device : str or Device, optional
        Where the elements are; the CPU if not given.
    alignment, layout, pin_memory : optional
        As for `empty`.

    Examples
    --------
    >>> tensix.full((2,), 7)
    tensor([7, 7])
    """
    cdef bint is_tensor = isinstance(fill_value, Tensor)
    if dtype is None:
        dtype = fill_value.dtype if is_tensor else type_of_number(fill_value)
    elif not is_tensor and type(fill_value) not in NUMBERS and (
            fill_value is None or isinstance(fill_value, (str, bytes)) or np.ndim(fill_value)):
        raise TypeError(f"fill_value must be a number or a tensor, found {type(fill_value).__name__}.")
    if alignment is None and not is_tensor:
        return FULL.call((as_shape(shape), fill_value), options_of(dtype, device, layout, pin_memory))
    if alignment is None:
        return call_with_options(EMPTY, shape, (), dtype, device, layout, pin_memory, None, None).copy_(fill_value)
    made = aligned_empty(shape, (), dtype, device, None, alignment, layout, pin_memory)
    return made.copy_(fill_value) if is_tensor else made.fill_(fill_value)


cdef object aligned_empty(
        object shape, tuple sizes, object dtype, object device, object memory_format, object alignment, object layout,
        object pin_memory):
    """Return a tensor without values on a storage of an adaptor that keeps the alignment."""
    check_strided(layout, pin_memory)
    cdef Device where = Device_from_any("cpu" if device is None else device)
    # A meta tensor says sizes, strides and bytes, and refuses what is wrong.
    like = empty(shape, *sizes, dtype=dtype, device="meta", memory_format=memory_format)
    allocator = memory.AlignmentAdaptor(current_allocator(where.type_code), alignment)
    storage = Storage(like.nbytes, allocator, resizable=True)
    return Tensor.from_storage(storage, 0, like.shape, like.stride(), like.dtype)


cpdef dict options_of(object dtype, object device, object layout=None, object pin_memory=None):
    """Return the options that were given, in the forms that operators take."""
    options = {} if dtype is None else {"dtype": dtype_from_any(dtype)}
    if device is not None:
        options["device"] = Device_from_any(device)
    if layout is not None:
        options["layout"] = layout
    if pin_memory is not None:
        options["pin_memory"] = pin_memory
    return options


cdef object type_of_number(object value):
    """Return the element type of a tensor that is made of a number; None where it is the default one."""
    if type(value) is float:
        return None
    if type(value) is complex:
        return result_type(value)
    try:
        return dtype_from_any(type(value))
    except TypeError:
        raise TypeError(f"fill_value must be a number or a tensor, found {type(value).__name__}.") from None


cdef inline object call_with_options(
        OperatorTable table, object shape, tuple sizes, object dtype, object device, object layout, object pin_memory,
        str name, object value):
    """Call an operator that makes a tensor of a shape, with the options that were given: `value` is that of a name."""
    if layout is None and pin_memory is None and value is None:
        return call_factory(table, shape, sizes, dtype, device)
    options = options_of(dtype, device, layout, pin_memory)
    if value is not None:
        options[name] = value
    return table.call(((shape, *sizes) if sizes else as_shape(shape),), options)


cdef object plain_number(object value):
    """Return a number of NumPy as Python's, anything else unchanged."""
    if type(value) is int or type(value) is float:
        return value
    return value.item() if isinstance(value, np.generic) else value


cdef object call_of_numbers(OperatorTable table, tuple numbers, dict options):
    """Call an operator that makes a tensor of plain numbers; others are checked first."""
    for number in numbers:
        if type(number) is not int and type(number) is not float:
            return table(*numbers, **options)
    return table.call(numbers, options)


# ---- like others, or with strides


def empty_like(x, /, *, dtype=None, device=None, layout=None, pin_memory=None):
    """Return a tensor of another's shape whose elements are whatever the memory held.

    Parameters
    ----------
    x : Tensor
        Gives the shape.
    dtype : DType, optional
        The element type; that of `x` if not given.
    device : str or Device, optional
        Where the elements are; where `x` is if not given.
    layout, pin_memory : optional
        As for `empty`.

    Examples
    --------
    >>> tensix.empty_like(tensix.ones(2, 3)).shape
    (2, 3)
    """
    return call_like(EMPTY_LIKE, x, (), dtype, device, layout, pin_memory)


def zeros_like(x, /, *, dtype=None, device=None, layout=None, pin_memory=None):
    """Return a tensor of zeros of another's shape; parameters as for `empty_like`.

    Examples
    --------
    >>> tensix.zeros_like(tensix.tensor([1, 2]))
    tensor([0, 0])
    """
    return call_like(FULL_LIKE, x, (0,), dtype, device, layout, pin_memory)


def ones_like(x, /, *, dtype=None, device=None, layout=None, pin_memory=None):
    """Return a tensor of ones of another's shape; parameters as for `empty_like`.

    Examples
    --------
    >>> tensix.ones_like(tensix.tensor([1.5, 2.5]))
    tensor([1., 1.])
    """
    return call_like(FULL_LIKE, x, (1,), dtype, device, layout, pin_memory)


def full_like(x, /, fill_value, *, dtype=None, device=None, layout=None, pin_memory=None):
    """Return a tensor of one value of another's shape.

    Parameters
    ----------
    x : Tensor
        Gives the shape.
    fill_value : bool, int, float, complex or Tensor
        The value of every element, or a tensor that is broadcast.
    dtype : DType, optional
        The element type; that of `x` if not given.
    device : str or Device, optional
        Where the elements are; where `x` is if not given.
    layout, pin_memory : optional
        As for `empty`.

    Examples
    --------
    >>> tensix.full_like(tensix.ones(2), 7)
    tensor([7., 7.])
    """
    if isinstance(fill_value, Tensor):
        return call_like(EMPTY_LIKE, x, (), dtype, device, layout, pin_memory).copy_(fill_value)
    return call_like(FULL_LIKE, x, (plain_number(fill_value),), dtype, device, layout, pin_memory)


cdef object call_like(
        OperatorTable table, object x, tuple value, object dtype, object device, object layout, object pin_memory):
    """Call an operator that makes a tensor like another: with its arguments unpacked, if they are what they should."""
    cdef bint has_options = dtype is not None or device is not None or layout is not None or pin_memory is not None
    if not has_options and isinstance(x, Tensor) and (<Tensor>x).impl.key_set != 0:
        if not value:
            return table.call1(<Tensor>x)
        if type(value[0]) in NUMBERS:
            return table.call_with(<Tensor>x, value[0])
    return table(x, *value, **options_of(dtype, device, layout, pin_memory))


def empty_strided(size, stride, *, dtype=None, device=None, layout=None, pin_memory=None):
    """Return a tensor with given strides, whose elements are whatever the memory held.

    Parameters
    ----------
    size, stride : sequence of int
        Sizes, and strides in elements; a stride may be negative.
    dtype : DType, optional
        The element type; float32 if not given.
    device, layout, pin_memory : optional
        As for `empty`.

    Raises
    ------
    ValueError
        If there are not as many strides as sizes, or a size is negative.

    Examples
    --------
    >>> tensix.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    return native_functions.EMPTY_STRIDED(size, stride, **options_of(dtype, device, layout, pin_memory))


def scalar_tensor(s, *, dtype=None, device=None, layout=None, pin_memory=None):
    """Return a tensor without dimensions that holds a number.

    Parameters
    ----------
    s : bool, int, float or complex
        The number.
    dtype : DType, optional
        The element type; that of the number if not given.
    device, layout, pin_memory : optional
        As for `empty`.

    Examples
    --------
    >>> tensix.scalar_tensor(2.5)
    tensor(2.5)
    """
    if dtype is None and device is None and layout is None and pin_memory is None and type(s) in NUMBERS:
        made = tensor_of_numbers(s, -1)
        if made is not None:
            return made
    return full((), plain_number(s), dtype=dtype, device=device, layout=layout, pin_memory=pin_memory)


# ---- random numbers


def rand(shape=(), *sizes, dtype=None, device=None, generator=None, layout=None, pin_memory=None):
    """Return a tensor of random numbers from [0, 1).

    Parameters
    ----------
    shape : int or sequence of int, optional
        The sizes, 0 or more each; none if not given.
    *sizes : int
        More sizes, if `shape` is the first.
    dtype : DType, optional
        float32 (the default) or float64.
    generator : Generator, optional
        The generator of the numbers; the default one if not given.
    device, layout, pin_memory : optional
        As for `empty`.

    Examples
    --------
    >>> tensix.rand(3, 4).shape
    (3, 4)
    """
    return call_with_options(RAND, shape, sizes, dtype, device, layout, pin_memory, "generator", generator)


def randn(shape=(), *sizes, dtype=None, device=None, generator=None, layout=None, pin_memory=None):
    """Return a tensor of random numbers of mean 0 and standard deviation 1; parameters as for `rand`.

    Examples
    --------
    >>> tensix.randn(3, 4).shape
    (3, 4)
    """
    return call_with_options(RANDN, shape, sizes, dtype, device, layout, pin_memory, "generator", generator)


def randint(low=0, high=None, size=None, *, dtype=None, device=None, generator=None, layout=None, pin_memory=None):
    """Return a tensor of random integers, as ``randint(low, high, size)`` or ``randint(high, size)``.

    Parameters
    ----------
    low, high : int
        The least number, 0 if it is left out, and the one that all are below.
    size : int or sequence of int
        The sizes.
    dtype : DType, optional
        An integer type; int64 if not given.
    generator : Generator, optional
        The generator of the numbers; the default one if not given.
    device, layout, pin_memory : optional
        As for `empty`.

    Raises
    ------
    ValueError
        If there are no integers in that range, or the type does not hold them.

    Examples
    --------
    >>> tensix.randint(5, 6, (2,)), tensix.randint(1, size=(2,))
    (tensor([5, 5]), tensor([0, 0]))
    """
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if size is None:
        raise TypeError("randint() needs sizes: randint(low, high, size), or randint(high, size).")
    dtype = None if dtype is None else dtype_from_any(dtype)
    device = None if device is None else Device_from_any(device)
    return RANDINT.call(
        (low, high, as_shape(size), generator, dtype, layout, device, pin_memory), None)


def rand_like(x, /, *, dtype=None, device=None, generator=None, layout=None, pin_memory=None):
    """Return a tensor of another's shape of random numbers from [0, 1).

    Parameters
    ----------
    x : Tensor
        Gives the shape.
    dtype : DType, optional
        float32 or float64; that of `x` if not given.
    device : str or Device, optional
        Where the elements are; where `x` is if not given.
    generator, layout, pin_memory : optional
        As for `rand`.

    Raises
    ------
    TypeError
        If the element type is another one.

    Examples
    --------
    >>> tensix.rand_like(tensix.ones(2, 3)).shape
    (2, 3)
    """
    return UNIFORM_(random_like("rand_like", False, x, dtype, device, layout, pin_memory), generator=generator)


def randn_like(x, /, *, dtype=None, device=None, generator=None, layout=None, pin_memory=None):
    """Return normal random numbers, of mean 0 and deviation 1, in another's shape; parameters as for `rand_like`.

    Examples
    --------
    >>> tensix.randn_like(tensix.ones(2, 3)).shape
    (2, 3)
    """
    return NORMAL_(random_like("randn_like", False, x, dtype, device, layout, pin_memory), generator=generator)


def randint_like(x, /, low, high=None, *, dtype=None, device=None, generator=None, layout=None, pin_memory=None):
    """Return random integers in another's shape: ``randint_like(x, low, high)`` or ``randint_like(x, high)``.

    Parameters
    ----------
    x : Tensor
        Gives the shape.
    low, high : int
        The least number, 0 if it is left out, and the one that all are below.
    dtype : DType, optional
        An integer type; that of `x` if not given.
    device : str or Device, optional
        Where the elements are; where `x` is if not given.
    generator, layout, pin_memory : optional
        As for `rand`.

    Raises
    ------
    TypeError
        If the element type is another one.
    ValueError
        If there are no integers in that range, or the type does not hold them.

    Examples
    --------
    >>> tensix.randint_like(tensix.tensor([7, 8]), 5, 6)
    tensor([5, 5])
    """
    if high is None:
        low, high = 0, low
    made = random_like("randint_like", True, x, dtype, device, layout, pin_memory)
    return RANDOM_(made, low, high, generator=generator)


cdef Tensor random_like(
        str name, bint are_integers, object x, object dtype, object device, object layout, object pin_memory):
    """Return an empty tensor like another, to be filled with random numbers; its type must be one that can be."""
    made = call_like(EMPTY_LIKE, x, (), dtype, device, layout, pin_memory)
    cdef int code = (<Tensor>made).impl.dtype_code
    if is_integer(code) if are_integers else code == FLOAT32 or code == FLOAT64:
        return made
    types = "of an integer type" if are_integers else "of float32 or float64"
    raise TypeError(f"{name}() makes tensors {types}, found {made.dtype.name}. Give another one as dtype=.")


# ---- numbers that follow from their positions


def arange(start, /, stop=None, step=1, *, dtype=None, device=None, layout=None, pin_memory=None):
    """Return numbers at even distances, up to a bound that is not among them.

    Parameters
    ----------
    start : int or float
        The first number; if `stop` is not given, the bound, and the first number is 0.
    stop : int or float, optional
        The bound.
    step : int or float, optional
        The distance; it may be negative but not 0.
    dtype : DType, optional
        The element type; int64 if all numbers are ints, else float32.
    device, layout, pin_memory : optional
        As for `empty`.

    Raises
    ------
    ValueError
        If the step is 0.

    Examples
    --------
    >>> tensix.arange(3), tensix.arange(1, 2, 0.5)
    (tensor([0, 1, 2]), tensor([1.0, 1.5]))
    """
    start, stop = (0, start) if stop is None else (start, stop)
    if dtype is None and device is None and type(start) is int and type(stop) is int and type(step) is int:
        return ARANGE.call((start, stop, step, None, layout, None, pin_memory), None)
    numbers = (plain_number(start), plain_number(stop), plain_number(step))
    return call_of_numbers(ARANGE, numbers, options_of(dtype, device, layout, pin_memory))


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True, layout=None, pin_memory=None):
    """Return so many numbers at even distances between two.

    Parameters
    ----------
    start, stop : int, float or complex
        The first number, and the last or the bound.
    num : int
        How many.
    dtype : DType, optional
        The element type; float32, or complex64 if a number is complex.
    endpoint : bool, optional
        Whether `stop` is the last number.
    device, layout, pin_memory : optional
        As for `empty`.

    Raises
    ------
    ValueError
        If `num` is negative.

    Examples
    --------
    >>> tensix.linspace(0, 1, 3), tensix.linspace(0, 1, 2, endpoint=False)
    (tensor([0.0, 0.5, 1.0]), tensor([0.0, 0.5]))
    """
    options = options_of(dtype, device, layout, pin_memory)
    numbers = (plain_number(start), plain_number(stop), num)
    if endpoint is True and type(num) is int:
        return call_of_numbers(LINSPACE, numbers, options)
    return LINSPACE(*numbers, endpoint=endpoint, **options)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None, layout=None, pin_memory=None):
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows, n_cols : int
        The sizes; as many columns as rows if not given.
    k : int, optional
        How far the diagonal is above the main one; negative is below.
    dtype : DType, optional
        The element type; float32 if not given.
    device, layout, pin_memory : optional
        As for `empty`.

    Examples
    --------
    >>> tensix.eye(2, 3, k=1, dtype=tensix.int64)
    tensor([[0, 1, 0],
            [0, 0, 1]])
    """
    columns = n_rows if n_cols is None else n_cols
    options = options_of(dtype, device, layout, pin_memory)
    if type(k) is int and type(n_rows) is int and type(columns) is int:
        if k != 0:
            options["k"] = k
        return EYE.call((n_rows, columns), options)
    return EYE(n_rows, columns, k=k, **options)


def meshgrid(*arrays, indexing="xy"):
    """Return the coordinates of the points of a grid, a tensor per axis.

    Parameters
    ----------
    *arrays : Tensor
        The positions on each axis.
    indexing : str, optional
        ``"xy"``: the first two axes lie along columns and rows, as one draws; ``"ij"``: in order, as matrices.

    Examples
    --------
    >>> tensix.meshgrid(tensix.arange(2), tensix.arange(3), indexing="ij")[1]
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    return native_functions.MESHGRID(arrays, indexing=indexing) if arrays else ()


@method
def tril(x, /, *, k=0):
    """Return matrices with zeros above the `k`-th diagonal.

    Examples
    --------
    >>> tensix.tril(tensix.tensor([[1, 2], [3, 4]]))
    tensor([[1, 0],
            [3, 4]])
    """
    return native_functions.TRIL(x, k)


@method
def triu(x, /, *, k=0):
    """Return matrices with zeros below the `k`-th diagonal.

    Examples
    --------
    >>> tensix.triu(tensix.tensor([[1, 2], [3, 4]]))
    tensor([[1, 2],
            [0, 4]])
    """
    return native_functions.TRIU(x, k)


# ---- of what others made: sequences, arrays, buffers, DLPack, plain addresses


def tensor(data, *, dtype=None, device=None):
    """Return a tensor with a copy of nested sequences of numbers, an array or a tensor.

    Parameters
    ----------
    data : object
        Numbers, nested lists or tuples of them, an array or a tensor.
    dtype : DType, optional
        The element type. If not given, floats become float32 unless they come from an array or a tensor.
    device : str or Device, optional
        Where the elements are; where those of a tensor are if not given.

    Raises
    ------
    TypeError
        If there are no numbers in it that tensix has a type for.

    Examples
    --------
    >>> tensix.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if device is not None:
        return tensor(data, dtype=dtype).to_device(device)
    if isinstance(data, Tensor):
        return copied(data, dtype)
    cdef DType wanted = None if dtype is None else dtype_from_any(dtype)
    if wanted is not None and wanted.code == BFLOAT16:  # See Note [bfloat16 and NumPy]
        return copied(tensor(data, dtype="float32"), wanted)
    made = tensor_of_numbers(data, -1 if wanted is None else wanted.code)
    if made is not None:
        return made
    if wanted is None and isinstance(data, (list, tuple)):
        found = types_in(data)
        if any(isinstance(one, DType) for one in found):  # Python's numbers among them give way
            return tensor(data, dtype=result_type(*found))
    array = call_ignoring_errors(np.array, (data, None if wanted is None else wanted.numpy))
    refuse_objects(array, data)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if wanted is None and not hasattr(data, "__array__"):  # Python's numbers, which have no type of their own
        array = call_ignoring_errors(array.astype, (DEFAULTS.get(array.dtype, array.dtype),), {"copy": False})
    return Tensor_wrap(impl_of_ndarray(array, False)).clone()


cdef int refuse_objects(object array, object data) except -1:
    """Say of what has no numbers what was found, and not what NumPy made of it."""
    if array.dtype.kind not in "OUS" or hasattr(data, "__array__"):
        return 0
    found, hint = type(data).__name__, ""
    if isinstance(data, (list, tuple)):
        wrong = first_without_type(data, 64)  # NumPy's limit of dimensions
        if wrong is None:
            found += " of other things"
        else:
            refuse_large(wrong[0])
            found += f" with {type(wrong[0]).__name__} in it"
            hint = " Write float('nan') for a number that is missing." if wrong[0] is None else ""
    elif not isinstance(data, (str, bytes)) and data is not None:
        refuse_large(data)
        hint = " Make a list of it."
    raise TypeError(
        f"a tensor is made of numbers, of nested lists or tuples of them, of an array or a tensor, found {found}.{hint}"
    )


cdef tuple first_without_type(object items, int depth):
    """Return the first item of nested lists that no element type has, in a tuple; None if there is none."""
    for item in items:
        if isinstance(item, (list, tuple)):
            found = first_without_type(item, depth - 1) if depth else None
            if found is not None:
                return found
        elif not is_number(item) or is_large(item):
            return (item,)
    return None


cdef bint is_large(object number) except -1:
    """Return whether a number is an int that neither int64 nor uint64 holds."""
    return isinstance(number, int) and not -(1 << 63) <= int(number) < 1 << 64


cdef int refuse_large(object number) except -1:
    if is_large(number):
        raise OverflowError(
            f"no integer type holds an int of {number.bit_length()} bits. Give a floating type, as in dtype='float64'."
        )
    return 0


cdef object copied(Tensor source, object dtype):
    """Return a copy of a tensor, converted to an element type unless that is None."""
    if dtype is None or dtype_from_any(dtype).code == source.impl.dtype_code:
        return source.clone()
    return call_factory(EMPTY, source.shape, (), dtype, source.device).copy_(source)


def from_numpy(array):
    """Return a tensor over an array's memory; nothing is copied, and a read-only array gives a read-only tensor.

    Notes
    -----
    Lifetime: the tensor keeps the array alive. A write to one is seen in the other.

    Examples
    --------
    >>> import numpy, tensix
    >>> array = numpy.zeros(2)
    >>> tensix.from_numpy(array).fill_(1)
    tensor([1., 1.], dtype=tensix.float64)
    >>> array
    array([1., 1.])
    """
    if not isinstance(array, ndarray):
        raise TypeError(f"from_numpy() takes a numpy.ndarray, found {type(array).__name__}.")
    return Tensor_wrap(impl_of_ndarray(array, True))


def asarray(obj, /, *, dtype=None, device=None, copy=None, immutable=False):
    r"""Return anything that holds numbers as a tensor, over the same memory where that is possible.

    Parameters
    ----------
    obj : object
        A tensor; a NumPy array; an object with ``__dlpack__``, with the buffer protocol, or with ``__array__`` or
        ``__array_interface__``; a number; or nested sequences of numbers, tensors or arrays.
    dtype : DType, optional
        The element type. If not given, that of `obj`; Python's numbers become bool, int64, float32 or complex64.
    device : str or Device, optional
        Where the elements are; where `obj` is if not given.
    copy : bool, optional
        True: always copy; False: never. If not given, memory is shared if it can be.
    immutable : bool, optional
        The caller promises that nothing writes the memory as long as the tensor or a lazy clone of it lives, as of
        Ray's object store, Arrow's buffers, or an array that is done. A tensor over memory of others is then read-only,
        and `lazy_clone` copies it at the first write, not at once. A clone shows what is written in spite of that; in a
        debug build, which compares checksums, it ends the process.

    Returns
    -------
    Tensor
        `obj` itself if it is a tensor that needs no change. Read-only memory gives a read-only tensor.

    Raises
    ------
    ValueError
        If it would have to be copied and `copy` is False; or if `obj` is a tensor over memory of others that may be
        written, and `immutable` is True.
    BufferError
        If `obj` speaks DLPack and cannot share its memory.
    TypeError
        If there are no numbers in it that tensix has a type for.

    Notes
    -----
    Lifetime: a tensor that shares memory keeps `obj` alive, and a buffer locked: a ``bytearray`` cannot change its
    size and an ``mmap`` cannot be closed meanwhile. A write to one is seen in the other.

    Examples
    --------
    >>> tensix.asarray([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> data = bytearray(2)
    >>> tensix.asarray(data).fill_(7)
    tensor([7, 7], dtype=tensix.uint8)
    >>> data
    bytearray(b'\x07\x07')
    """
    cdef Tensor source
    if immutable:
        return promised(asarray(obj, dtype=dtype, device=device, copy=copy), obj)
    if type(obj) is Tensor:
        source = <Tensor>obj
        if dtype is None and device is None:
            return CLONE.call1(source) if copy else source
        return converted(source, dtype, device, copy)
    wanted = None if dtype is None else dtype_from_any(dtype)
    if copy is not None:
        copy = bool(copy)
    source = <Tensor>obj if isinstance(obj, Tensor) else sharing(obj, False if copy is False else None)
    if source is not None:
        return converted(source, wanted, device, copy)
    if copy is False:
        raise ValueError(f"asarray() cannot share the memory of this {type(obj).__name__}, but copy is False.")
    return converted(of_sequence(obj, wanted), wanted, device, None)


cdef Tensor promised(Tensor made, object obj):
    """Return a tensor over memory that is not written any more: of others, that is read-only from now on."""
    cdef StorageImpl storage
    if isinstance(made.impl.storage, StorageImpl):
        storage = <StorageImpl>made.impl.storage
        if storage.is_foreign:
            if made is obj and not storage.is_readonly:
                raise ValueError("this tensor may be written, so its memory is not immutable: set its storage's "
                                 "readonly first.")  # fmt: skip
            storage.is_readonly = storage.guarded = True
            storage.is_foreign = False
    return made


cdef object converted(Tensor source, object dtype, object device, object copy):
    """Return a tensor of a type and on a device, the source itself if that is what it is and no copy is asked for."""
    if dtype is None and device is None:
        return CLONE.call1(source) if copy else source
    cdef Tensor made = source if device is None else source.to_device(device)
    if dtype is not None:
        made = ASTYPE.call_with(made, dtype_from_any(dtype))
    if made is source:
        return CLONE.call1(source) if copy else source
    if copy is False:
        raise ValueError(
            f"it takes a copy to make {made.dtype.name} on {made.device} of {source.dtype.name} on {source.device}, "
            "but copy is False."
        )
    return made


def from_dlpack(x, /, *, device=None, copy=None):
    """Return a tensor over the memory of anything that speaks DLPack.

    Parameters
    ----------
    x : object
        With the method ``__dlpack__``; a tensor and an array of NumPy are taken as they are.
    device : str or Device, optional
        Device of the result; the current one if not given.
    copy : bool, optional
        True: always copy; False: never. If not given, memory is shared if it can be.

    Returns
    -------
    Tensor
        Read-only if the other says so.

    Raises
    ------
    BufferError
        If the other cannot share its memory, or tensix cannot read it: another device, element type, or version of
        DLPack, a capsule that is used up, elements that are not aligned.
    ValueError
        If it would have to be copied and `copy` is False.
    TypeError
        If `x` does not speak DLPack.

    Notes
    -----
    Lifetime: a tensor that shares memory keeps what `x` exported; its deleter is called once, with the GIL, when the
    last tensor on the storage is gone, but not after finalisation has begun. A write to one is seen in the other.

    Examples
    --------
    >>> import numpy, tensix
    >>> tensix.from_dlpack(numpy.arange(3.0))
    tensor([0., 1., 2.], dtype=tensix.float64)
    """
    cdef Tensor source
    cdef Device where
    if copy is not None:
        copy = bool(copy)
    if type(x) is Tensor:
        source = Tensor_wrap(TensorImpl_shallow_copy((<Tensor>x).impl))
    elif type(x) is ndarray:
        try:  # without the detour of a capsule; errors are those that it would bring
            source = Tensor_wrap(impl_of_ndarray(x, True))
        except (TypeError, ValueError) as error:
            raise BufferError(f"the array cannot be shared: {error}") from None
    elif device is None:
        check_producer(x)
        source = Tensor_wrap(impl_of_dlpack(x, None, copy))
    else:
        check_producer(x)
        where = Device_from_any(device)
        source = Tensor_wrap(impl_of_dlpack(x, (1, 0) if where.type_code == CPU else None, copy))
    if copy is None and device is None:
        return source
    if copy and type(x) is not Tensor and not (<StorageImpl>source.impl.storage).is_foreign and not source.readonly:
        copy = None  # the other has made one
    try:
        return converted(source, None, device, copy)
    except NotImplementedError:  # it names an operator that the caller has not asked for
        raise BufferError(f"tensix cannot copy from {source.device} to {device}: no kernel is registered.") from None


cdef int check_producer(object x) except -1:
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack() takes what has the method __dlpack__, found {type(x).__name__}.")
    return 0


def from_blob(address, shape, *, stride=None, dtype, deleter=None, device="cpu"):
    """Return a tensor over memory at an address.

    Parameters
    ----------
    address : int
        Of the first element: a multiple of the size of an element, or of half of a complex one.
    shape : int or sequence of int
        The sizes, 0 or more each.
    stride : sequence of int, optional
        The strides in elements, which may be negative; row-major order if not given.
    dtype : DType
        The element type.
    deleter : callable, ctypes function, PyCapsule named ``"tensix.deleter"`` or int, optional
        Called once with `address` when the last tensor on the storage is gone: a Python callable with an int, a C
        function ``void (*)(void *)`` from any thread with or without the GIL. If not given, the memory is borrowed.
    device : str or Device, optional
        Where the memory is.

    Returns
    -------
    Tensor
        Writable, and not resizable.

    Raises
    ------
    ValueError
        If a size is negative, the bytes cannot be counted in 63 bits, the address is 0 although there are elements,
        or it is not aligned. The deleter is not called then.

    Notes
    -----
    Lifetime: without a deleter the memory must outlive every tensor on it, which is not checked; as others may write
    it, `lazy_clone` copies at once. With one it belongs to the tensor. What a Python callable raises goes to
    `sys.unraisablehook`; none is called after finalisation has begun.

    Examples
    --------
    >>> import ctypes, tensix
    >>> memory = (ctypes.c_float * 4)(1, 2, 3, 4)
    >>> tensix.from_blob(ctypes.addressof(memory), (2, 2), dtype="float32")
    tensor([[1., 2.],
            [3., 4.]])
    """
    cdef int64_t[64] sizes
    cdef int64_t[64] strides
    cdef uintptr_t place = address_from_any(address, "address")
    cdef Device where = Device_from_any(device)
    cdef DType element = dtype_from_any(dtype)
    cdef data_ptr_t block
    cdef DataPtr owner = None
    if element.itemsize == 0:
        raise TypeError("undefined is not an element type, and there are no elements of it. Name another one.")
    dims = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    steps = dims if stride is None else tuple(stride)
    if len(dims) > 64:
        raise ValueError(f"a tensor has at most 64 dimensions, found {len(dims)}.")
    if len(steps) != len(dims):
        raise ValueError(f"a stride per dimension is needed: {len(dims)}, found {len(steps)}.")
    for i in range(len(dims)):
        sizes[i], strides[i] = int64_of(dims[i]), int64_of(steps[i])
    impl = impl_over_memory(
        element.code, dense_keys_of_device(where.type_code), len(dims), sizes, NULL if stride is None else strides,
        <void*>place,
    )
    storage = <StorageImpl>impl.storage
    if deleter is not None:
        owner = owning(place, deleter)
        DataPtr_move_out(owner, &block)
        block.data = storage.block.data
        data_ptr_move(&storage.block, &block)
    storage.is_foreign = deleter is None
    storage.block.device_type = impl.device_type = where.type_code
    storage.block.device_index = impl.device_index = where.index
    return Tensor_wrap(impl)


cdef DataPtr owning(uintptr_t address, object deleter):
    """Return an owner of memory whose deleter gets its address."""
    try:
        return DataPtr(address, address, deleter)
    except TypeError:
        if not callable(deleter):
            raise
    return DataPtr.from_callable(address, deleter)


cdef Tensor sharing(object obj, object copy):
    """Return a tensor over an object's memory, or of an array that it makes; None if it has nothing of the kind."""
    if isinstance(obj, ndarray):
        try:
            return Tensor_wrap(impl_of_ndarray(obj, True))
        except ValueError:  # its elements cannot be viewed as they lie
            return None
    if type(obj) in HOLD_NO_MEMORY or isinstance(obj, str) or isinstance(obj, np.generic):
        return None
    if hasattr(obj, "__dlpack__"):
        return Tensor_wrap(impl_of_dlpack(obj, None, None))
    if PyObject_CheckBuffer(obj):
        try:
            return Tensor_wrap(impl_of_buffer(obj))
        except BufferError:
            return None
    if any(hasattr(obj, name) for name in ("__array__", "__array_interface__", "__array_struct__")):
        array = np.asarray(obj, copy=copy)
        made = sharing(array, copy)
        # Of the array, not of the object: as a sequence it would be one of Python's numbers.
        return of_sequence(array, None) if made is None and copy is not False else made
    return None


cdef object of_sequence(object obj, DType wanted):
    """Return a new tensor of numbers, or of nested sequences of numbers, tensors or arrays."""
    made = tensor_of_numbers(obj, -1 if wanted is None else wanted.code)
    if made is not None:
        return made
    return tensor(obj, dtype=wanted)


cdef list types_in(object obj):
    """Return the element types of what nested sequences contain, and for Python's numbers a zero of their class."""
    cdef list found = []
    cdef list waiting = [obj]
    cdef dict seen = {id(obj): obj}  # what contains itself is read once, and refused when the tensor is made
    for sequence in waiting:
        kinds = set(map(type, sequence))
        if kinds <= NUMBERS:
            found += [kind(0) for kind in kinds]
            continue
        for item in sequence:
            if isinstance(item, (list, tuple)):
                if id(item) not in seen:
                    seen[id(item)] = item
                    waiting.append(item)
            elif type(item) in NUMBERS:
                found.append(type(item)(0))
            elif hasattr(item, "dtype"):  # a tensor, an array or its scalar, a pandas Series
                found.append(dtype_from_any(item.dtype))
    return found
