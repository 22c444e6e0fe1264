"""Memory whose elements are constructed when it is made and destroyed before it is freed.

Note [Elements that are not plain bytes]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Storages move bytes through their allocator alone, so an allocator is the place to teach them what an element is. The
block of an `ElementAllocator` has a context of its own, which owns upstream's block and the number of elements
constructed in it. Its deleter destroys the elements, then frees upstream's block. Hence:

* a construction that fails half-way frees the context as it is: what was constructed is destroyed, nothing else;
* ``clone()`` and ``resize_()`` of a storage go element by element, since they ask the allocator;
* the context is more than the allocation, so that copy-on-write, which would copy bytes, is never begun; only
  read-only storages share their block, and its last sharer asks the allocator too.

No Python code runs between reading and writing a reference, so that elements may change or go while they are copied.
See Note [GIL and finalisation]: references are given back, and functions that may be Python called, as it says; if they
cannot, the block leaks. PyTorch's word for such a context is ``PlacementDeleteContext``.
"""

import cython
from cython.cimports.cpython.object import PyObject
from cython.cimports.cpython.ref import Py_INCREF
from cython.cimports.libc.stdint import uint16_t
from cython.cimports.libc.stdlib import free, malloc
from cython.cimports.libc.string import memcpy
from cython.cimports.tensix.core.allocator import Allocator, Allocator_allocate, current_allocator, nbytes_from_any
from cython.cimports.tensix.core.cow_context import cow_is_cow
from cython.cimports.tensix.core.data_ptr import (
    DataPtr_wrap,
    address_from_any,
    data_ptr_destroy,
    data_ptr_facts,
    data_ptr_init,
    data_ptr_operations,
    data_ptr_operations_t,
    data_ptr_t,
)
from cython.cimports.tensix.core.device import CPU
from cython.cimports.tensix.core.python_reference import PyGILState_Check, decref_with_gil, may_run_python
from cython.cimports.tensix.core.refcounted_deleter import refcounted_is_shared
from cython.cimports.tensix.core.shared_context import shared_context_t
from cython.cimports.tensix.tensors.type_meta import TypeMeta, TypeMeta_of_index, type_meta_class, type_meta_data

__all__ = ["ElementAllocator"]

context_p = cython.typedef(cython.pointer(placement_delete_context_t))
reference_p = cython.typedef(cython.pointer(cython.pointer(PyObject)))


@cython.final
@cython.cclass
class ElementAllocator(Allocator):
    """Make blocks of constructed elements; `TypedStorage` is the comfortable way to have one.

    Parameters
    ----------
    type_meta : TypeMeta
        Of the elements.
    upstream : Allocator or None, optional
        Who makes the memory, on the CPU; None means the current CPU allocator.

    Attributes
    ----------
    type_meta : TypeMeta
        Of the elements.
    upstream : Allocator
        Who makes the memory.

    Notes
    -----
    Lifetime: a storage keeps the allocator alive, and the block its elements.

    Thread-safety: as any allocator; elements are destroyed on the thread that drops the storage.

    Examples
    --------
    >>> import tensix
    >>> from tensix.tensors.element_allocator import ElementAllocator
    >>> allocator = ElementAllocator(tensix.register_type(list))
    >>> storage = tensix.Storage(3 * allocator.type_meta.itemsize, allocator)
    >>> len(tensix.TypedStorage.from_storage(storage))
    3
    """

    def __init__(self, type_meta: TypeMeta, upstream: Allocator | None = None):
        if self.type_meta is not None:
            raise RuntimeError("an ElementAllocator is filled once: make a new one instead of calling __init__ again.")
        if isinstance(upstream, ElementAllocator):
            raise TypeError("an ElementAllocator needs plain memory, found another ElementAllocator as upstream.")
        self.type_meta = type_meta
        self.upstream = current_allocator(CPU) if upstream is None else upstream

    def allocate(self, nbytes):
        """Return a block of default-constructed elements.

        Raises
        ------
        ValueError
            If `nbytes` is not a multiple of the item size.
        TypeError
            If the type is not default-constructible.
        OutOfMemoryError
            If there is no memory.
        """
        count: cython.size_t = 0
        context = take_memory(self, nbytes, cython.address(count))
        try:
            construct_elements(context, count)
        except BaseException:
            placement_delete(context)
            raise
        return wrap(context)

    def clone(self, address, nbytes):
        """Return a block with a copy of every element; parameters as for `Allocator.clone`.

        Raises
        ------
        TypeError
            If the type does not allow assignment.
        """
        count: cython.size_t = 0
        source = cython.cast(cython.p_void, address_from_any(address, "address"))
        context = take_memory(self, nbytes, cython.address(count))
        try:
            check_assignable(context.type_index, source, context.block.data, count)
            if not context.type.is_reference:
                construct_structs(context, count)
        except BaseException:
            placement_delete(context)
            raise
        if context.type.is_reference:
            copy_references(source, context.block.data, count)
        else:
            copy_structs(context.type, source, context.block.data, count)
        context.count = count
        return wrap(context)

    def copy_data(self, dst, src, nbytes):
        """Assign elements to others; parameters as for `Allocator.copy_data`."""
        count = count_of(self, nbytes_from_any(nbytes))
        source = cython.cast(cython.p_void, address_from_any(src, "src"))
        target = cython.cast(cython.p_void, address_from_any(dst, "dst"))
        assign_elements(self.type_meta.index, source, target, count)

    def is_simple_data_ptr(self, data_ptr):
        """Return False: the context knows the elements."""
        return False


