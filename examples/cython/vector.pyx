# cython: language_level=3
"""Vectors of C memory: wrap them, read them without the GIL, and serve an operator."""
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from tensix cimport (
    Tensor,
    tensor_const_data,
    tensor_data,
    tensor_dtype,
    tensor_from_blob,
    tensor_ndim,
    tensor_sizes,
    tensor_strides,
    unary_kernel,
)

from tensix.library import Library

cdef enum:
    FLOAT64 = 7  # numbers of element types are PyTorch's


def squares(int64_t count):
    """Return the first squares in memory of malloc, which the tensor gives to free."""
    cdef double* numbers = <double*>malloc(count * sizeof(double))
    cdef int64_t i
    if numbers == NULL:
        raise MemoryError()
    for i in range(count):
        numbers[i] = i * i
    try:
        return tensor_from_blob(numbers, 1, &count, NULL, FLOAT64, free, NULL)
    except BaseException:
        free(numbers)  # an error leaves the memory with the caller
        raise


def total(Tensor x not None):
    """Add up a vector of any stride; other threads run meanwhile."""
    check_vector(x)
    cdef const double* numbers = <const double*>tensor_const_data(x)
    cdef int64_t i, size = tensor_sizes(x)[0], stride = tensor_strides(x)[0]
    cdef double sum = 0
    if numbers == NULL and size > 0:
        x.data_ptr()  # raises what the function without the GIL could not say
    with nogil:
        for i in range(size):
            sum += numbers[i * stride]
    return sum


cdef Tensor halve(Tensor x):
    """Halve in place: the kernel of an operator."""
    check_vector(x)
    cdef double* numbers = <double*>tensor_data(x)  # a copy-on-write tensor has its own bytes from here on
    cdef int64_t i, size = tensor_sizes(x)[0], stride = tensor_strides(x)[0]
    if numbers == NULL and size > 0:
        x.mutable_data_ptr()
    for i in range(size):
        numbers[i * stride] /= 2
    return x


cdef int check_vector(Tensor x) except -1:
    if tensor_ndim(x) != 1 or tensor_dtype(x) != FLOAT64:
        raise TypeError("a float64 vector is needed")
    return 0


LIBRARY = Library("vector")  # what it registers lasts as long as it does
LIBRARY.define("halve_(Tensor(a!) self) -> Tensor(a!)")
LIBRARY.impl("halve_", unary_kernel("vector.halve", halve), "CPU")
