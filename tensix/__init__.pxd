"""What other people's Cython may use: ``from tensix cimport incref``. No C header is needed.

The classes are opaque: use the functions. See docs/cython.rst for what each does and what is promised.
"""
from tensix.abi cimport (
    Allocator_2 as Allocator,
    IntrusivePtr_2 as IntrusivePtr,
    IntrusiveTarget_2 as IntrusiveTarget,
    Storage_2 as Storage,
    Tensor_2 as Tensor,
    WeakIntrusivePtr_2 as WeakIntrusivePtr,
    data_ptr_t,
    deleter_t,
)
from tensix.c_api cimport (
    allocate,
    binary_kernel,
    binary_kernel_t,
    data_ptr_init,
    decref,
    incref,
    lock,
    steal_from_new,
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
    unary_kernel_t,
    use_count,
    weak_decref,
    weak_incref,
    weak_use_count,
)
