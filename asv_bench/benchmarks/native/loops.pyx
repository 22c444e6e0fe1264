# cython: language_level=3, freethreading_compatible=True
"""Loops over the public functions of tensix, as an extension module of somebody else would write them."""
from cpython.buffer cimport PyBUF_STRIDED, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from numpy cimport PyArray_DATA, PyArray_SIZE, import_array, ndarray

from tensix cimport (
    IntrusiveTarget,
    Tensor,
    allocate_block,
    data_ptr_t,
    decref,
    free_block,
    incref,
    lock,
    steal_from_new,
    tensor_data,
    tensor_sizes,
    tensor_strides,
)

import_array()


cdef class Target(IntrusiveTarget):
    """Carries nothing but its counts, as the target of the C++ loops."""


def incref_decref(IntrusiveTarget target not None, Py_ssize_t times):
    """Take and drop a strong count, without the GIL."""
    cdef Py_ssize_t _
    with nogil:
        for _ in range(times):
            incref(target)
            decref(target)


def lock_decref(IntrusiveTarget target not None, Py_ssize_t times):
    """Take a strong count if one is left and drop it, without the GIL."""
    cdef Py_ssize_t _
    with nogil:
        for _ in range(times):
            if lock(target):
                decref(target)


def make_destroy(Py_ssize_t times):
    """Make a target and its first handle, and destroy both."""
    cdef Py_ssize_t _
    for _ in range(times):
        steal_from_new(Target.__new__(Target))


def allocate_free_without_gil(size_t nbytes, Py_ssize_t times):
    """Allocate and free a block by the allocator in use, without the GIL."""
    cdef data_ptr_t block
    cdef Py_ssize_t _
    with nogil:
        for _ in range(times):
            if allocate_block(nbytes, &block) == 0:
                free_block(&block)


def malloc_free(size_t nbytes, Py_ssize_t times):
    """Do the same by the C library."""
    cdef volatile char* block
    cdef Py_ssize_t _
    with nogil:
        for _ in range(times):
            block = <volatile char*>malloc(nbytes)
            block[0] = 0
            free(<void*>block)


def look_at_tensor(Tensor x not None, Py_ssize_t times):
    """Ask for address, first size and first stride, without the GIL."""
    cdef int64_t sum = 0
    cdef Py_ssize_t _
    with nogil:
        for _ in range(times):
            sum += <uintptr_t>tensor_data(x) + tensor_sizes(x)[0] + tensor_strides(x)[0]
    return sum


def look_at_buffer(exporter, Py_ssize_t times):
    """Ask for the same by the buffer protocol."""
    cdef int64_t sum = 0
    cdef Py_ssize_t _
    cdef Py_buffer view
    for _ in range(times):
        PyObject_GetBuffer(exporter, &view, PyBUF_STRIDED)
        sum += <uintptr_t>view.buf + view.shape[0] + view.strides[0]
        PyBuffer_Release(&view)
    return sum


def touch(uintptr_t address, size_t nbytes):
    """Write one byte of every page."""
    touch_pages(<volatile char*>address, nbytes)


def touch_tensor(Tensor x not None):
    """Write one byte of every page of a tensor of bytes; its address comes from the public functions in C."""
    touch_pages(<volatile char*>tensor_data(x), tensor_sizes(x)[0])


def touch_array(ndarray array not None):
    """Write one byte of every page of NumPy's array of bytes; its address comes from NumPy's functions in C."""
    touch_pages(<volatile char*>PyArray_DATA(array), PyArray_SIZE(array))


cdef void touch_pages(volatile char* data, size_t nbytes) noexcept nogil:
    """Write one byte of every page, each in another cache line of it.

    At the same place of every page all would fall into one set of the cache, and the row would measure its conflicts.
    """
    cdef size_t page
    for page in range(0, nbytes, 4096):
        data[page + min(page // 64 % 4096, nbytes - page - 1)] = 1
