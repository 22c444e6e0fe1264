"""What an element type is, as small numbers: an identifier, and an index into the table of all types.

Types come in three sorts:

* Element types of tensors, such as float32. They are known ahead; their index is PyTorch's ScalarType number.
* Python classes. An element is a reference to an object of the class. To construct one is to call the class, to copy
  it is to take another reference, to destroy it is to give the reference back.
* C structs. An element is the struct's bytes; C functions construct, copy and destroy arrays of it.

The facts are those of PyTorch's ``c10/util/typeid.h``.
"""

import builtins
import operator
import sys
import threading
from importlib import import_module

import cython
import numpy as np
from cython.cimports.cpython.object import PyObject, PyObject_RichCompare
from cython.cimports.cpython.ref import Py_INCREF
from cython.cimports.libc.stdint import uint16_t
from cython.cimports.libc.stdlib import free, malloc
from cython.cimports.libc.string import memcpy
from cython.cimports.tensix.core.allocator import nbytes_from_any
from cython.cimports.tensix.core.data_ptr import address_from_any, c_function_from_any
from cython.cimports.tensix.core.python_reference import decref_with_gil, holds_gil_at_exit, may_run_python
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
    >>> tensix.TypeMeta.make("float16").id == tensix.TypeMeta.make("uint16").id
    False
    >>> tensix.TypeIdentifier()
    TypeIdentifier(0)
    """

    def __init__(self, *args, **kwargs):
        """Make an uninitialized one; `TypeMeta.id` returns the others."""
        if args or kwargs:
            raise import_module("tensix._support.argument_errors").error_of_arguments(type(self), args, kwargs)

    def __richcmp__(self, other, op: cython.int):
        if not isinstance(other, TypeIdentifier):
            return NotImplemented
        that: TypeIdentifier = other
        return PyObject_RichCompare(self.underlying_id, that.underlying_id, op)

    def __hash__(self):
        return self.underlying_id

    def __repr__(self):
        return f"TypeIdentifier({self.underlying_id})"


@cython.final
@cython.cclass
class TypeMeta:
    """TypeMeta()\n--\n
    Describe a type of elements: its name, its size, and what it takes to make and unmake one.

    ``TypeMeta()`` is that of the undefined type. Two are equal if they are of the same type.

    Examples
    --------
    >>> tensix.TypeMeta.make(tensix.float32).itemsize
    4
    >>> tensix.TypeMeta()
    TypeMeta(nullptr (uninitialized))
    """

    def __cinit__(self):
        self.index = UNDEFINED

    def __init__(self, *args, **kwargs):
        """Make an undefined one; `make` returns the others."""
        if args or kwargs:
            raise import_module("tensix._support.argument_errors").error_of_arguments(type(self), args, kwargs)

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
        data = DATA[self.index]
        has_functions = data.construct != cython.NULL or data.copy != cython.NULL or data.destroy != cython.NULL
        return not (data.is_reference or has_functions)

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

    def construct(self, address, count=1):
        """Construct elements in memory of the caller; types that are their bytes need nothing.

        Parameters
        ----------
        address : int
            Where they begin. The memory holds no elements yet, or they are lost without being destroyed.
        count : int, optional
            How many.

        Raises
        ------
        TypeError
            If the type is not default-constructible. What was constructed before the failure is destroyed.

        Notes
        -----
        Lifetime: the elements live until `destroy` is called; a `TypedStorage` destroys its own. The address is not
        checked: a wrong one crashes, as in C.

        Examples
        --------
        >>> import collections, ctypes, tensix
        >>> meta = tensix.register_type(collections.Counter)
        >>> memory = (ctypes.c_void_p * 4)()
        >>> first, third = ctypes.addressof(memory), ctypes.addressof(memory) + 2 * meta.itemsize
        >>> meta.construct(first, 4)
        >>> meta.copy(first, third, 2)
        >>> memory[2] == memory[0]
        True
        >>> meta.destroy(first, 4)
        """
        done: cython.size_t = 0
        number = count_from_any(count)
        elements = elements_at(self, address, number)
        try:
            construct_elements(self.index, elements, number, cython.address(done))
        except BaseException:
            destroy_elements(cython.address(DATA[self.index]), elements, done)
            raise

    def copy(self, source, target, count=1):
        """Copy elements over others, which are constructed and do not overlap them.

        Parameters
        ----------
        source, target : int
            Where they begin; not checked, as by `construct`.
        count : int, optional
            How many.

        Raises
        ------
        TypeError
            If the type does not allow assignment.
        """
        number = count_from_any(count)
        assign_elements(self.index, elements_at(self, source, number), elements_at(self, target, number), number)

    def destroy(self, address, count=1):
        """Destroy elements; the memory stays, and holds none. Types that are their bytes need nothing.

        Parameters
        ----------
        address : int
            Where they begin; not checked, as by `construct`.
        count : int, optional
            How many.
        """
        number = count_from_any(count)
        destroy_elements(cython.address(DATA[self.index]), elements_at(self, address, number), number)

    def __richcmp__(self, other, op: cython.int):
        if not isinstance(other, TypeMeta):
            return NotImplemented
        that: TypeMeta = other
        return PyObject_RichCompare(self.index, that.index, op)

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
        If it is not a class, or a type that tensix has already, such as float.
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
    ctypes = sys.modules.get("ctypes")  # without it there are no structs of it
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


def TypeMeta_of_index(index):
    """Return the description that stands at an index of the table."""
    made: TypeMeta = TypeMeta.__new__(TypeMeta)
    made.index = index
    return made


# ---- elements in memory
#
# No Python code runs between reading and writing a reference, so that elements may change or go while they are copied.


@cython.cfunc
@cython.exceptval(-1, check=True)
def count_from_any(count) -> cython.size_t:
    if operator.index(count) < 0:
        raise ValueError(f"the number of elements must be 0 or more, found {count}.")
    return operator.index(count)


@cython.cfunc
@cython.exceptval(check=True)
def elements_at(self: TypeMeta, address, count: cython.size_t) -> cython.p_void:
    """Return an address that a caller gives; null only if it is for nothing."""
    found = address_from_any(address, "address")
    if found == 0 and count and DATA[self.index].itemsize:
        raise ValueError(f"{count:,} elements of {self.name} cannot be at a null address.")
    return cython.cast(cython.p_void, found)


def construct_elements(type_index, elements, count, done):
    """Construct one element after the other, and count them."""
    data = cython.address(DATA[type_index])
    if data.is_reference:
        cls = CLASSES[type_index]
        while done[0] < count:
            element = new_object(cls, type_index)
            Py_INCREF(element)
            cython.cast(reference_p, elements)[done[0]] = cython.cast(cython.pointer(PyObject), element)
            done[0] += 1
        return 0
    if data.construct == cython.NULL and data.destroy != cython.NULL:
        raise TypeError(
            f"Type {NAMES[type_index]} is not default-constructible: it was registered with destroy, but without "
            "construct."
        )
    if data.construct != cython.NULL and count:
        data.construct(elements, count)
    done[0] = count
    return 0


@cython.cfunc
def new_object(cls, type_index: uint16_t):
    """Call a class without arguments."""
    try:
        made = cls()
        if not isinstance(made, cls):
            raise TypeError(f"calling it gave a {type(made).__name__}")
    except TypeError as error:
        raise TypeError(f"Type {NAMES[type_index]} is not default-constructible: {error}.") from error
    return made


def check_assignable(type_index, source, target, count):
    """Check that elements can be copied, from and to somewhere."""
    data = cython.address(DATA[type_index])
    if not data.is_assignable:
        why = "its __copy__ is None" if data.is_reference else "it was registered with destroy, but without copy"
        raise TypeError(f"Type {NAMES[type_index]} does not allow assignment: {why}.")
    if count and not (source and target):
        raise RuntimeError(f"cannot copy {count:,} elements from or to a null address.")
    return 0


def assign_elements(type_index, source, target, count):
    """Copy elements over others, which are constructed and do not overlap them."""
    check_assignable(type_index, source, target, count)
    data = cython.address(DATA[type_index])
    if not data.is_reference:
        copy_structs(data, source, target, count)
        return 0
    replaced = cython.cast(reference_p, malloc(count * data.itemsize + 1))  # no list: that may run the collector
    if replaced == cython.NULL:
        raise MemoryError(f"no memory to keep {count:,} elements that are to be replaced.")
    if count:
        memcpy(replaced, target, count * data.itemsize)
    copy_references(source, target, count)
    drop_references(replaced, count)  # last: this may run Python code, which may read either side
    free(replaced)
    return 0


def copy_references(source, target, count):
    """Take a reference to every object, over what `target` held."""
    references = cython.cast(reference_p, source)
    for i in range(count):
        Py_INCREF(cython.cast(object, references[i]))
    if count:
        memcpy(target, source, count * cython.sizeof(cython.pointer(PyObject)))


def copy_structs(data, source, target, count):
    if data.copy != cython.NULL and count:
        data.copy(source, target, count)
    elif count:
        memcpy(target, source, count * data.itemsize)


def destroy_elements(data, elements, count):
    """Destroy elements, or return False if that may no longer be done. See Note [GIL and finalisation]."""
    if count and data.is_reference:
        if not (may_run_python() or holds_gil_at_exit()):
            return False
        with cython.gil:
            drop_references(cython.cast(reference_p, elements), count)
    elif count and data.destroy != cython.NULL:
        if data.destroy_is_python and not may_run_python():
            return False
        data.destroy(elements, count)
    return True


@cython.cfunc
@cython.exceptval(check=False)
def drop_references(references: reference_p, count: cython.size_t) -> cython.void:
    for i in range(count):
        decref_with_gil(references[i])


@cython.cfunc
def enter_element_types():
    """Fill the part of the table that is known ahead; static memory is zero, so these types are trivial."""
    for code in range(DTYPE_COUNT):
        DATA[code].is_assignable = True
        dtype: DType = dtype_of_code(code)
        if dtype is not None:
            DATA[code].itemsize, NAMES[code] = dtype.itemsize, dtype.name
    NAMES[UNDEFINED] = "nullptr (uninitialized)"


enter_element_types()
