"""Tensors of what others made: arrays, buffers, DLPack, and nested sequences of numbers or tensors."""

from typing import Any

import numpy as np

from tensix.core import Device
from tensix.dispatch import native_functions
from tensix.functions.creation import from_numpy, tensor
from tensix.functions.data_types import result_type
from tensix.tensors.dtype import DType, dtype_from_any
from tensix.tensors.tensor import Tensor

__all__ = ["asarray", "from_dlpack"]

NUMBERS = {bool, int, float, complex}


def asarray(
    obj: Any, /, *, dtype: Any = None, device: str | Device | None = None, copy: bool | None = None
) -> Tensor:
    r"""Return anything that holds numbers as a tensor, over the same memory where that is possible.

    Parameters
    ----------
    obj : object
        A tensor; a NumPy array; an object with ``__dlpack__``, with the buffer protocol, or with ``__array__``; a
        number; or nested sequences of numbers, tensors or arrays.
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
    TypeError
        If there are no numbers in it that tensix has a type for.

    Notes
    -----
    Lifetime: a tensor that shares memory keeps `obj` alive. A write to one is seen in the other.

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
    wanted = None if dtype is None else dtype_from_any(dtype)
    source = obj if isinstance(obj, Tensor) else sharing(obj)
    is_fresh = source is None
    if is_fresh:
        if copy is False:
            raise ValueError(f"asarray() cannot share the memory of this {type(obj).__name__}, but copy is False.")
        source = of_sequence(obj, wanted)
    options = {} if device is None else {"device": Device(device)}
    made = native_functions.ASTYPE(source, source.dtype if wanted is None else wanted, **options)
    if made is source:
        return source.clone() if copy and not is_fresh else source
    if copy is False:
        raise ValueError(
            f"asarray() has to copy {source.dtype.name} on {source.device} to make {made.dtype.name} on {made.device}, "
            "but copy is False."
        )
    return made


def from_dlpack(x: object, /, *, device: str | Device | None = None, copy: bool | None = None) -> Tensor:
    """Return a tensor over the memory of anything that speaks DLPack.

    Parameters
    ----------
    x : object
        With the methods ``__dlpack__`` and ``__dlpack_device__``, on the CPU.
    device : str or Device, optional
        Where the elements shall be; the CPU if not given.
    copy : bool, optional
        True: always copy; False: never. If not given, memory is shared if it can be.

    Returns
    -------
    Tensor
        Read-only if the other says so, or cannot say.

    Raises
    ------
    BufferError
        If the other cannot share its memory.
    ValueError
        If it would have to be copied and `copy` is False.

    Notes
    -----
    Lifetime: a tensor that shares memory keeps `x` alive. A write to one is seen in the other.

    Examples
    --------
    >>> import numpy, tensix
    >>> tensix.from_dlpack(numpy.arange(3.0))
    tensor([0., 1., 2.], dtype=tensix.float64)
    """
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"from_dlpack() takes what has __dlpack__ and __dlpack_device__, found {type(x).__name__}.")
    return asarray(from_numpy(np.from_dlpack(x)), device=device, copy=copy)


def sharing(obj: Any) -> Tensor | None:
    """Return a tensor over an object's memory, None if it has no memory that can be shared."""
    array = array_of(obj)
    if array is None or array.dtype.hasobject:
        return None
    itemsize = array.dtype.itemsize
    if not array.dtype.isnative or not array.flags.aligned or any(step % itemsize for step in array.strides):
        return None
    return from_numpy(array)


def array_of(obj: Any) -> Any:
    """Return an array over an object's memory, None if it has none."""
    if isinstance(obj, np.ndarray):
        return obj
    if isinstance(obj, (np.generic, str)):
        return None
    if hasattr(obj, "__dlpack__"):
        return np.from_dlpack(obj)
    if hasattr(obj, "__array__"):
        return np.asarray(obj)
    try:
        return np.asarray(memoryview(obj))
    except TypeError:  # no buffer
        return None


def of_sequence(obj: Any, wanted: DType | None) -> Tensor:
    """Return a new tensor of numbers, or of nested sequences of numbers, tensors or arrays."""
    if wanted is None and isinstance(obj, (list, tuple)):
        found = types_in(obj)
        if any(isinstance(one, DType) for one in found):  # Python's numbers among them give way
            wanted = result_type(*found)
    return tensor(obj, dtype=wanted)


def types_in(obj: Any) -> list[Any]:
    """Return the element types of what nested sequences contain, and for Python's numbers a zero of their class."""
    kinds = set(map(type, obj))
    if kinds <= NUMBERS:
        return [kind(0) for kind in kinds]
    found: list[Any] = []
    for item in obj:
        if isinstance(item, (list, tuple)):
            found += types_in(item)
        elif isinstance(item, (Tensor, np.ndarray, np.generic)):
            found.append(dtype_from_any(item.dtype))
        elif type(item) in NUMBERS:
            found.append(type(item)(0))
    return found
