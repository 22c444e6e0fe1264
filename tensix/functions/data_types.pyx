"""The array API standard's chapter on element types: which fits into which, and what each can hold."""

import functools
import math
from typing import NamedTuple

cimport cython
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.tensors.dtype cimport UNDEFINED, DType, dtype_from_any, dtype_of_code, refuse_undefined
from tensix._tensor cimport Tensor
from tensix.tensors.promotion cimport promote_codes, promote_number

import numpy as np

from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import function, method
from tensix.tensors.dtype import bfloat16, complex64, complex128, float16, float32, float64
from tensix.tensors.dtype import bool as bool_
from tensix.tensors.promotion import promote_types

__all__ = ["FloatInfo", "IntInfo", "astype", "can_cast", "finfo", "iinfo", "isdtype", "promote_types", "result_type"]

cdef OperatorTable ASTYPE = native_functions.ASTYPE
cdef OperatorTable CLONE = native_functions.CLONE

# The names of kinds that `isdtype` takes, and the letters in `DType.kind` that they mean.
cdef dict KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}

# Bits of the fraction, and the largest exponent.
LAYOUTS = {float16: (10, 15), bfloat16: (7, 127), float32: (23, 127), float64: (52, 1023)}
REAL_PART = {complex64: float32, complex128: float64}


@cython.binding(True)
class FloatInfo(NamedTuple):
    """Limits of a floating type; see `finfo`."""

    __module__ = "tensix"  # See Note [Modules of classes]

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@cython.binding(True)
class IntInfo(NamedTuple):
    """Limits of an integer type; see `iinfo`."""

    __module__ = "tensix"  # See Note [Modules of classes]

    bits: int
    max: int
    min: int
    dtype: DType


@method
def astype(Tensor x not None, dtype, /, *, copy=True, device=None):
    """Return a tensor with its elements converted to another type.

    Parameters
    ----------
    x : Tensor
        The tensor.
    dtype : DType
        The element type to convert to.
    copy : bool, optional
        Whether to copy even if neither type nor device change; if False, `x` itself is returned then.
    device : str or Device, optional
        Device of the result; that of `x` if not given.

    Raises
    ------
    TypeError
        If `x` is complex and the type is not.

    Examples
    --------
    >>> tensix.astype(tensix.tensor([1.5, -1.5]), tensix.int64)
    tensor([ 1, -1])
    """
    cdef Tensor made = ASTYPE.call_with(x if device is None else x.to_device(device), dtype_from_any(dtype))
    return CLONE.call1(x) if copy and made is x else made


def can_cast(from_, to, /):
    """Return whether promotion may turn one element type into another.

    That is, whether the two promote to the second: within a kind nothing is lost, a higher kind takes any lower one.

    Parameters
    ----------
    from_ : DType or Tensor
        What is cast.
    to : DType
        The element type to cast to.

    Examples
    --------
    >>> tensix.can_cast(tensix.int8, tensix.int16), tensix.can_cast(tensix.ones(2), tensix.int64)
    (True, False)
    """
    source, target = dtype_of(from_), dtype_from_any(to)
    try:
        return promote_types(source, target) is target
    except TypeError:  # they do not meet
        return False


@function
def finfo(type, /):
    """Return the limits of a floating type, those of its parts if it is complex.

    Parameters
    ----------
    type : DType or Tensor
        A real or complex floating type, or a tensor of one.

    Returns
    -------
    FloatInfo
        With the attributes `bits`, `eps`, `max`, `min` and `smallest_normal`, Python numbers, and `dtype`.

    Raises
    ------
    TypeError
        If the type is not a floating one.

    Examples
    --------
    >>> tensix.finfo(tensix.bfloat16).eps, tensix.finfo(tensix.complex64).dtype
    (0.0078125, tensix.float32)
    """
    return limits_of_float(dtype_of(type))


@functools.cache
def limits_of_float(dtype):
    """Return what `finfo` does, the same object each time."""
    dtype = REAL_PART.get(dtype, dtype)
    if dtype not in LAYOUTS:
        raise TypeError(f"finfo() is for floating types, found {dtype.name}. Use iinfo() for integers.")
    fraction, exponent = LAYOUTS[dtype]
    eps = math.ldexp(1.0, -fraction)
    largest = math.ldexp(2.0 - eps, exponent)
    return FloatInfo(8 * dtype.itemsize, eps, largest, -largest, math.ldexp(1.0, 1 - exponent), dtype)


