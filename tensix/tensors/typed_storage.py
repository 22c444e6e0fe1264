"""A storage of Python objects or C structs, as a sequence."""

import operator

import cython
from cython.cimports.cpython.bytes import PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cython.cimports.cpython.object import PyObject
from cython.cimports.tensix.core.cow_context import cow_is_cow
from cython.cimports.tensix.core.handle import retain
from cython.cimports.tensix.core.memory_reports import OUT_OF_SIGHT
from cython.cimports.tensix.core.storage import Storage, Storage_from_owned
from cython.cimports.tensix.core.storage_impl import (
    StorageImpl_check_readable, StorageImpl_mutable_data, StorageImpl_report_use,
)
from cython.cimports.tensix.tensors.element_allocator import (
    ElementAllocator, elements_of_storage, placement_delete_context_t,
)
from cython.cimports.tensix.tensors.type_meta import (
    TypeMeta, TypeMeta_of_index, assign_elements, type_meta_class, type_meta_data,
)

__all__ = ["TypedStorage"]

context_p = cython.typedef(cython.pointer(placement_delete_context_t))


@cython.final
@cython.cclass
class TypedStorage:
    """TypedStorage(type, count, allocator=None)\n--\n
    Hold elements of a registered type: constructed now, destroyed with the storage.

    Elements are read, written and counted as those of a list of fixed length. Those of a Python class are the objects
    themselves; those of a C struct are read as `bytes` and written from any buffer of as many bytes.

    Parameters
    ----------
    type : TypeMeta or registered class
        Of the elements. For numbers there are tensors.
    count : int
        How many elements to construct.
    allocator : Allocator or None, optional
        The allocator that makes the memory; None means the current CPU allocator.

    Attributes
    ----------
    type_meta : TypeMeta
        Of the elements.

    Raises
    ------
    TypeError
        If the type is not registered, or not default-constructible.
    OutOfMemoryError
        If there is no memory. Here as after any failure, the elements constructed so far are destroyed.

    Notes
    -----
    Lifetime: elements live as long as the storage: as any handle on it. The collector does not traverse storages: an
    object that leads back to the storage it is in is never freed.

    Thread-safety: as any Python object. Elements are destroyed on the thread that drops the storage.

    Examples
    --------
    >>> import fractions, tensix
    >>> _ = tensix.register_type(fractions.Fraction)
    >>> storage = tensix.TypedStorage(fractions.Fraction, 3)
    >>> storage[1] = fractions.Fraction(1, 3)
    >>> len(storage), storage[0], storage[1]
    (3, Fraction(0, 1), Fraction(1, 3))
    >>> storage.clone()[1] is storage[1]
    True
    """

    def __init__(self, type, count, allocator=None):
        meta: TypeMeta = TypeMeta.make(type)
        if meta.is_scalar_type():
            raise TypeError(f"elements of type {meta.name} are what tensors are for: use empty().")
        nbytes = operator.index(count) * meta.itemsize
        if nbytes < 0:
            raise ValueError(f"a storage has 0 elements or more, found {count}.")
        own(self, Storage(nbytes, ElementAllocator(meta, allocator)), meta)

    @staticmethod
    @cython.binding(True)
    def from_storage(storage: Storage):
        """Return a view of a storage that holds elements, such as the clone of one.

        Raises
        ------
        TypeError
            If it holds none.
        """
        if storage.target is None:
            raise RuntimeError("the Storage is null: it was reset or released and owns nothing.")
        context = elements_of_storage(storage.target)
        made: TypedStorage = TypedStorage.__new__(TypedStorage)
        retain(storage.target)
        made.handle, made.type_meta = Storage_from_owned(storage.target), TypeMeta_of_index(context.type_index)
        return made

    def storage(self):
        """Return a handle on the storage.

        Its bytes can be read, but only through here be written, unless the type is trivial: what is not an element must
        not be destroyed as one.
        """
        check_filled(self)
        retain(self.handle.target)
        return Storage_from_owned(self.handle.target)

    def clone(self):
        """Return a storage with a copy of every element.

        Raises
        ------
        TypeError
            If the type does not allow assignment.
        """
        made: TypedStorage = TypedStorage.__new__(TypedStorage)
        check_filled(self)
        own(made, self.handle.clone(), self.type_meta)
        return made

    def __len__(self):
        check_filled(self)
        return elements_of_storage(self.handle.target).count

    def __getitem__(self, index):
        check_filled(self)
        position: cython.Py_ssize_t = operator.index(index)
        StorageImpl_check_readable(self.handle.target)
        context = checked_elements(self)
        address = element_address(context, position)
        if context.type.is_reference:
            return cython.cast(object, cython.cast(cython.pointer(cython.pointer(PyObject)), address)[0])
        return PyBytes_FromStringAndSize(address, context.type.itemsize)

    def __setitem__(self, index, value):
        check_filled(self)
        position: cython.Py_ssize_t = operator.index(index)
        data = type_meta_data(self.type_meta.index)
        reference = cython.cast(cython.pointer(PyObject), value)
        source = cython.cast(cython.p_void, cython.address(reference))
        if data.is_reference:
            if not isinstance(value, type_meta_class(self.type_meta.index)):
                raise TypeError(f"an element must be a {self.type_meta.name}, found {type(value).__name__}.")
        else:
            content: bytes = memoryview(value).tobytes()
            if cython.cast(cython.size_t, len(content)) != data.itemsize:
                raise ValueError(
                    f"an element of {self.type_meta.name} has {data.itemsize} bytes, found {len(content)}."
                )
            source = PyBytes_AS_STRING(content)
        storage = self.handle.target
        if storage.is_readonly:
            raise RuntimeError("cannot write to a read-only storage. Make a writable copy with clone().")
        if cow_is_cow(cython.address(storage.block)):
            StorageImpl_mutable_data(storage)
        # From here on no Python code runs before the element is written.
        assign_elements(self.type_meta.index, source, element_address(checked_elements(self), position), 1)

    def __repr__(self):
        if self.handle is None:
            return "TypedStorage()"
        return f"TypedStorage({self.type_meta.name}, {len(self)})"


