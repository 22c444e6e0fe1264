# distutils: language = c++
"""Tensors in C++: their elements without the GIL, foreign memory with a C deleter, and a kernel."""
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from tensix cimport (
    Storage,
    Tensor,
    allocate,
    binary_kernel,
    deleter_t,
    storage_const_data,
    storage_data,
    storage_from_blob,
    storage_nbytes,
    tensor_const_data,
    tensor_data,
    tensor_dtype,
    tensor_from_blob,
    tensor_ndim,
    tensor_sizes,
    tensor_strides,
    unary_kernel,
)

cdef enum:
    FLOAT64 = 7  # PyTorch's ScalarType number


def describe(Tensor x):
    """Return what is known of a tensor, asked for without the GIL."""
    cdef int ndim, dtype, i
    cdef const int64_t* sizes
    cdef const int64_t* strides
    cdef const void* data
    with nogil:
        ndim = tensor_ndim(x)
        sizes = tensor_sizes(x)
        strides = tensor_strides(x)
        dtype = tensor_dtype(x)
        data = tensor_const_data(x)
    return tuple([sizes[i] for i in range(ndim)]), tuple([strides[i] for i in range(ndim)]), dtype, <uintptr_t>data


def mutable_address(Tensor x):
    cdef void* data
    with nogil:
        data = tensor_data(x)
    return <uintptr_t>data


def mutable_address_beside_an_exception(Tensor x):
    """Ask while an exception is on its way."""
    try:
        raise LookupError("on its way")
    finally:
        tensor_data(x)


def addresses(Storage storage):
    cdef void* data
    cdef const void* const_data
    cdef size_t nbytes
    with nogil:
        const_data = storage_const_data(storage)
        data = storage_data(storage)
        nbytes = storage_nbytes(storage)
    return <uintptr_t>const_data, <uintptr_t>data, nbytes


def total(Tensor x not None):
    """Add up a float64 matrix with any strides, without the GIL."""
    cdef const int64_t* sizes = tensor_sizes(x)
    cdef const int64_t* strides = tensor_strides(x)
    cdef const double* data = <const double*>tensor_const_data(x)
    cdef double sum = 0
    cdef int64_t i, j
    if tensor_ndim(x) != 2 or tensor_dtype(x) != FLOAT64:
        raise TypeError("total() adds up float64 matrices")
    if data == NULL:
        x.data_ptr()  # raises what was wrong; without elements nothing was
    with nogil:
        for i in range(sizes[0]):
            for j in range(sizes[1]):
                sum += data[i * strides[0] + j * strides[1]]
    return sum


cdef int deleted = 0
cdef void* last_deleted = NULL


cdef void count_and_free(void* ctx) noexcept nogil:
    global deleted, last_deleted
    deleted += 1
    last_deleted = ctx
    free(ctx)


cdef void count_only(void* ctx) noexcept nogil:
    global deleted, last_deleted
    deleted += 1
    last_deleted = ctx


def deletions():
    return deleted, <uintptr_t>last_deleted


def counted_tensor(int64_t rows, int64_t columns):
    """Return a tensor over memory of malloc, which holds 0, 1, 2 ..."""
    cdef int64_t[2] sizes = [rows, columns]
    cdef double* data = <double*>malloc(rows * columns * sizeof(double))
    cdef int64_t i
    if data == NULL:
        raise MemoryError()
    for i in range(rows * columns):
        data[i] = i
    try:
        return tensor_from_blob(data, 2, sizes, NULL, FLOAT64, count_and_free, NULL)
    except BaseException:
        free(data)  # after an error the memory is still ours
        raise


def tensor_over(uintptr_t address, shape, stride=None, int dtype=FLOAT64, uintptr_t ctx=0, bint with_deleter=True):
    """Pass on what is given, right or wrong."""
    cdef int64_t[64] sizes
    cdef int64_t[64] strides
    cdef const int64_t* strides_or_null = NULL
    if stride is not None:
        strides_or_null = strides
    cdef deleter_t deleter = count_only if with_deleter else <deleter_t>NULL
    cdef int i, ndim = min(len(shape), 64)
    for i in range(ndim):
        sizes[i] = shape[i]
        strides[i] = stride[i] if stride is not None else 0
    return tensor_from_blob(
        <void*>address, len(shape), sizes, strides_or_null, dtype, deleter, <void*>ctx)


def tensor_without_sizes(int ndim):
    return tensor_from_blob(NULL, ndim, NULL, NULL, FLOAT64, NULL, NULL)


def storage_over(uintptr_t address, size_t nbytes, uintptr_t ctx=0):
    return storage_from_blob(<void*>address, nbytes, count_only, <void*>ctx)


def allocate_storage(size_t nbytes):
    cdef Storage storage = allocate(nbytes)
    return storage


cdef Tensor twice_kernel(Tensor x):
    return x + x


cdef Tensor failing_kernel(Tensor x, Tensor y):
    raise ArithmeticError("the kernel failed")


def kernels():
    return unary_kernel("consumer twice", twice_kernel), binary_kernel("consumer failing", failing_kernel)


def kernel_without_function():
    return unary_kernel("nothing", NULL)
