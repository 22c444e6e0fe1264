"""What an element type is, as small numbers: an identifier, and an index into the table of all types.

Types come in three sorts:

* Element types of tensors, such as float32. They are known ahead; their index is PyTorch's ScalarType number.
* Python classes. An element is a reference to an object of the class. To construct one is to call the class, to copy
  it is to take another reference, to destroy it is to give the reference back.
* C structs. An element is the struct's bytes; C functions construct, copy and destroy arrays of it.

The facts are those of PyTorch's ``c10/util/typeid.h``.
"""

import builtins
import sys
import threading

import cython
import numpy as np
from cython.cimports.cpython.object import PyObject
from cython.cimports.libc.stdint import uint16_t
from cython.cimports.tensix.core.allocator import nbytes_from_any
from cython.cimports.tensix.core.data_ptr import c_function_from_any
from cython.cimports.tensix.core.public_module import set_module
from cython.cimports.tensix.tensors.dtype import UNDEFINED, DType, dtype_from_any, dtype_of_code

from tensix.tensors.dtype import DTYPE_COUNT

__all__ = ["TypeIdentifier", "TypeMeta", "register_type"]

DATA = cython.declare(type_meta_data_t[255])
NAMES = cython.declare(list, [None] * DTYPE_COUNT)
CLASSES = cython.declare(list, [None] * DTYPE_COUNT)  # a registered class is never given up
FUNCTIONS = cython.declare(list, [])  # objects that keep C functions alive
INDEX_OF_CLASS = cython.declare(dict, {})  # by the class's address: its own __hash__ and __eq__ are not asked
LOCK = threading.Lock()


@cython.final
@cython.total_ordering
@cython.cclass
class TypeIdentifier:
    """TypeIdentifier()\n--\n
    Tell types apart by a number; ``TypeIdentifier()`` is 0, uninitialized.

    Attributes
    ----------
    underlying_id : int
        The number. Those of element types never change, those of registered classes follow the order of registration.

    Examples
    --------
    >>> import tensix
    >>> tensix.TypeMeta.make("float16").id == tensix.TypeMeta.make("uint16").id
    False
    >>> tensix.TypeIdentifier()
    TypeIdentifier(0)
    """

    def __init__(self):
        """Be uninitialized; `TypeMeta.id` gives the others."""

    def __eq__(self, other):
        if not isinstance(other, TypeIdentifier):
            return NotImplemented
        that: TypeIdentifier = other
        return self.underlying_id == that.underlying_id

    def __lt__(self, other):
        if not isinstance(other, TypeIdentifier):
            return NotImplemented
        that: TypeIdentifier = other
        return self.underlying_id < that.underlying_id

    def __hash__(self):
        return self.underlying_id

    def __repr__(self):
        return f"TypeIdentifier({self.underlying_id})"