@function
def iinfo(type, /):
    """Return the limits of an integer type.

    Parameters
    ----------
    type : DType or Tensor
        An integer type, or a tensor of one.

    Returns
    -------
    IntInfo
        With the attributes `bits`, `max` and `min`, Python numbers, and `dtype`.

    Raises
    ------
    TypeError
        If the type is not an integer one.

    Examples
    --------
    >>> tensix.iinfo(tensix.int8)
    IntInfo(bits=8, max=127, min=-128, dtype=tensix.int8)
    """
    return limits_of_integer(dtype_of(type))


@functools.cache
def limits_of_integer(dtype):
    """Return what `iinfo` does, the same object each time."""
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo() is for integer types, found {dtype.name}. Use finfo() for floating types.")
    bits = 8 * dtype.itemsize
    if dtype.kind == "i":
        return IntInfo(bits, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), dtype)
    return IntInfo(bits, 2**bits - 1, 0, dtype)


def isdtype(dtype, kind):
    """Return whether an element type is of a kind.

    Parameters
    ----------
    dtype : DType
        The element type.
    kind : str, DType, or tuple of those
        ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``, ``"complex
        floating"``, ``"numeric"``, or an element type; a tuple means any of its members.

    Raises
    ------
    ValueError
        If there is no kind of this name.

    Examples
    --------
    >>> tensix.isdtype(tensix.uint8, "integral"), tensix.isdtype(tensix.bool, ("numeric", tensix.int8))
    (True, False)
    """
    found = dtype_from_any(dtype)
    if type(kind) is str:
        return is_of_kind(found, kind)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return any([is_of_kind(found, one) for one in kinds])  # a list: each kind is checked, also after a hit


cdef bint is_of_kind(DType dtype, object kind) except -1:
    """Return whether an element type is of one kind."""
    if not isinstance(kind, str):
        return dtype is dtype_from_any(kind)
    kinds = KINDS.get(kind)
    if kinds is None:
        raise ValueError(f"no kind of element types is called {kind!r}; there are {', '.join(map(repr, KINDS))}.")
    return dtype.kind in <str>kinds


def result_type(*arrays_and_dtypes):
    """Return the element type that the result of an operation on these has.

    Tensors count by their element type, those without dimensions too, and so do NumPy's scalars. Python's numbers give
    way: each changes the type only if its kind is higher. Among themselves they are bool, int64, float32 and complex64.

    Parameters
    ----------
    *arrays_and_dtypes : Tensor, DType, bool, int, float or complex
        One or more; their order does not matter.

    Raises
    ------
    ValueError
        If there is none.
    TypeError
        If the types do not meet.

    Examples
    --------
    >>> tensix.result_type(tensix.int8, tensix.ones(2, dtype=tensix.uint8), 1)
    tensix.int16
    >>> tensix.result_type(tensix.int64, 1.5)
    tensix.float32
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type() needs at least one tensor, element type or number.")
    cdef int found = 0
    cdef int codes[2]
    cdef list numbers = []
    for x in arrays_and_dtypes:
        kind = type(x)
        if found < 2 and (kind is Tensor or kind is DType):
            codes[found] = (<Tensor>x).impl.dtype_code if kind is Tensor else (<DType>x).code
            found += 1
        elif kind is int or kind is float:
            numbers.append(x)
        else:
            return result_type_of_any(arrays_and_dtypes)
    if found == 0:
        return result_type_of_any(arrays_and_dtypes)
    result = dtype_of_code(promote_codes(codes[0], codes[found - 1]))
    for number in numbers:
        result = promote_number(result, number)
    return result


cdef object result_type_of_any(tuple arrays_and_dtypes):
    """Return what `result_type` does, of more than two types and of what names a type or has one."""
    numbers, types = [], []
    for x in arrays_and_dtypes:
        if isinstance(x, (int, float, complex)) and not isinstance(x, np.generic):
            numbers.append(x)
        else:
            types.append(dtype_of(x))
    # The highest kind first: uint64 and int8 meet nowhere, but both meet float32.
    types.sort(key=lambda dtype: "buifc".index(dtype.kind), reverse=True)
    result = functools.reduce(promote_types, types) if types else bool_
    for number in numbers:
        result = promote_number(result, number)
    return result


def dtype_of(x):
    """Return the element type of a tensor or a scalar of NumPy, or the one that is named."""
    dtype = x.dtype if isinstance(x, Tensor) else dtype_from_any(x.dtype if isinstance(x, np.generic) else x)
    if dtype.code == UNDEFINED:
        refuse_undefined()
    return dtype
