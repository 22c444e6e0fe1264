"""New tensors. A factory that fills is `empty` and a filling operator, one after the other."""
from cpython.number cimport PyIndex_Check
from libc.stdint cimport int8_t, int64_t, uint8_t
from tensix.core.allocator cimport current_allocator
from tensix.core.device cimport Device, Device_from_any
from tensix.tensors.dispatch_key cimport dense_keys_of_device
from tensix.dispatch.kernel cimport Kernel
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.kernels.strided_kernel cimport StridedKernel, strided_options
from tensix.kernels.nested_numbers cimport tensor_of_numbers
from tensix.tensors.dtype cimport BFLOAT16, DType, default_float_code, dtype_from_any
from tensix.exchange.ndarray cimport impl_of_ndarray
from tensix.exchange.quiet_calls cimport call_quietly
from tensix._tensor cimport Tensor
from tensix.tensors.tensor_base cimport Tensor_wrap
from tensix.tensors.tensor_impl cimport int64_of

import numpy as np

from tensix import memory
from tensix.core import Storage
from tensix.dispatch import native_functions

__all__ = ["empty", "from_numpy", "full", "ones", "rand", "randint", "randn", "tensor", "zeros"]

cdef OperatorTable EMPTY = native_functions.EMPTY
cdef OperatorTable ZEROS = native_functions.ZEROS
cdef OperatorTable ONES = native_functions.ONES
cdef OperatorTable FULL = native_functions.FULL
cdef OperatorTable RAND = native_functions.RAND
cdef OperatorTable RANDN = native_functions.RANDN
cdef OperatorTable RANDINT = native_functions.RANDINT
cdef OperatorTable FILL_ = native_functions.FILL_
cdef OperatorTable UNIFORM_ = native_functions.UNIFORM_
cdef OperatorTable NORMAL_ = native_functions.NORMAL_
cdef OperatorTable RANDOM_ = native_functions.RANDOM_


def empty(shape=(), *sizes, dtype=None, device=None, memory_format=None, alignment=None):
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

    Returns
    -------
    Tensor
        On a resizable storage.

    Raises
    ------
    ValueError
        If a size is negative, the bytes cannot be counted in 63 bits, the memory format is for another number of
        dimensions, or the alignment is no power of two in its range.
    OutOfMemoryError
        If there is no memory.

    Examples
    --------
    >>> import tensix
    >>> tensix.empty(3, 4).shape
    (3, 4)
    """
    if alignment is not None:
        return aligned_empty(shape, sizes, dtype, device, memory_format, alignment)
    if memory_format is None:
        return call_factory(EMPTY, shape, sizes, dtype, device)
    options = options_of(dtype, device)
    options["memory_format"] = memory_format
    return EMPTY.call(((shape, *sizes) if sizes else as_shape(shape),), options, keys_of_device(device))


def zeros(shape=(), *sizes, dtype=None, device=None, alignment=None):
    """Return a tensor of zeros; parameters as for `empty`.

    Examples
    --------
    >>> import tensix
    >>> tensix.zeros(2)
    tensor([0., 0.])
    """
    if alignment is not None:
        return aligned_empty(shape, sizes, dtype, device, None, alignment).zero_()
    return call_factory(ZEROS, shape, sizes, dtype, device)


def ones(shape=(), *sizes, dtype=None, device=None, alignment=None):
    """Return a tensor of ones; parameters as for `empty`.

    Examples
    --------
    >>> import tensix
    >>> tensix.ones(2)
    tensor([1., 1.])
    """
    if alignment is not None:
        return aligned_empty(shape, sizes, dtype, device, None, alignment).fill_(1)
    return call_factory(ONES, shape, sizes, dtype, device)


def full(shape, fill_value, *, dtype=None, device=None, alignment=None):
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
    alignment : int, bytes, optional
        As for `empty`.

    Examples
    --------
    >>> import tensix
    >>> tensix.full((2,), 7)
    tensor([7, 7])
    """
    if alignment is not None:
        if dtype is None:
            dtype = fill_value.dtype if isinstance(fill_value, Tensor) else type(fill_value)
        made = aligned_empty(shape, (), dtype, device, None, alignment)
        return made.copy_(fill_value) if isinstance(fill_value, Tensor) else made.fill_(fill_value)
    if isinstance(fill_value, Tensor):
        return call_factory(EMPTY, shape, (), fill_value.dtype if dtype is None else dtype, device).copy_(fill_value)
    if dtype is None:
        dtype = type(fill_value)
    return FULL.call((as_shape(shape), fill_value), options_of(dtype, device), keys_of_device(device))


