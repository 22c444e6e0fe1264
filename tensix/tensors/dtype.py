"""Element types.

The codes are PyTorch's ScalarType numbers, which are its serialisation order and never change.

Note [bfloat16 and NumPy]
~~~~~~~~~~~~~~~~~~~~~~~~~
NumPy has no bfloat16; the package ml_dtypes adds one. It is optional and imported when an array of that type is first
needed, never with tensix. Arrays of it that come in are known by the name of their type, which needs no import.
What needs no array of bfloat16 does without the package: a bfloat16 is the upper half of a float32, so printing,
Python numbers, conversions and arithmetic go through float32. Both roundings of a sum, a product or a quotient, to
float32 and on to bfloat16, give the nearest bfloat16: 24 bits are more than two times 8 plus 2.
"""

import contextlib
import importlib

import cython
import numpy as np

from tensix.core.storage import NullError

__all__ = [
    "DType", "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
    "complex128", "bfloat16", "uint16", "uint32", "uint64",
]  # fmt: skip

DTYPE_COUNT = 47
IS_COMPLETE = cython.declare(cython.bint, False)  # whether all element types are made


@cython.final
@cython.cclass
class DType:
    """DType()\n--\n
    Name an element type; there is one object of each.

    It equals whatever names it where an element type is taken: NumPy's type, its scalar class, a name. ``float``,
    ``int`` and ``complex`` mean float64, int64 and complex128, as in NumPy; the default types of new tensors differ. It
    hashes as NumPy's type does, save bfloat16, whose type would have to be imported; names and classes have hashes of
    their own.

    Attributes
    ----------
    code : int
        PyTorch's ScalarType number.
    name : str
        Such as ``"float32"``.
    itemsize : int
        Bytes per element.
    kind : str
        NumPy's letter: ``"b"`` (bool), ``"i"``, ``"u"`` (signed and unsigned integers), ``"f"`` (real, bfloat16 too)
        or ``"c"`` (complex). `isdtype` takes the array API's words.

    Examples
    --------
    >>> import numpy, tensix
    >>> tensix.float32, tensix.float32.itemsize
    (tensix.float32, 4)
    >>> tensix.float32 == "f4", tensix.float64 == float, {tensix.float32: 1}[numpy.dtype("float32")]
    (True, True, 1)
    >>> tensix.float32.kind, tensix.float32.type
    ('f', <class 'numpy.float32'>)
    """

    __module__ = "tensix"  # of an element type: its class says so in its own way

    def __cinit__(self):  # which __new__ calls too
        if IS_COMPLETE:
            raise TypeError("element types are not made by hand: use tensix.float32, tensix.int64, ...")

    @property
    def numpy(self):
        """NumPy's type of the same bytes, or None; that of bfloat16 is ml_dtypes', if installed."""
        if self.numpy_dtype is None and self.code == BFLOAT16:
            with contextlib.suppress(ImportError):  # See Note [bfloat16 and NumPy]
                self.numpy_dtype = np.dtype(importlib.import_module("ml_dtypes").bfloat16)
        return self.numpy_dtype

    @property
    def dtype(self):
        """NumPy's type of the same bytes: by this name NumPy itself finds it, so that ``np.dtype(x.dtype)`` works.

        Raises
        ------
        AttributeError
            If NumPy has none: of bfloat16 without ml_dtypes.
        """
        try:
            return numpy_dtype_of(self)
        except TypeError as error:
            raise AttributeError(*error.args) from None

    @property
    def type(self):
        """NumPy's class of scalars, such as ``numpy.float32``; there is one if there is a `dtype`."""
        return self.dtype.type

    def __eq__(self, other):
        if isinstance(other, DType):
            return self is other
        return self is find_dtype(other)

    def __hash__(self):
        return hash(self.name if self.numpy_dtype is None or self.code == BFLOAT16 else self.numpy_dtype)

    def __repr__(self):
        return f"tensix.{self.name}"

    def __str__(self):
        return self.name

    def __reduce__(self):
        return self.name  # of the package, which `__module__` names


BY_CODE = cython.declare(list, [None] * DTYPE_COUNT)
BY_NAME = cython.declare(dict, {})
BY_NUMPY = cython.declare(dict, {})