@cython.cfunc
@cython.exceptval(-1)
def own(self: TypedStorage, storage: Storage, type_meta: TypeMeta) -> cython.int:
    """Own a new storage; unless its elements are plain bytes, nothing else may write them."""
    if self.handle is not None:
        raise RuntimeError("a TypedStorage is filled once: make a new one instead of calling __init__ again.")
    StorageImpl_report_use(storage.target, OUT_OF_SIGHT)  # elements are read and written where they lie
    if not type_meta.is_trivial:
        storage.target.set_throw_on_mutable_data_ptr()
    self.handle, self.type_meta = storage, type_meta
    return 0


@cython.cfunc
@cython.exceptval(-1)
def check_filled(self: TypedStorage) -> cython.int:
    if self.handle is None:
        raise RuntimeError("the TypedStorage is null: it was made without __init__.")
    return 0


@cython.cfunc
def checked_elements(self: TypedStorage) -> context_p:
    """Return the context of the storage's elements, which must be of the type that they were."""
    context = elements_of_storage(self.handle.target)
    if context.type_index != self.type_meta.index:
        raise TypeError(
            f"the storage holds {TypeMeta_of_index(context.type_index).name} now: its block was replaced. "
            "Make another TypedStorage of it with from_storage()."
        )
    return context


@cython.cfunc
def element_address(context: context_p, position: cython.Py_ssize_t) -> cython.p_char:
    """Return where an element is; a negative position counts from the end."""
    count: cython.Py_ssize_t = context.count
    if not -count <= position < count:
        raise IndexError(f"index {position} is out of bounds for a storage of {count} elements.")
    return cython.cast(cython.p_char, context.block.data) + (position + count * (position < 0)) * context.type.itemsize
