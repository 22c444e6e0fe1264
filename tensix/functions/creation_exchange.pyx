"""Tensors of what others made: arrays, buffers, DLPack, plain addresses, and nested sequences of numbers or tensors."""
from cpython.buffer cimport PyObject_CheckBuffer
from libc.stdint cimport int64_t, uintptr_t
from numpy cimport ndarray
from tensix.core.data_ptr cimport DataPtr, DataPtr_move_out, address_from_any, data_ptr_move, data_ptr_t
from tensix.core.device cimport CPU, Device, Device_from_any
from tensix.tensors.dispatch_key cimport dense_keys_of_device
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.kernels.nested_numbers cimport tensor_of_numbers
from tensix.exchange.buffer cimport impl_of_buffer
from tensix.exchange.dlpack cimport impl_of_dlpack
from tensix.tensors.dtype cimport DType, dtype_from_any
from tensix.exchange.foreign_memory cimport look_at_memory
from tensix.exchange.ndarray cimport impl_of_ndarray
from tensix._tensor cimport Tensor
from tensix.tensors.tensor_base cimport Tensor_wrap
from tensix.tensors.tensor_impl cimport TensorImpl, TensorImpl_look_alike, int64_of

import numpy as np

from tensix.dispatch import native_functions
from tensix.functions.creation import tensor
from tensix.functions.data_types import result_type

__all__ = ["asarray", "from_blob", "from_dlpack"]

cdef OperatorTable ASTYPE = native_functions.ASTYPE
cdef OperatorTable CLONE = native_functions.CLONE

cdef set NUMBERS = {bool, int, float, complex}
cdef frozenset HOLD_NO_MEMORY = frozenset([bool, int, float, complex, str, list, tuple, range])


def asarray(obj, /, *, dtype=None, device=None, copy=None):
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

    Returns
    -------
    Tensor
        `obj` itself if it is a tensor that needs no change. Read-only memory gives a read-only tensor.

    Raises
    ------
    ValueError
        If it would have to be copied and `copy` is False.
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
    >>> import tensix
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
        Where the elements shall be; where they are if not given.
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
        source = Tensor_wrap(TensorImpl_look_alike((<Tensor>x).impl))
    elif type(x) is ndarray:
        source = Tensor_wrap(impl_of_exporting_array(x))
    elif device is None:
        check_producer(x)
        source = Tensor_wrap(impl_of_dlpack(x, None, copy))
    else:
        check_producer(x)
        where = Device_from_any(device)
        source = Tensor_wrap(impl_of_dlpack(x, (1, 0) if where.type_code == CPU else None, copy))
    if copy is None and device is None:
        return source
    if copy and type(x) is not Tensor and not source.impl.storage.is_foreign and not source.readonly:
        copy = None  # the other has made one
    try:
        return converted(source, None, device, copy)
    except NotImplementedError:  # by the name of an operator that nobody here has asked for
        raise BufferError(f"tensix cannot copy from {source.device} to {device}: no kernel is registered.") from None


cdef TensorImpl impl_of_exporting_array(object array):
    """Look at NumPy's array without the detour of a capsule; errors are those that the capsule would bring."""
    try:
        return impl_of_ndarray(array, True)
    except (TypeError, ValueError) as error:
        raise BufferError(f"the array cannot be shared: {error}") from None


cdef int check_producer(object x) except -1:
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack() takes what has the method __dlpack__, found {type(x).__name__}.")
    return 0


def from_blob(address, shape, *, stride=None, dtype, deleter=None, device="cpu"):
    """Return a tensor over memory at an address.

    Parameters
    ----------
    address : int
        Of the first element; it divides by the size of an element, or of half of a complex one.
    shape : int or sequence of int
        The sizes, 0 or more each.
    stride : sequence of int, optional
        The steps in elements, which may be negative; row-major order if not given.
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
    Lifetime: without a deleter the memory must outlive every tensor on it, which nobody checks; as others may write
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
        raise TypeError("undefined is no element type, and there are no elements of it. Name another one.")
    dims = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    steps = dims if stride is None else tuple(stride)
    if len(dims) > 64:
        raise ValueError(f"a tensor has at most 64 dimensions, found {len(dims)}.")
    if len(steps) != len(dims):
        raise ValueError(f"a stride per dimension is needed: {len(dims)}, found {len(steps)}.")
    for i in range(len(dims)):
        sizes[i], strides[i] = int64_of(dims[i]), int64_of(steps[i])
    impl = look_at_memory(
        element.code, dense_keys_of_device(where.type_code), len(dims), sizes, NULL if stride is None else strides,
        <void*>place,
    )
    storage = impl.storage
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
    """Return a tensor over an object's memory, None if it has no memory that can be shared."""
    if isinstance(obj, ndarray):
        try:
            return Tensor_wrap(impl_of_ndarray(obj, True))
        except ValueError:  # its elements cannot be looked at as they lie
            return None
    if type(obj) in HOLD_NO_MEMORY or isinstance(obj, (np.generic, str)):
        return None
    if hasattr(obj, "__dlpack__"):
        return Tensor_wrap(impl_of_dlpack(obj, None, None))
    if PyObject_CheckBuffer(obj):
        try:
            return Tensor_wrap(impl_of_buffer(obj))
        except BufferError:
            return None
    if any(hasattr(obj, name) for name in ("__array__", "__array_interface__", "__array_struct__")):
        return sharing(np.asarray(obj, copy=copy), copy)
    return None


cdef object of_sequence(object obj, DType wanted):
    """Return a new tensor of numbers, or of nested sequences of numbers, tensors or arrays."""
    made = tensor_of_numbers(obj, -1 if wanted is None else wanted.code)
    if made is not None:
        return made
    if wanted is None and isinstance(obj, (list, tuple)):
        found = types_in(obj)
        if any(isinstance(one, DType) for one in found):  # Python's numbers among them give way
            wanted = result_type(*found)
    return tensor(obj, dtype=wanted)


cdef list types_in(object obj):
    """Return the element types of what nested sequences contain, and for Python's numbers a zero of their class."""
    cdef list found = []
    cdef list waiting = [obj]
    cdef dict seen = {id(obj): obj}  # what lies in itself is looked at once, and refused when the tensor is made
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
            elif isinstance(item, (Tensor, np.ndarray, np.generic)):
                found.append(dtype_from_any(item.dtype))
            elif type(item) in NUMBERS:
                found.append(type(item)(0))
    return found
