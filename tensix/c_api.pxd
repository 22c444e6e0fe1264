"""The functions of ``from tensix cimport ...``. What each promises stands in ``docs/cython.rst``."""
from libc.stdint cimport int64_t, uint32_t, uint64_t
from tensix.abi cimport (
    Allocator_1 as Allocator,
    IntrusivePtr_1 as IntrusivePtr,
    IntrusiveTarget_1 as IntrusiveTarget,
    Storage_1 as Storage,
    Tensor_1 as Tensor,
    data_ptr_t,
    deleter_t,
)

# Numbers of element types, which are those of PyTorch's ScalarType.
cdef enum:
    TX_UINT8 = 0
    TX_INT8 = 1
    TX_INT16 = 2
    TX_INT32 = 3
    TX_INT64 = 4
    TX_FLOAT16 = 5
    TX_FLOAT32 = 6
    TX_FLOAT64 = 7
    TX_COMPLEX64 = 9
    TX_COMPLEX128 = 10
    TX_BOOL = 11
    TX_BFLOAT16 = 15
    TX_UINT16 = 27
    TX_UINT32 = 28
    TX_UINT64 = 29

# Kernels for the dispatcher; with the GIL.
ctypedef Tensor (*unary_kernel_t)(Tensor a)
ctypedef Tensor (*binary_kernel_t)(Tensor a, Tensor b)


cdef extern from * nogil:
    """
    /* The common case of counting, in C and in C++ where the compiler has GCC's builtins. 1: done; 0: nothing was
       changed, call the function that knows the rare cases. See Note [The combined reference count]. */
    #if defined(__GNUC__)
    static inline int tx_try_incref(uint64_t *word)
    {
        if ((int64_t)__atomic_add_fetch(word, 1, __ATOMIC_RELAXED) < 0) return 1;
        __atomic_sub_fetch(word, 1, __ATOMIC_RELAXED);
        return 0;
    }
    static inline int tx_try_decref(uint64_t *word)
    {
        uint64_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        while ((uint32_t)seen > 1)  /* a count must not reach 0 and rise again: a lock may come between */
            if (__atomic_compare_exchange_n(word, &seen, seen - 1, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return 1;
        return 0;
    }
    #else
    static int tx_try_incref(uint64_t *word) { (void)word; return 0; }
    static int tx_try_decref(uint64_t *word) { (void)word; return 0; }
    #endif
    """
    bint tx_try_incref(uint64_t* word)
    bint tx_try_decref(uint64_t* word)


# Counts, without the GIL. None is a null pointer and is accepted everywhere.
cdef inline void incref(IntrusiveTarget target) noexcept nogil:
    if target is not None and not tx_try_incref(&target.combined_refcount):
        incref_out_of_line(target)

cdef inline void decref(IntrusiveTarget target) noexcept nogil:
    if target is not None and not tx_try_decref(&target.combined_refcount):
        decref_out_of_line(target)

cdef bint lock(IntrusiveTarget target) noexcept nogil
cdef uint32_t use_count(IntrusiveTarget target) noexcept nogil
cdef uint32_t weak_use_count(IntrusiveTarget target) noexcept nogil
cdef void weak_incref(IntrusiveTarget target) noexcept nogil
cdef void weak_decref(IntrusiveTarget target) noexcept nogil

# Tensors and storages, without the GIL. None is read as an undefined tensor or an empty storage.
cdef void* tensor_data(Tensor tensor) noexcept nogil
cdef const void* tensor_const_data(Tensor tensor) noexcept nogil
cdef int tensor_ndim(Tensor tensor) noexcept nogil
cdef const int64_t* tensor_sizes(Tensor tensor) noexcept nogil
cdef const int64_t* tensor_strides(Tensor tensor) noexcept nogil
cdef int tensor_dtype(Tensor tensor) noexcept nogil
cdef void* storage_data(Storage storage) noexcept nogil
cdef const void* storage_const_data(Storage storage) noexcept nogil
cdef size_t storage_nbytes(Storage storage) noexcept nogil

# Memory of the current allocator, without the GIL, in threads that Python does not know as well.
cdef int allocate_block(size_t nbytes, data_ptr_t* block) noexcept nogil
cdef void free_block(data_ptr_t* block) noexcept nogil

# For allocators that make memory themselves, with or without the GIL.
cdef uint64_t report_allocation(void* data, size_t nbytes, Allocator allocator) noexcept nogil
cdef void report_free(void* data, size_t nbytes, uint64_t stamp) noexcept nogil

# With the GIL.
cdef IntrusivePtr steal_from_new(IntrusiveTarget target)
cdef Tensor tensor_from_blob(
    void* data, int ndim, const int64_t* sizes, const int64_t* strides, int dtype, deleter_t deleter, void* ctx)
cdef Storage storage_from_blob(void* data, size_t nbytes, deleter_t deleter, void* ctx)
cdef Tensor tensor_empty(int ndim, const int64_t* sizes, int dtype)
cdef Tensor tensor_from_storage(
    Storage storage, int ndim, const int64_t* sizes, const int64_t* strides, int64_t storage_offset, int dtype)
cdef Storage allocate(size_t nbytes)
cdef object unary_kernel(str name, unary_kernel_t function)
cdef object binary_kernel(str name, binary_kernel_t function)


cdef inline void data_ptr_init(data_ptr_t* self, void* data, void* ctx, deleter_t deleter) noexcept nogil:
    """Fill in a block of main memory, as an allocator written in Cython has to."""
    self.data, self.ctx, self.deleter = data, ctx, deleter
    self.keep_alive = self.operations = NULL
    self.device_type, self.device_index = 0, -1


# Private: what the inline functions above leave to tensix.
cdef void incref_out_of_line(IntrusiveTarget target) noexcept nogil
cdef void decref_out_of_line(IntrusiveTarget target) noexcept nogil