@cython.final
@cython.total_ordering
@cython.cclass
class TypeMeta:
    """TypeMeta()\n--\n
    Describe a type of elements: its name, its size, and what it takes to make and unmake one.

    ``TypeMeta()`` is that of the undefined type. Two are equal if they stand for the same type.

    Examples
    --------
    >>> import tensix
    >>> tensix.TypeMeta.make(tensix.float32).itemsize
    4
    >>> tensix.TypeMeta()
    TypeMeta(nullptr (uninitialized))
    """

    def __cinit__(self):
        self.index = UNDEFINED

    def __init__(self):
        """Be undefined; `make` gives the others."""

    @staticmethod
    @cython.binding(True)
    def make(x):
        """Return the description of a type.

        Parameters
        ----------
        x : DType, registered class, TypeMeta, numpy.dtype, Python scalar type or name
            What names the type.

        Raises
        ------
        TypeError
            If it names none, such as a class that is not registered.
        """
        if isinstance(x, TypeMeta):
            return x
        index = INDEX_OF_CLASS.get(address_of(x))
        if index is not None:
            return TypeMeta_of_index(index)
        try:
            dtype = dtype_from_any(x)
        except TypeError as error:
            if isinstance(x, type):
                raise TypeError(
                    f"{class_name(x)} is neither an element type nor registered. Call register_type() with it first."
                ) from error
            raise
        return TypeMeta_of_index(dtype.code)

    @staticmethod
    @cython.binding(True)
    def from_scalar_type(dtype):
        """Return the description of an element type; every one has it, the undefined one too."""
        return TypeMeta_of_index(dtype_from_any(dtype).code)

    @property
    def id(self):
        """The type's identifier."""
        made: TypeIdentifier = TypeIdentifier.__new__(TypeIdentifier)
        made.underlying_id = 0 if self.index == UNDEFINED else self.index + 1
        return made

    @property
    def name(self):
        """The type's name."""
        return NAMES[self.index]

    @property
    def itemsize(self):
        """Bytes per element; 0 if undefined."""
        return DATA[self.index].itemsize

    @property
    def is_trivial(self):
        """Whether elements are their bytes: nothing constructs, copies or destroys them."""
        return type_meta_is_trivial(cython.address(DATA[self.index])) != 0

    def is_scalar_type(self, dtype=None):
        """Return whether tensors can have elements of this type; given `dtype`, whether it is that one."""
        if dtype is not None:
            return dtype_from_any(dtype).code == self.index
        return self.index < DTYPE_COUNT

    def to_scalar_type(self):
        """Return the element type.

        Raises
        ------
        TypeError
            If it is a registered class: tensors have no such elements.
        """
        if self.index >= DTYPE_COUNT:
            raise TypeError(
                f"Unsupported TypeMeta in tensors: {self.name} is a registered class, no element type. "
                "Ask is_scalar_type() first."
            )
        return dtype_of_code(self.index)

    def __eq__(self, other):
        if not isinstance(other, TypeMeta):
            return NotImplemented
        that: TypeMeta = other
        return self.index == that.index

    def __lt__(self, other):
        if not isinstance(other, TypeMeta):
            return NotImplemented
        that: TypeMeta = other
        return self.index < that.index

    def __hash__(self):
        return self.index

    def __repr__(self):
        return f"TypeMeta({self.name})"

    def __reduce__(self):
        if self.index == UNDEFINED:
            return TypeMeta, ()
        return TypeMeta.make, (CLASSES[self.index] or dtype_of_code(self.index),)


def register_type(cls, *, itemsize=None, construct=None, copy=None, destroy=None):
    """Make a class known as a type of elements, for as long as the process lives.

    A `ctypes.Structure` or `ctypes.Union` is a C struct, and its `itemsize` is known. Of any other class, without
    `itemsize`, elements are references to objects of the class. A class that can be called without arguments is
    default-constructible; one with ``__copy__ = None`` does not allow assignment. With `itemsize` the class is but the
    name of a C struct, and the C functions say how to handle arrays of it. Without `construct` and `destroy` new
    elements are whatever the memory held; without `copy` and `destroy` elements are copied as bytes. With `destroy`,
    what is missing is not allowed.

    Parameters
    ----------
    cls : type
        The class. Registering it again, in the same way, returns the same description.
    itemsize : int, optional
        Bytes of the C struct.
    construct : ctypes function, PyCapsule named ``"tensix.construct"``, or int, optional
        C function ``void (void* elements, size_t count)``.
    copy : ctypes function, PyCapsule named ``"tensix.copy"``, or int, optional
        C function ``void (const void* source, void* target, size_t count)``; `target` is constructed and does not
        overlap `source`.
    destroy : ctypes function, PyCapsule named ``"tensix.destroy"``, or int, optional
        C function ``void (void* elements, size_t count)``, called from any thread, with or without the GIL.

    Returns
    -------
    TypeMeta
        Its description; `TypedStorage` makes elements of it.

    Raises
    ------
    TypeError
        If it is no class, or a type that tensix has already, such as float.
    RuntimeError
        If it is registered in another way, or the table is full.

    Notes
    -----
    Lifetime: class and functions are kept for ever.

    Thread-safety: may be called from any thread.

    Examples
    --------
    >>> import fractions, tensix
    >>> meta = tensix.register_type(fractions.Fraction)
    >>> meta, meta.itemsize, meta == tensix.register_type(fractions.Fraction)
    (TypeMeta(fractions.Fraction), 8, True)
    """
    data: type_meta_data_t
    if not isinstance(cls, type):
        raise TypeError(f"register_type() takes a class, found {type(cls).__name__}.")
    if any([cls is number for number in (builtins.bool, int, float, complex)]) or issubclass(cls, np.generic):
        raise TypeError(f"{class_name(cls)} is a type of numbers, which tensix has already: see TypeMeta.make().")
    ctypes = sys.modules.get("ctypes")  # who has not loaded it has no struct of it
    if itemsize is None and ctypes is not None and issubclass(cls, (ctypes.Structure, ctypes.Union)):
        itemsize = ctypes.sizeof(cls)
    data.construct = cython.cast(placement_new_t, c_function_from_any(construct, "construct", ""))
    data.copy = cython.cast(placement_copy_t, c_function_from_any(copy, "copy", ""))
    data.destroy = cython.cast(placement_delete_t, c_function_from_any(destroy, "destroy", ""))
    data.is_reference = itemsize is None
    data.destroy_is_python = not isinstance(destroy, int)
    if data.is_reference:
        data.is_assignable = getattr(cls, "__copy__", False) is not None
    else:
        data.is_assignable = data.copy != cython.NULL or data.destroy == cython.NULL
    if data.is_reference and (construct, copy, destroy) != (None, None, None):
        raise TypeError("construct, copy and destroy are for C structs: give their itemsize.")
    data.itemsize = cython.sizeof(cython.pointer(PyObject)) if data.is_reference else nbytes_from_any(itemsize)
    if data.itemsize == 0:
        raise ValueError("a C struct has at least one byte, found itemsize=0.")
    with LOCK:
        return TypeMeta_of_index(enter(cls, cython.address(data), (construct, copy, destroy)))


