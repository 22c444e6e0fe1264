"""The counted body of a tensor: a view on a storage. Fields are private to tensix."""
from cpython.ref cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint8_t, uint32_t, uint64_t
from tensix.core.assertions cimport TX_ASSERT
from tensix.core.intrusive_target cimport IntrusiveTarget

cdef extern from "tensix/bits.h" nogil:
    bint tx_multiply_overflows(int64_t a, int64_t b, int64_t* product)

cdef enum:
    INLINE_DIMS = 5
    MAX_DIMS = 64


cdef union dims_t:
    int64_t within[10]     # 5 sizes, then 5 strides
    int64_t* outline       # ndim sizes, then ndim strides; on the heap beyond 5 dimensions


cdef struct exchange_t:  # of the geometry of two bodies
    PyObject* body
    PyObject* twin
    uint32_t own_uses
    bint is_refused

cdef extern from "tensix/core/free_threading.h":
    void swap_storages "TX_SWAP_STORAGES" (TensorImpl one, TensorImpl other) nogil
    object exchange_storage "TX_EXCHANGE_STORAGE" (TensorImpl body, object storage)
    object exchange_meta "TX_EXCHANGE_META" (TensorImpl body, object meta)


cdef class TensorImpl(IntrusiveTarget):
    cdef readonly IntrusiveTarget storage  # with one strong count; None: no memory. See Note [The storage of a body]
    cdef object meta             # autograd_meta: for code that records gradients; released before the storage
    cdef dims_t dims
    cdef readonly int64_t storage_offset  # elements
    cdef readonly int64_t numel
    cdef readonly uint64_t key_set
    cdef uint8_t dtype_code
    cdef int8_t device_type
    cdef int8_t device_index
    cdef uint8_t ndim
    cdef uint8_t contiguous      # elements in row-major order without gaps
    cdef uint32_t uses           # by operations that run; set_() is refused meanwhile. See Note [Operands in use]
    cdef void destroy(self, bint holds_gil) noexcept nogil
    cpdef release_resources(self)


cdef inline int64_t* TensorImpl_sizes(TensorImpl self) noexcept nogil:
    if self.ndim <= INLINE_DIMS:
        return &self.dims.within[0]
    return self.dims.outline

cdef inline int64_t* TensorImpl_strides(TensorImpl self) noexcept nogil:
    if self.ndim <= INLINE_DIMS:
        return &self.dims.within[INLINE_DIMS]
    return self.dims.outline + self.ndim

cdef inline void TensorImpl_copy_dims(
        TensorImpl base, TensorImpl view, int source, int target, int count) noexcept nogil:
    """Take some dimensions over as they are."""
    cdef int i
    TX_ASSERT(source >= 0 and source + count <= base.ndim, "dimensions that are there", source + count)
    TX_ASSERT(target >= 0 and target + count <= view.ndim, "dimensions that were reserved", target + count)
    for i in range(count):
        TensorImpl_sizes(view)[target + i] = TensorImpl_sizes(base)[source + i]
        TensorImpl_strides(view)[target + i] = TensorImpl_strides(base)[source + i]


cdef inline bint TensorImpl_has_sizes(TensorImpl self, int ndim, const int64_t* sizes) noexcept nogil:
    """Compare a shape: the entries in use only, since what a body had before may lie behind them."""
    cdef int i
    if self.ndim != ndim:
        return False
    for i in range(ndim):
        if TensorImpl_sizes(self)[i] != sizes[i]:
            return False
    return True


cdef inline bint TensorImpl_same_sizes(TensorImpl a, TensorImpl b) noexcept nogil:
    return TensorImpl_has_sizes(a, b.ndim, TensorImpl_sizes(b))


cdef inline void TensorImpl_refresh_order(TensorImpl self, int64_t numel) noexcept nogil:
    """Do what TensorImpl_refresh does for a known number of elements, such as that of a view in another order."""
    cdef int64_t expected = 1
    cdef int i = self.ndim - 1
    self.numel = numel
    while i >= 0 and (TensorImpl_sizes(self)[i] == 1 or TensorImpl_strides(self)[i] == expected):
        expected *= TensorImpl_sizes(self)[i]
        i -= 1
    self.contiguous = i < 0 or numel == 0


cdef inline int TensorImpl_reserve(TensorImpl self, int ndim) except -1:
    """Reserve space for sizes and strides."""
    TX_ASSERT(ndim >= 0, "a number of dimensions", ndim)
    if ndim > INLINE_DIMS:
        TensorImpl_reserve_outline(self, ndim)
    self.ndim = ndim
    return 0


cdef TensorImpl TensorImpl_new(uint8_t dtype_code, uint64_t key_set, int ndim)
cdef int TensorImpl_reserve_outline(TensorImpl self, int ndim) except -1
cdef void TensorImpl_adopt(TensorImpl self, IntrusiveTarget storage) noexcept
cdef TensorImpl TensorImpl_view(TensorImpl base, int ndim)
cdef TensorImpl TensorImpl_shallow_copy(TensorImpl base)
cdef void exchange_geometry(void* what) noexcept nogil
cdef int TensorImpl_shallow_copy_from(TensorImpl self, TensorImpl source, uint32_t own_uses) except -1
cdef int TensorImpl_refresh(TensorImpl self) except -1
cdef bint TensorImpl_is_dense(TensorImpl self) noexcept nogil
cdef int64_t contiguous_strides(int ndim, const int64_t* sizes, int64_t* strides) except -1
cdef bint TensorImpl_span(TensorImpl self, int64_t* first, int64_t* last) noexcept nogil
cdef int TensorImpl_check_bounds(TensorImpl self) except -1
cdef int TensorImpl_check_alive(TensorImpl self) except -1
cdef void TensorImpl_bump_version(TensorImpl self) noexcept
cdef bint TensorImpl_is_aligned(TensorImpl self, int64_t alignment) noexcept
cdef void* TensorImpl_mutable_data(TensorImpl self) except? NULL
cdef const void* TensorImpl_const_data(TensorImpl self) except? NULL
cdef void* TensorImpl_no_data(TensorImpl self) except? NULL
cdef tuple TensorImpl_shape(TensorImpl self)
cdef tuple TensorImpl_stride(TensorImpl self)
cdef inline int64_t int64_of(object number) except? -1:
    """Return a size, stride, offset or dimension given as an int; a float is a TypeError, however whole it is."""
    return <int64_t>number if type(number) is int else int64_of_index(number)

cdef int64_t int64_of_index(object number) except? -1
cdef int wrap_dim(int64_t dim, int ndim) except -1
cdef int refuse_devices(TensorImpl a, TensorImpl b) except -1