def rand(shape=(), *sizes, dtype=None, device=None, generator=None):
    """Return a tensor of random numbers from [0, 1).

    Parameters
    ----------
    shape : int or sequence of int, optional
        The sizes, 0 or more each; none if not given.
    *sizes : int
        More sizes, if `shape` is the first.
    dtype : DType, optional
        float32 (the default) or float64.
    device : str or Device, optional
        Where the elements are.
    generator : Generator, optional
        Who makes them; the default generator if not given.

    Examples
    --------
    >>> import tensix
    >>> tensix.rand(3, 4).shape
    (3, 4)
    """
    if generator is None:
        return call_factory(RAND, shape, sizes, dtype, device)
    return random_factory(RAND, shape, sizes, dtype, device, generator)


def randn(shape=(), *sizes, dtype=None, device=None, generator=None):
    """Return a tensor of random numbers of mean 0 and standard deviation 1; parameters as for `rand`.

    Examples
    --------
    >>> import tensix
    >>> tensix.randn(3, 4).shape
    (3, 4)
    """
    if generator is None:
        return call_factory(RANDN, shape, sizes, dtype, device)
    return random_factory(RANDN, shape, sizes, dtype, device, generator)


def randint(low, high, size=None, *, dtype=None, device=None, generator=None):
    """Return a tensor of random integers, as ``randint(low, high, size)`` or ``randint(high, size)``.

    Parameters
    ----------
    low, high : int
        The least number, 0 if it is left out, and the one that all are below.
    size : int or sequence of int
        The sizes.
    dtype : DType, optional
        An integer type; int64 if not given.
    device : str or Device, optional
        Where the elements are.
    generator : Generator, optional
        Who makes them; the default generator if not given.

    Raises
    ------
    ValueError
        If there are no integers in that range, or the type does not hold them.

    Examples
    --------
    >>> import tensix
    >>> tensix.randint(5, 6, (2,)), tensix.randint(1, (2,))
    (tensor([5, 5]), tensor([0, 0]))
    """
    if size is None:
        low, high, size = 0, low, high
    options = options_of(dtype, device)
    if generator is not None:
        options["generator"] = generator
    return RANDINT.call((low, high, as_shape(size)), options, keys_of_device(device))


