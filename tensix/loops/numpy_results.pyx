"""Calls of NumPy in which its arrays lie in memory of tensix.

Note [Memory of NumPy's results]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
What NumPy computes for us is a tensor in the end, so its memory must come from where that of all tensors comes: the
allocator in use, with its alignment, limits and statistics. NumPy lets the functions that allocate be exchanged, and
each array remembers those that it was made with: Note [NumPy's handler] in ``memory/numpy_memory.pyx``. They are ours
during a call, for NumPy's temporary arrays too. A result's block then moves from its array into a storage, and the
array goes; only of an array that is a view of another is the storage a view as well.

NumPy says "no memory" in words of its own; the allocator's error is kept aside and raised in its place.
"""
from cpython.ref cimport PyObject
from numpy cimport NPY_ARRAY_OWNDATA, PyArray_CHKFLAGS, PyArray_CLEARFLAGS, PyArray_Check, import_array, ndarray
from tensix.core.python_reference cimport drop_python_reference
from tensix.core.storage_impl cimport StorageImpl, StorageImpl_watch
from tensix.exchange.ndarray cimport impl_of_ndarray, ndarray_of_type
from tensix.exchange.numpy_calls cimport call_checked, call_ignoring_errors
from tensix.memory.numpy_memory cimport RESULTS_HANDLER, allocator_of_block, take_block, take_failure
from tensix.tensors.dtype cimport BFLOAT16, dtype_of_code, numpy_dtype_of
from tensix.tensors.tensor_base cimport Tensor_wrap
from tensix.tensors.tensor_impl cimport TensorImpl

import numpy as np

import_array()

cdef type NUMBER = np.generic
cdef object TWO_BYTES = np.dtype(np.uint16)

cdef extern from "numpy/arrayobject.h":
    object PyDataMem_SetHandler(object handler)
    object PyArray_FromScalar(object number, void* type)
    PyObject* PyArray_HANDLER(ndarray array)
    PyObject* PyArray_BASE(ndarray array)


cdef object call_numpy(object function, tuple args, dict kwargs=None, bint computes=False):
    """Call a function of NumPy with our memory; what computes must not warn. See Note [Memory of NumPy's results].

    Numbers of NumPy that it returns are arrays without dimensions here.
    """
    before = PyDataMem_SetHandler(RESULTS_HANDLER)
    found = None
    try:
        found = call_ignoring_errors(function, args, kwargs) if computes else call_checked(function, args, kwargs)
        if isinstance(found, tuple):
            found = tuple([array_of(item) for item in <tuple>found])
        else:
            found = array_of(found)
    except MemoryError as error:
        failure = take_failure()
        if failure is None:
            raise
        raise failure from None
    finally:
        restore_handler(before)
    return found  # not within `try`: Cython would lose it if `finally` fails


cdef object array_of_bits(TensorImpl impl, bint writable):
    """Return an array over a tensor's memory, of uint16 where NumPy lacks the tensor's type."""
    bits = TWO_BYTES if impl.dtype_code == BFLOAT16 else numpy_dtype_of(dtype_of_code(impl.dtype_code))
    return ndarray_of_type(impl, bits, writable)


cdef object array_of(object found):
    return PyArray_FromScalar(found, NULL) if isinstance(found, NUMBER) else found


cdef int restore_handler(object before) except -1:
    """Give NumPy its handler back, which takes some bytes of Python's memory; if there are none, ask once more."""
    try:
        PyDataMem_SetHandler(before)
    except MemoryError:
        PyDataMem_SetHandler(before)
    return 0


def computed(function, *args):
    """Return what a function of NumPy makes of its arguments, as a tensor. See Note [Memory of NumPy's results]."""
    return Tensor_wrap(take_over(call_numpy(function, args, None, True)))


cdef TensorImpl take_over(object found):
    """Return a body over the elements of an array, or of a number, that nothing else refers to."""
    cdef ndarray array = found if PyArray_Check(found) else call_numpy(np.array, (found,))
    cdef TensorImpl impl = impl_of_ndarray(array, False)
    cdef StorageImpl storage = <StorageImpl>impl.storage
    cdef ndarray owner = array
    while PyArray_BASE(owner) != NULL and PyArray_Check(<object>PyArray_BASE(owner)):
        owner = <ndarray>PyArray_BASE(owner)
    if not PyArray_CHKFLAGS(owner, NPY_ARRAY_OWNDATA) or PyArray_HANDLER(owner) != <PyObject*>RESULTS_HANDLER:
        return impl
    storage.owner = allocator_of_block(owner.data)
    if array is owner and storage.block.data == <void*>array.data:  # a view goes on keeping its array
        PyArray_CLEARFLAGS(array, NPY_ARRAY_OWNDATA)
        drop_python_reference(storage.block.keep_alive, True)  # to the array, which `array` keeps alive
        storage.block.keep_alive = NULL
        take_block(array.data, &storage.block)
        StorageImpl_watch(storage)
    return impl
