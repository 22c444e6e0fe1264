"""What other people's Cython may use: ``from tensix cimport incref``. No C header is needed.

The classes are opaque: use the functions. See docs/cython.rst for what each does and what is promised.
"""
from tensix.abi cimport (
    Allocator_1 as Allocator, IntrusivePtr_1 as IntrusivePtr, IntrusiveTarget_1 as IntrusiveTarget, Storage_1 as
    Storage, StrongCount_1 as StrongCount, Tensor_1 as Tensor, WeakIntrusivePtr_1 as WeakIntrusivePtr, data_ptr_t,
    deleter_t,
)
from tensix.c_api cimport (
    TX_BFLOAT16, TX_BOOL, TX_COMPLEX128, TX_COMPLEX64, TX_FLOAT16, TX_FLOAT32, TX_FLOAT64, TX_INT16, TX_INT32, TX_INT64,
    TX_INT8, TX_UINT16, TX_UINT32, TX_UINT64, TX_UINT8, allocate, allocate_block, binary_kernel, binary_kernel_t,
    data_ptr_init, decref, free_block, incref, lock, report_allocation, report_free, steal_from_new, storage_const_data,
    storage_data, storage_from_blob, storage_nbytes, tensor_const_data, tensor_data, tensor_dtype, tensor_empty,
    tensor_from_blob, tensor_from_storage, tensor_ndim, tensor_sizes, tensor_strides, unary_kernel, unary_kernel_t,
    use_count, weak_decref, weak_incref, weak_use_count,
)
