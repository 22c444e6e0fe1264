"""Walking over the elements of several tensors at once.

A walk is set up in three steps: its shape, its operands (each broadcast to that shape by steps of 0), and a run.
Dimensions that lie in memory as one are walked as one; the innermost goes to the inner loop, the others are counted
here. Large walks run without the GIL.

Whoever writes takes the mutable address before the walk: a copy-on-write tensor must not begin to copy inside it.
"""
from libc.stdint cimport int64_t
from numpy cimport npy_intp
from tensix.tensors.dtype cimport dtype_of_code
from tensix.tensors.tensor_impl cimport TensorImpl, TensorImpl_shape, TensorImpl_sizes, TensorImpl_strides


cdef int iterator_start(iterator_t* self, int ndim, const int64_t* sizes) except -1:
    """Set the shape to walk over."""
    self.ndim = ndim
    self.operands = 0
    for i in range(ndim):
        self.sizes[i] = sizes[i]
    return 0


cdef int iterator_add(iterator_t* self, TensorImpl operand, void* data) except -1:
    """Add an operand, broadcast to the shape; `data` is the address of its first element."""
    cdef int64_t* sizes = TensorImpl_sizes(operand)
    cdef int64_t* strides = TensorImpl_strides(operand)
    cdef int64_t itemsize = dtype_of_code(operand.dtype_code).itemsize
    cdef int missing = self.ndim - operand.ndim
    cdef int slot = self.operands
    if missing < 0:
        raise ValueError(
            f"cannot broadcast shape {TensorImpl_shape(operand)} to fewer dimensions: "
            f"{tuple([self.sizes[j] for j in range(self.ndim)])}."
        )
    for i in range(self.ndim):
        if i < missing or (sizes[i - missing] == 1 and self.sizes[i] != 1):
            self.steps[i][slot] = 0
        elif sizes[i - missing] == self.sizes[i]:
            self.steps[i][slot] = strides[i - missing] * itemsize
        else:
            raise ValueError(
                f"cannot broadcast shape {TensorImpl_shape(operand)} to "
                f"{tuple([self.sizes[j] for j in range(self.ndim)])}."
            )
    self.data[slot] = <char*>data
    self.operands += 1
    return 0


cdef void iterator_run(iterator_t* self, inner_loop_t loop, void* loop_data) noexcept:
    """Call the inner loop on every run of elements."""
    cdef npy_intp total = 1
    for i in range(self.ndim):
        total *= self.sizes[i]
    if total == 0:
        return
    coalesce(self)
    if total < GRAIN_ELEMENTS:
        walk(self, loop, loop_data)
    else:
        with nogil:
            walk(self, loop, loop_data)


cdef void coalesce(iterator_t* self) noexcept nogil:
    """Drop dimensions of size 1 and merge neighbours that every operand passes through in one stride."""
    cdef int kept = 0
    cdef int i, k
    cdef bint merges
    for i in range(self.ndim):
        if self.sizes[i] == 1:
            continue
        merges = kept > 0
        for k in range(self.operands):
            if merges and self.steps[kept - 1][k] != self.sizes[i] * self.steps[i][k]:
                merges = False
        if merges:
            self.sizes[kept - 1] *= self.sizes[i]
        else:
            self.sizes[kept] = self.sizes[i]
            kept += 1
        for k in range(self.operands):
            self.steps[kept - 1][k] = self.steps[i][k]
    if kept == 0:
        self.sizes[0] = 1
        for k in range(self.operands):
            self.steps[0][k] = 0
        kept = 1
    self.ndim = kept


cdef void walk(iterator_t* self, inner_loop_t loop, void* loop_data) noexcept nogil:
    cdef int outer = self.ndim - 1
    cdef npy_intp position[64]
    cdef char* data[4]
    cdef int i, k
    for i in range(outer):
        position[i] = 0
    while True:
        for k in range(self.operands):
            data[k] = self.data[k]  # a copy: inner loops may advance it
        loop(data, &self.sizes[outer], self.steps[outer], loop_data)
        i = outer - 1
        while i >= 0:
            position[i] += 1
            for k in range(self.operands):
                self.data[k] += self.steps[i][k]
            if position[i] < self.sizes[i]:
                break
            for k in range(self.operands):
                self.data[k] -= self.steps[i][k] * self.sizes[i]
            position[i] = 0
            i -= 1
        if i < 0:
            return


cdef int broadcast_sizes(TensorImpl a, TensorImpl b, int64_t* sizes) except -1:
    """Fill in the common shape of two tensors and return its number of dimensions."""
    cdef int ndim = max(a.ndim, b.ndim)
    cdef int64_t x, y
    cdef int i, p, q
    for i in range(ndim):
        p = i - (ndim - a.ndim)
        q = i - (ndim - b.ndim)
        x = TensorImpl_sizes(a)[p] if p >= 0 else 1
        y = TensorImpl_sizes(b)[q] if q >= 0 else 1
        if x != y and x != 1 and y != 1:
            raise ValueError(
                f"shapes {TensorImpl_shape(a)} and {TensorImpl_shape(b)} cannot be broadcast together: "
                f"sizes {x} and {y} differ and neither is 1."
            )
        sizes[i] = y if x == 1 else x
    return ndim