def dtype_of_code(code):
    return BY_CODE[code]


def dtype_from_any(dtype):
    """Return the element type that a DType, a NumPy dtype, a Python scalar type or a name means."""
    if isinstance(dtype, DType):
        return dtype
    found = find_dtype(dtype)
    if found is None:
        raise TypeError(
            f"{dtype!r} is not an element type of tensix{reason_of(dtype)}; there are {', '.join(BY_NAME)}, and "
            "NumPy's names for them, such as 'f4'."
        )
    return found


@cython.cfunc
def find_dtype(dtype):
    """Return the element type that something other than a DType means, None if it means none."""
    if dtype is None:
        return None
    if isinstance(dtype, str) and dtype in BY_NAME:
        return BY_NAME[dtype]
    if isinstance(getattr(dtype, "dtype", None), DType):  # a tensor, which NumPy before 2.3 takes for its type
        return None
    with contextlib.suppress(TypeError, ValueError):  # NumPy's own text speaks of its types, ours follows
        numpy_dtype = np.dtype(dtype)
        found = BY_NUMPY.get(numpy_dtype)
        if found is None and numpy_dtype.name == "bfloat16" and numpy_dtype.itemsize == 2:  # another package's
            found = bfloat16
        return found
    return None


@cython.cfunc
def reason_of(dtype):
    """Return why tensix lacks a type of NumPy, as part of a sentence."""
    with contextlib.suppress(TypeError, ValueError):
        if (isinstance(dtype, str) or isinstance(dtype, np.dtype)) and not np.dtype(dtype).isnative:
            return ", whose elements have their bytes in the machine's order"
    return ""


def numpy_dtype_of(dtype):
    """Return NumPy's type of the same bytes; raise if there is none."""
    found = dtype.numpy_dtype or dtype.numpy
    if found is None:
        if dtype.code == UNDEFINED:
            refuse_undefined()
        raise TypeError(f"NumPy has no type for {dtype.name}. Install ml_dtypes, which adds it.")
    return found


def refuse_undefined():
    raise NullError("the tensor is undefined: it has no elements, type or device. Make one with empty() or tensor().")


def default_float_code():
    return FLOAT32


@cython.cfunc
def register(code, name, itemsize, kind, numpy_dtype):
    """Make the one object of an element type and enter it into the tables."""
    dtype: DType = DType.__new__(DType)
    dtype.code, dtype.name, dtype.itemsize, dtype.kind, dtype.numpy_dtype = code, name, itemsize, kind, numpy_dtype
    BY_CODE[code] = BY_NAME[name] = dtype
    ITEMSIZES[code] = itemsize
    if numpy_dtype is not None:
        BY_NUMPY[numpy_dtype] = dtype
    return dtype


# What an undefined tensor has: in the table of codes, but of no name.
undefined = register(UNDEFINED, "undefined", 0, "V", None)
del BY_NAME["undefined"]

uint8 = register(UINT8, "uint8", 1, "u", np.dtype("u1"))
int8 = register(INT8, "int8", 1, "i", np.dtype("i1"))
int16 = register(INT16, "int16", 2, "i", np.dtype("i2"))
int32 = register(INT32, "int32", 4, "i", np.dtype("i4"))
int64 = register(INT64, "int64", 8, "i", np.dtype("i8"))
float16 = register(FLOAT16, "float16", 2, "f", np.dtype("f2"))
float32 = register(FLOAT32, "float32", 4, "f", np.dtype("f4"))
float64 = register(FLOAT64, "float64", 8, "f", np.dtype("f8"))
complex64 = register(COMPLEX64, "complex64", 8, "c", np.dtype("c8"))
complex128 = register(COMPLEX128, "complex128", 16, "c", np.dtype("c16"))
bool = register(BOOL, "bool", 1, "b", np.dtype("?"))
bfloat16 = register(BFLOAT16, "bfloat16", 2, "f", None)
uint16 = register(UINT16, "uint16", 2, "u", np.dtype("u2"))
uint32 = register(UINT32, "uint32", 4, "u", np.dtype("u4"))
uint64 = register(UINT64, "uint64", 8, "u", np.dtype("u8"))

IS_COMPLETE = True