@cython.cfunc
def take_memory(self: ElementAllocator, nbytes, count: cython.pointer(cython.size_t)) -> context_p:
    """Return a context over upstream's memory in which nothing is constructed, and count the elements it is for."""
    size: cython.size_t = nbytes_from_any(nbytes)
    count[0] = count_of(self, size)
    context = cython.cast(context_p, malloc(cython.sizeof(placement_delete_context_t)))
    if context == cython.NULL:
        raise MemoryError("no memory for the context of a block of elements.")
    try:
        Allocator_allocate(self.upstream, size, cython.address(context.block))
    except BaseException:
        free(context)
        raise
    context.type_index, context.count = self.type_meta.index, 0
    context.type = type_meta_data(context.type_index)
    if context.block.device_type != CPU:
        placement_delete(context)
        raise ValueError("elements are constructed by the CPU: give an upstream allocator of main memory.")
    return context


@cython.cfunc
@cython.exceptval(-1, check=True)
def count_of(self: ElementAllocator, nbytes: cython.size_t) -> cython.size_t:
    """Return how many elements a size in bytes is."""
    if self.type_meta is None:
        raise RuntimeError("the ElementAllocator is null: it was made without __init__.")
    itemsize: cython.size_t = type_meta_data(self.type_meta.index).itemsize
    if itemsize == 0 or nbytes % itemsize:
        raise ValueError(f"{nbytes:,} bytes are no whole number of {self.type_meta.name} of {itemsize} bytes each.")
    return nbytes // itemsize


@cython.cfunc
def wrap(context: context_p):
    """Return an owner of a context."""
    block: data_ptr_t
    data_ptr_init(cython.address(block), context.block.data, context, cython.address(placement_operations))
    block.device_index = context.block.device_index
    return DataPtr_wrap(cython.address(block))


@cython.cfunc
@cython.exceptval(-1)
def construct_elements(context: context_p, count: cython.size_t) -> cython.int:
    """Construct one element after the other, and have the context count them."""
    if not context.type.is_reference:
        return construct_structs(context, count)
    cls = type_meta_class(context.type_index)
    while context.count < count:
        element = new_object(cls, context.type_index)
        Py_INCREF(element)
        cython.cast(reference_p, context.block.data)[context.count] = cython.cast(cython.pointer(PyObject), element)
        context.count += 1
    return 0


