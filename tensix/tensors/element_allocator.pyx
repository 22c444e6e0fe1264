"""Memory whose elements are constructed when it is made and destroyed before it is freed.

Note [Elements that are not plain bytes]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Storages move bytes through their allocator alone, so an allocator is the place to teach them what an element is. The
block of an `ElementAllocator` has a context of its own, which owns upstream's block and the number of elements
constructed in it. Its deleter destroys the elements, then frees upstream's block. Hence:

* a construction that fails half-way frees the context: what was constructed is destroyed, nothing else;
* ``clone()`` and ``resize_()`` of a storage go element by element, since they ask the allocator;
* the context is more than the allocation, so that copy-on-write, which would copy bytes, is never begun; only
  read-only storages share their block, and its last sharer asks the allocator too.

See Note [GIL and finalisation]: references are given back, and functions that may be Python called, as it says; if they
cannot, the block leaks. PyTorch's word for such a context is ``PlacementDeleteContext``.
"""

cimport cython
from libc.stdlib cimport free, malloc
from tensix.core.allocator cimport Allocator, Allocator_allocate, current_allocator, nbytes_from_any
from tensix.core.cow_context cimport cow_is_cow
from tensix.core.data_ptr cimport (
    DataPtr_wrap, address_from_any, data_ptr_destroy, data_ptr_facts, data_ptr_init, data_ptr_operations,
    data_ptr_operations_t, data_ptr_t,
)
from tensix.core.device cimport CPU
from tensix.core.refcounted_deleter cimport refcounted_is_shared
from tensix.core.shared_context cimport shared_context_t
from tensix.tensors.type_meta cimport (
    TypeMeta, TypeMeta_of_index, assign_elements, check_assignable, construct_elements, copy_references, copy_structs,
    destroy_elements, type_meta_data,
)

__all__ = ["ElementAllocator"]


@cython.final
cdef class ElementAllocator(Allocator):
    """Make blocks of constructed elements; `TypedStorage` is the comfortable way to have one.

    Parameters
    ----------
    type_meta : TypeMeta
        Of the elements.
    upstream : Allocator or None, optional
        The allocator that makes the memory, on the CPU; None means the current CPU allocator.

    Attributes
    ----------
    type_meta : TypeMeta
        Of the elements.
    upstream : Allocator
        The allocator that makes the memory.

    Notes
    -----
    Lifetime: a storage keeps the allocator alive, and the block its elements.

    Thread-safety: as any allocator; elements are destroyed on the thread that drops the storage.

    Examples
    --------
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
        cdef size_t count = 0
        context = take_memory(self, nbytes, &count)
        try:
            construct_elements(context.type_index, context.block.data, count, &context.count)
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
        cdef size_t count = 0
        source = <void*>address_from_any(address, "address")
        context = take_memory(self, nbytes, &count)
        try:
            check_assignable(context.type_index, source, context.block.data, count)
            if not context.type.is_reference:
                construct_elements(context.type_index, context.block.data, count, &context.count)
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
        source = <void*>address_from_any(src, "src")
        target = <void*>address_from_any(dst, "dst")
        assign_elements(self.type_meta.index, source, target, count)

    def is_simple_data_ptr(self, data_ptr):
        """Return False: the context knows the elements."""
        return False


cdef placement_delete_context_t* take_memory(ElementAllocator self, object nbytes, size_t* count):
    """Return a context over upstream's memory in which nothing is constructed, and count the elements it is for."""
    cdef size_t size = nbytes_from_any(nbytes)
    count[0] = count_of(self, size)
    context = <placement_delete_context_t*>(malloc(sizeof(placement_delete_context_t)))
    if context == NULL:
        raise MemoryError("no memory for the context of a block of elements.")
    try:
        Allocator_allocate(self.upstream, size, &context.block)
    except BaseException:
        free(context)
        raise
    context.type_index, context.count = self.type_meta.index, 0
    context.type = type_meta_data(context.type_index)
    if context.block.device_type != CPU:
        placement_delete(context)
        raise ValueError("elements are constructed by the CPU: give an upstream allocator of main memory.")
    return context


cdef size_t count_of(ElementAllocator self, size_t nbytes) except? -1:
    """Return how many elements a size in bytes is."""
    if self.type_meta is None:
        raise RuntimeError("the ElementAllocator is null: it was made without __init__.")
    cdef size_t itemsize = type_meta_data(self.type_meta.index).itemsize
    if itemsize == 0 or nbytes % itemsize:
        raise ValueError(f"{nbytes:,} bytes are not a whole number of {self.type_meta.name} of {itemsize} bytes each.")
    return nbytes // itemsize


cdef object wrap(placement_delete_context_t* context):
    """Return an owner of a context."""
    cdef data_ptr_t block
    data_ptr_init(&block, context.block.data, context, &placement_operations)
    block.device_index = context.block.device_index
    return DataPtr_wrap(&block)


cdef placement_delete_context_t* elements_of_storage(StorageImpl storage) except NULL:
    """Return the context behind a storage's block, also if the block is shared.

    Raises
    ------
    TypeError
        If there is none.
    """
    block = &storage.block
    while cow_is_cow(block) or refcounted_is_shared(block):
        block = &(<shared_context_t*>block.ctx).original
    if data_ptr_operations(block) != &placement_operations:
        raise TypeError("the storage does not hold elements: its block was not made by a TypedStorage.")
    return <placement_delete_context_t*>block.ctx


cdef void placement_delete(void* ctx) noexcept nogil:
    """Destroy the elements and free their memory. See Note [Elements that are not plain bytes]."""
    context = <placement_delete_context_t*>ctx
    if not destroy_elements(context.type, context.block.data, context.count):
        return
    data_ptr_destroy(&context.block)
    free(context)


cdef dict placement_facts(void* ctx):
    context = <placement_delete_context_t*>ctx
    return {
        "elements": context.count,
        "type": TypeMeta_of_index(context.type_index).name,
        "block": data_ptr_facts(&context.block),
    }


cdef data_ptr_operations_t placement_operations = data_ptr_operations_t(
    placement_delete, NULL, b"placement_delete", b"constructed elements", placement_facts
)