@cython.cfunc
def enter(cls, data: cython.pointer(type_meta_data_t), functions: tuple) -> uint16_t:
    """Return the class's index in the table, a new one unless it has one; under the lock."""
    known = INDEX_OF_CLASS.get(address_of(cls))
    if known is not None:
        if not same_type(cython.address(DATA[cython.cast(uint16_t, known)]), data):
            raise RuntimeError(
                f"{class_name(cls)} is registered already, with another itemsize or other functions. "
                "Register a subclass of it."
            )
        return known
    index: uint16_t = len(NAMES)
    if index >= MAX_TYPES:
        raise RuntimeError(
            f"Maximum number of register_type() declarations has been exceeded: the table has {MAX_TYPES} entries, "
            f"{MAX_TYPES - DTYPE_COUNT} of them for classes. Register base classes instead of their subclasses."
        )
    DATA[index] = data[0]
    NAMES.append(class_name(cls))
    CLASSES.append(cls)
    FUNCTIONS.append(functions)
    INDEX_OF_CLASS[address_of(cls)] = index
    return index


@cython.cfunc
def same_type(a: cython.pointer(type_meta_data_t), b: cython.pointer(type_meta_data_t)) -> cython.bint:
    return (
        a.itemsize == b.itemsize and a.construct == b.construct and a.copy == b.copy and a.destroy == b.destroy
        and a.is_reference == b.is_reference
    )  # fmt: skip


@cython.cfunc
def class_name(cls):
    return f"{cls.__module__}.{cls.__qualname__}"


@cython.cfunc
def address_of(thing):
    return cython.cast(cython.size_t, cython.cast(cython.p_void, thing))


def type_meta_data(index):
    return cython.address(DATA[index])


def type_meta_class(index):
    return CLASSES[index]


def type_meta_is_trivial(data):
    return (
        not data.is_reference and data.construct == cython.NULL and data.copy == cython.NULL
        and data.destroy == cython.NULL
    )  # fmt: skip


def TypeMeta_of_index(index):
    """Return the description that stands at an index of the table."""
    made: TypeMeta = TypeMeta.__new__(TypeMeta)
    made.index = index
    return made


@cython.cfunc
def enter_element_types():
    """Fill the part of the table that is known ahead; static memory is zero, so these types are trivial."""
    for code in range(DTYPE_COUNT):
        dtype: DType = dtype_of_code(code)
        if dtype is not None:
            DATA[code].itemsize, NAMES[code] = dtype.itemsize, dtype.name
    NAMES[UNDEFINED] = "nullptr (uninitialized)"


enter_element_types()


set_module("tensix", (TypeIdentifier, TypeMeta))  # See Note [Modules of classes]