@cython.cfunc
def new_object(cls, type_index: uint16_t):
    """Call a class without arguments."""
    try:
        made = cls()
        if not isinstance(made, cls):
            raise TypeError(f"calling it gave a {type(made).__name__}")
    except TypeError as error:
        name = TypeMeta_of_index(type_index).name
        raise TypeError(f"Type {name} is not default-constructible: {error}.") from error
    return made


@cython.cfunc
@cython.exceptval(-1)
def construct_structs(context: context_p, count: cython.size_t) -> cython.int:
    if context.type.construct == cython.NULL and context.type.destroy != cython.NULL:
        raise TypeError(
            f"Type {TypeMeta_of_index(context.type_index).name} is not default-constructible: it was registered with "
            "destroy, but without construct."
        )
    if context.type.construct != cython.NULL and count:
        context.type.construct(context.block.data, count)
    context.count = count
    return 0


@cython.cfunc
@cython.exceptval(-1)
def check_assignable(
    type_index: uint16_t, source: cython.p_void, target: cython.p_void, count: cython.size_t
) -> cython.int:
    data = type_meta_data(type_index)
    if not data.is_assignable:
        why = "its __copy__ is None" if data.is_reference else "it was registered with destroy, but without copy"
        raise TypeError(f"Type {TypeMeta_of_index(type_index).name} does not allow assignment: {why}.")
    if count and not (source and target):
        raise RuntimeError(f"cannot copy {count:,} elements from or to a null address.")
    return 0


def assign_elements(type_index, source, target, count):
    """Copy elements over others, which are constructed and do not overlap them."""
    check_assignable(type_index, source, target, count)
    data = type_meta_data(type_index)
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


@cython.cfunc
@cython.exceptval(check=False)
def copy_references(source: cython.p_void, target: cython.p_void, count: cython.size_t) -> cython.void:
    """Take a reference to every object, over what `target` held."""
    references = cython.cast(reference_p, source)
    for i in range(count):
        Py_INCREF(cython.cast(object, references[i]))
    if count:
        memcpy(target, source, count * cython.sizeof(cython.pointer(PyObject)))


@cython.cfunc
@cython.exceptval(check=False)
def copy_structs(
    data: cython.pointer(type_meta_data_t), source: cython.p_void, target: cython.p_void, count: cython.size_t
) -> cython.void:
    if data.copy != cython.NULL and count:
        data.copy(source, target, count)
    elif count:
        memcpy(target, source, count * data.itemsize)


def elements_of_storage(storage):
    """Return the context behind a storage's block, also if the block is shared.

    Raises
    ------
    TypeError
        If there is none.
    """
    block = cython.address(storage.block)
    while cow_is_cow(block) or refcounted_is_shared(block):
        block = cython.address(cython.cast(cython.pointer(shared_context_t), block.ctx).original)
    if data_ptr_operations(block) != cython.address(placement_operations):
        raise TypeError("the storage does not hold elements: its block was not made by a TypedStorage.")
    return cython.cast(context_p, block.ctx)


def placement_delete(ctx):
    """Destroy the elements and free their memory. See Note [Elements that are not plain bytes]."""
    context = cython.cast(context_p, ctx)
    if context.count and context.type.is_reference:
        if not (may_run_python() or PyGILState_Check()):
            return
        with cython.gil:
            drop_references(cython.cast(reference_p, context.block.data), context.count)
    elif context.count and context.type.destroy != cython.NULL:
        if context.type.destroy_is_python and not may_run_python():
            return
        context.type.destroy(context.block.data, context.count)
    data_ptr_destroy(cython.address(context.block))
    free(context)


@cython.cfunc
@cython.exceptval(check=False)
def drop_references(references: reference_p, count: cython.size_t) -> cython.void:
    for i in range(count):
        decref_with_gil(references[i])


@cython.cfunc
def placement_facts(ctx: cython.p_void) -> dict:
    context = cython.cast(context_p, ctx)
    return {
        "elements": context.count,
        "type": TypeMeta_of_index(context.type_index).name,
        "block": data_ptr_facts(cython.address(context.block)),
    }


placement_operations = data_ptr_operations_t(
    placement_delete, cython.NULL, b"placement_delete", b"constructed elements", placement_facts
)
