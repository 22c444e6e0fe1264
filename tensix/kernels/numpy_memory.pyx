"""Calls of NumPy in which its arrays lie in memory of tensix.

Note [Memory of NumPy's results]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
What NumPy computes for us is a tensor in the end, so its memory must come from where that of all tensors comes: the
allocator in use, with its alignment, limits and statistics. NumPy lets the functions that allocate be exchanged, and
each array remembers those that it was made with (NEP 49). They are ours during a call, for NumPy's temporary arrays
too. A result's block then moves from its array into a storage, and the array goes; only of an array that is a view of
another is the storage a view as well.

NumPy says "no memory" in words of its own; the allocator's error is kept aside and raised in its place.
"""
cimport cython
from cpython.pycapsule cimport PyCapsule_New
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport PyObject
from libc.stdint cimport uint8_t, uintptr_t
from libc.string cimport memcpy, memset
from numpy cimport NPY_ARRAY_OWNDATA, PyArray_CHKFLAGS, PyArray_CLEARFLAGS, PyArray_Check, import_array, ndarray
from tensix.core.allocator cimport Allocator, Allocator_allocate, current_allocator
from tensix.core.data_ptr cimport data_ptr_destroy, data_ptr_move, data_ptr_t
from tensix.core.device cimport CPU
from tensix.core.python_reference cimport (
    restore_exception,
    drop_python_reference,
    may_run_python,
    save_exception,
)
from tensix.core.storage_impl cimport StorageImpl
from tensix.exchange.ndarray cimport impl_of_ndarray
from tensix.exchange.numpy_calls cimport call_checked, call_ignoring_errors
from tensix.tensors.tensor_base cimport Tensor_wrap
from tensix.tensors.tensor_impl cimport TensorImpl

import numpy as np

import_array()

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyDataMemAllocator:
        void* ctx
        void* (*malloc)(void* ctx, size_t size) noexcept
        void* (*calloc)(void* ctx, size_t count, size_t size) noexcept
        void* (*realloc)(void* ctx, void* data, size_t size) noexcept
        void (*free)(void* ctx, void* data, size_t size) noexcept
    ctypedef struct PyDataMem_Handler:
        char name[127]
        uint8_t version
        PyDataMemAllocator allocator
    object PyDataMem_SetHandler(object handler)
    PyObject* PyArray_HANDLER(ndarray array)
    PyObject* PyArray_BASE(ndarray array)


cdef PyDataMem_Handler OURS
cdef object HANDLER       # the capsule of OURS
cdef dict BLOCKS = {}     # address -> the Block of everything that NumPy has from us
cdef dict FAILURES = {}   # thread -> what its allocator raised, until NumPy's MemoryError arrives


@cython.final
@cython.no_gc  # an allocator may lie in a cycle, but no array in NumPy's hands is ever part of one
@cython.freelist(16)
cdef class Block:
    """One block that NumPy has."""

    cdef data_ptr_t pointer
    cdef Allocator allocator
    cdef size_t nbytes

    def __dealloc__(self):
        data_ptr_destroy(&self.pointer)


cdef object call_numpy(object function, tuple args, dict kwargs=None, bint computes=False):
    """Call a function of NumPy with our memory; what computes must not warn. See Note [Memory of NumPy's results]."""
    before = PyDataMem_SetHandler(HANDLER)
    try:
        if computes:
            return call_ignoring_errors(function, args, kwargs)
        return call_checked(function, args, kwargs)
    except MemoryError:
        failure = FAILURES.pop(PyThread_get_thread_ident(), None)
        if failure is None:
            raise
        raise failure from None
    finally:
        PyDataMem_SetHandler(before)


def computed(function, *args):
    """Return what a function of NumPy makes of its arguments, as a tensor. See Note [Memory of NumPy's results]."""
    return Tensor_wrap(take_over(call_numpy(function, args, None, True)))


cdef TensorImpl take_over(object found):
    """Return a body over the elements of an array, or of a number of NumPy, that nothing else refers to."""
    cdef ndarray array = found if PyArray_Check(found) else call_numpy(np.array, (found,))
    cdef TensorImpl impl = impl_of_ndarray(array, False)
    cdef StorageImpl storage = impl.storage
    cdef ndarray owner = array
    while PyArray_BASE(owner) != NULL and PyArray_Check(<object>PyArray_BASE(owner)):
        owner = <ndarray>PyArray_BASE(owner)
    if not PyArray_CHKFLAGS(owner, NPY_ARRAY_OWNDATA) or PyArray_HANDLER(owner) != <PyObject*>HANDLER:
        return impl
    cdef Block block = BLOCKS[<uintptr_t>owner.data]
    storage.owner = block.allocator
    if array is owner and storage.block.data == <void*>array.data:  # a view goes on keeping its array
        del BLOCKS[<uintptr_t>array.data]
        PyArray_CLEARFLAGS(array, NPY_ARRAY_OWNDATA)
        drop_python_reference(storage.block.keep_alive, True)  # to the array, which `array` keeps alive
        storage.block.keep_alive = NULL
        data_ptr_move(&storage.block, &block.pointer)
    return impl


# ---- what NumPy calls, with or without the GIL


cdef void* allocate(void* ctx, size_t size) noexcept with gil:
    cdef Block block
    try:
        block = Block.__new__(Block)
        block.allocator = current_allocator(CPU)
        Allocator_allocate(block.allocator, size if size else 1, &block.pointer)
        block.nbytes = size
        BLOCKS[<uintptr_t>block.pointer.data] = block
    except BaseException as error:
        FAILURES[PyThread_get_thread_ident()] = error
        return NULL
    return block.pointer.data


cdef void* allocate_zeros(void* ctx, size_t count, size_t size) noexcept nogil:
    cdef void* data = NULL
    if size == 0 or count <= <size_t>-1 // size:
        data = allocate(ctx, count * size)
    if data != NULL:
        memset(data, 0, count * size)
    return data


cdef void* reallocate(void* ctx, void* data, size_t size) noexcept with gil:
    cdef Block block
    cdef void* moved = allocate(ctx, size)
    if moved != NULL and data != NULL:
        block = BLOCKS[<uintptr_t>data]
        memcpy(moved, data, min(size, block.nbytes))
        del BLOCKS[<uintptr_t>data]
    return moved


cdef void release(void* ctx, void* data, size_t size) noexcept nogil:
    if data != NULL and may_run_python():  # afterwards its allocator cannot be found: it stays
        with gil:
            forget(<uintptr_t>data)


cdef int forget(uintptr_t address) noexcept:
    """Free a block; the array that had it may go while an exception is on its way."""
    pending = save_exception()
    BLOCKS.pop(address, None)
    restore_exception(pending)
    return 0


OURS.name[:7] = b"tensix\0"
OURS.version = 1
OURS.allocator.malloc, OURS.allocator.calloc = allocate, allocate_zeros
OURS.allocator.realloc, OURS.allocator.free = reallocate, release
HANDLER = PyCapsule_New(&OURS, "mem_handler", NULL)