def tensor(data, *, dtype=None):
    """Return a tensor with a copy of nested sequences of numbers, an array or a tensor.

    Floats become float32 unless they come from an array or `dtype` says otherwise.

    Examples
    --------
    >>> import tensix
    >>> tensix.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if isinstance(data, Tensor):
        return copied(data, dtype)
    cdef DType wanted = None if dtype is None else dtype_from_any(dtype)
    if wanted is not None and wanted.code == BFLOAT16:  # See Note [bfloat16 and NumPy]
        return copied(tensor(data, dtype="float32"), wanted)
    made = tensor_of_numbers(data, -1 if wanted is None else wanted.code)
    if made is not None:
        return made
    array = call_quietly(np.array, (data, None if wanted is None else wanted.numpy))
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if wanted is None and not isinstance(data, (np.ndarray, np.generic)):
        array = call_quietly(array.astype, (DEFAULTS.get(array.dtype, array.dtype),), {"copy": False})
    return Tensor_wrap(impl_of_ndarray(array, False)).clone()


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
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy() takes a numpy.ndarray, found {type(array).__name__}.")
    return Tensor_wrap(impl_of_ndarray(array, True))


# What Python's own numbers become, where NumPy would take twice the precision.
cdef dict DEFAULTS = {np.dtype("f8"): np.dtype("f4"), np.dtype("c16"): np.dtype("c8")}


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
        sizes[0] = int64_of(shape)
        if more:
            ndim += copy_sizes(more, sizes + 1, 63)
    else:
        ndim = copy_sizes(as_shape(shape), sizes, 64)
    return table.call_empty(ndim, sizes, code, device_type, device_index)


cdef object aligned_empty(
        object shape, tuple sizes, object dtype, object device, object memory_format, object alignment):
    """Return a tensor without values on a storage of an adaptor that keeps the alignment."""
    cdef Device where = Device_from_any("cpu" if device is None else device)
    # A meta tensor says sizes, strides and bytes, and refuses what is wrong.
    like = empty(shape, *sizes, dtype=dtype, device="meta", memory_format=memory_format)
    allocator = memory.AlignmentAdaptor(current_allocator(where.type_code), alignment)
    storage = Storage(like.nbytes, allocator, resizable=True)
    return Tensor.from_storage(storage, 0, like.shape, like.stride(), like.dtype)


cdef int copy_sizes(tuple shape, int64_t* sizes, int most) except -1:
    """Fill in sizes, of which there is room for `most`, and return how many there are."""
    cdef int ndim = 0
    if len(shape) > most:
        raise ValueError(f"a tensor has at most 64 dimensions, found {64 - most + len(shape)}.")
    for size in shape:
        sizes[ndim] = int64_of(size)
        ndim += 1
    return ndim


cdef tuple as_shape(object shape):
    """Return sizes given as ``f(3, 4)``, ``f((3, 4))`` or ``f(3)``."""
    if type(shape) is tuple:
        if len(<tuple>shape) != 1 or PyIndex_Check((<tuple>shape)[0]):
            return <tuple>shape
        shape = (<tuple>shape)[0]
    return (shape,) if PyIndex_Check(shape) else tuple(shape)


cdef dict options_of(object dtype, object device):
    """Return the options that were given, as keyword arguments."""
    options = {}
    if dtype is not None:
        options["dtype"] = dtype
    if device is not None:
        options["device"] = device
    return options


cdef object keys_of_device(object device):
    return dense_keys_of_device(0 if device is None else Device_from_any(device).type_code)


cdef object random_factory(
        OperatorTable table, object shape, tuple sizes, object dtype, object device, object generator):
    options = options_of(dtype, device)
    options["generator"] = generator
    return table.call(((shape, *sizes) if sizes else as_shape(shape),), options, keys_of_device(device))


# ---- kernels: each is made of other operators, so it serves every device


cdef class FactoryKernel(Kernel):
    """Make a tensor without values and fill it by another operator."""

    cdef OperatorTable fill
    cdef object value  # what to fill with; None: the operator knows

    def __init__(self, OperatorTable fill, value=None):
        self.fill, self.value = fill, value

    cdef object call_empty(
            self, int ndim, const int64_t* sizes, uint8_t dtype_code, int8_t device_type, int8_t device_index):
        made = EMPTY.call_empty(ndim, sizes, dtype_code, device_type, device_index)
        return self.fill.call1(made) if self.value is None else self.fill.call_with(made, self.value)

    cdef object call(self, tuple args, dict kwargs):
        return filled(*args, fill=self.fill, value=self.value, **(strided_options(kwargs) or {}))

    def __repr__(self):
        return f"empty, then {self.fill.schema.name}"


def filled(size, *, OperatorTable fill, value, generator=None, dtype=None, device=None):
    """Be a FactoryKernel's call with Python arguments."""
    made = call_factory(EMPTY, size, (), dtype, device)
    if generator is not None:
        value = generator
    return fill.call1(made) if value is None else fill.call_with(made, value)


def full_kernel(size, fill_value, dtype=None, device=None):
    return FILL_.call_with(call_factory(EMPTY, size, (), dtype, device), fill_value)


def randint_kernel(low, high, size, generator=None, dtype=None, device=None):
    made = call_factory(EMPTY, size, (), "int64" if dtype is None else dtype, device)
    return RANDOM_(made, low, high, generator=generator)


for _table, _kernel in (
    (ZEROS, FactoryKernel(FILL_, 0)), (ONES, FactoryKernel(FILL_, 1)), (RAND, FactoryKernel(UNIFORM_)),
    (RANDN, FactoryKernel(NORMAL_)), (FULL, StridedKernel(full_kernel, FULL.schema)),
    (RANDINT, StridedKernel(randint_kernel, RANDINT.schema)),
):
    _table.register("CompositeExplicitAutograd", _kernel)
