"""Whether memory is written twice, or written while it is read."""
from libc.stdint cimport int64_t
from libc.stdlib cimport llabs
from tensix.loops.iterator cimport same_strides
from tensix.tensors.dtype cimport itemsize_of
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_same_sizes, TensorImpl_sizes, TensorImpl_span, TensorImpl_strides,
)


cdef bint may_overlap(TensorImpl a, TensorImpl b) except -1:
    """Return whether the memory of two tensors, from first to last byte, has a byte in common."""
    cdef const char* first_a
    cdef const char* last_a
    cdef const char* first_b
    cdef const char* last_b
    if a.numel == 0 or b.numel == 0:
        return False
    bytes_of(a, &first_a, &last_a)
    bytes_of(b, &first_b, &last_b)
    return first_a < last_b and first_b < last_a


cdef bint is_same_view(TensorImpl a, TensorImpl b) except -1:
    """Return whether two tensors have the same elements at the same places in memory."""
    if a.dtype_code != b.dtype_code or not (TensorImpl_same_sizes(a, b) and same_strides(a, b)):
        return False
    return TensorImpl_const_data(a) == TensorImpl_const_data(b)


cdef int bytes_of(TensorImpl self, const char** first, const char** last) except -1:
    """Find the first byte of a tensor and the one after its last."""
    cdef int64_t itemsize = itemsize_of(self.dtype_code)
    cdef int64_t lowest, highest
    if self.contiguous:
        first[0] = <const char*>TensorImpl_const_data(self)
        last[0] = first[0] + self.numel * itemsize
        return 0
    cdef const char* start = <const char*>TensorImpl_const_data(self) - self.storage_offset * itemsize
    TensorImpl_span(self, &lowest, &highest)  # which fits, since the elements lie in memory
    first[0] = start + lowest * itemsize
    last[0] = start + (highest + 1) * itemsize
    return 0


cdef int check_writable_once(TensorImpl self) except -1:
    """Check that no two elements are known to lie at the same place.

    Two dimensions of strides s and t meet after s/g steps of the one and t/g of the other, g their greatest common
    divisor, if both are that long. What only three dimensions together bring about is not looked for: that is a hard
    problem, and no view but `as_strided` makes it.
    """
    cdef const int64_t* sizes = TensorImpl_sizes(self)
    cdef const int64_t* strides = TensorImpl_strides(self)
    cdef int64_t divisor
    cdef int i, j
    if self.contiguous:
        return 0
    for i in range(self.ndim):
        if sizes[i] > 1 and strides[i] == 0:
            refuse_to_write()
        for j in range(i):
            if sizes[i] > 1 and sizes[j] > 1:
                divisor = greatest_common_divisor(strides[i], strides[j])
                if llabs(strides[j]) // divisor < sizes[i] and llabs(strides[i]) // divisor < sizes[j]:
                    refuse_to_write()
    return 0


cdef int64_t greatest_common_divisor(int64_t a, int64_t b) noexcept nogil:
    while b != 0:
        a, b = b, a % b
    return llabs(a)


cdef int refuse_to_write() except -1:
    raise RuntimeError(
        "cannot write in place: more than one element refers to a single memory location, as expand() and unfold() "
        "make them. Write to a clone()."
    )
