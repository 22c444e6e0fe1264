"""Linear algebra: products of matrices and of vectors by the inner loops of NumPy's generalised ufuncs.

Such a loop takes whole matrices or vectors, the core, in place of single elements: it gets their sizes behind the
count, and their strides behind the steps from one core to the next. The iterator walks over what stands before them.

All else are functions of NumPy over zero-copy views; what is narrower than float32 is computed in that.
"""
from cpython.number cimport PyNumber_Index
from libc.stdint cimport int64_t, uint8_t
from numpy cimport npy_intp
from tensix.core.device cimport META
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.loops.copy cimport converted
from tensix.loops.empty cimport empty_impl
from tensix.loops.iterator cimport (
    GRAIN_ELEMENTS, broadcast_dims, inner_loop_t, iterator_add_outer, iterator_begin_use, iterator_end_use,
    iterator_run, iterator_simplify, iterator_start, iterator_t, iterator_total, iterator_walk,
)
from tensix.kernels.statistical cimport axes_from_any, length_impl, take_loop
from tensix.kernels.views cimport moved
from tensix.tensors.dtype cimport BFLOAT16, FLOAT32, FLOAT64, dtype_of_code, itemsize_of
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl, TensorImpl_const_data, TensorImpl_mutable_data, TensorImpl_shape, TensorImpl_sizes, TensorImpl_strides,
    int64_of, refuse_devices, wrap_dim,
)

import numpy as np

from tensix.dispatch import native_functions
from tensix.loops.numpy_kernel import NumpyKernel


cdef struct call_t:
    inner_loop_t loop
    void* data
    int size_count
    int step_count
    npy_intp sizes[3]       # of the cores
    npy_intp steps[6]       # inside the cores


cdef void core_loop(char** data, const npy_intp* count, const npy_intp* steps, void* context) noexcept nogil:
    """Call the loop of a generalised ufunc: the count and the steps, then those of the core."""
    cdef call_t* call = <call_t*>context
    cdef npy_intp sizes[4]
    cdef npy_intp all_steps[9]
    cdef int i
    sizes[0] = count[0]
    for i in range(call.size_count):
        sizes[1 + i] = call.sizes[i]
    for i in range(3):  # operands
        all_steps[i] = steps[i]
    for i in range(call.step_count):
        all_steps[3 + i] = call.steps[i]
    call.loop(data, sizes, all_steps, call.data)


cdef call_t MATMUL[47]  # (n, k), (k, m) -> (n, m)
cdef call_t VECDOT[47]  # (n), (n) -> ()


cdef object matmul(Kernel self, object table, arguments_t args):
    """Multiply matrices; a tensor of one dimension is a row on the left and a column on the right."""
    cdef TensorBase a = <TensorBase>args[0]
    cdef TensorBase b = <TensorBase>args[1]
    cdef uint8_t code, working
    if a.impl.device_type != b.impl.device_type:
        refuse_devices(a.impl, b.impl)
    code = promote_codes(a.impl.dtype_code, b.impl.dtype_code)
    check_columns(a, b)
    working = FLOAT32 if code == BFLOAT16 else code
    cdef TensorImpl x = converted(a.impl, working)
    cdef TensorImpl y = converted(b.impl, working)
    cdef call_t core = MATMUL[working]
    cdef int64_t sizes[64]
    cdef npy_intp itemsize = itemsize_of(working)
    cdef bint has_rows = x.ndim > 1
    cdef bint has_columns = y.ndim > 1
    cdef int last = x.ndim - 1
    cdef int inner = y.ndim - 2 if has_columns else 0
    cdef int ndim, outer
    core.sizes[0] = TensorImpl_sizes(x)[last - 1] if has_rows else 1
    core.sizes[1] = TensorImpl_sizes(x)[last]
    core.sizes[2] = TensorImpl_sizes(y)[inner + 1] if has_columns else 1
    core.steps[1] = TensorImpl_strides(x)[last] * itemsize
    core.steps[0] = TensorImpl_strides(x)[last - 1] * itemsize if has_rows else core.steps[1] * core.sizes[1]
    core.steps[2] = TensorImpl_strides(y)[inner] * itemsize
    core.steps[3] = TensorImpl_strides(y)[inner + 1] * itemsize if has_columns else itemsize
    core.steps[4], core.steps[5] = core.sizes[2] * itemsize, itemsize
    core.size_count, core.step_count = 3, 6
    outer = ndim = broadcast_dims(
        max(x.ndim - 2, 0), TensorImpl_sizes(x), max(y.ndim - 2, 0), TensorImpl_sizes(y), sizes)
    if ndim < 0:
        raise ValueError(
            f"matmul() of shapes {a.shape} and {b.shape}: what stands before the matrices cannot be broadcast together."
        )
    if has_rows:
        sizes[ndim] = core.sizes[0]
        ndim += 1
    if has_columns:
        sizes[ndim] = core.sizes[2]
        ndim += 1
    return Tensor_wrap(converted(product(&core, x, y, outer, ndim, sizes, working), code))


cdef object vecdot(Kernel self, object table, arguments_t args):
    """Multiply vectors along a dimension of each, the first conjugated."""
    cdef TensorBase a = <TensorBase>args[0]
    cdef TensorBase b = <TensorBase>args[1]
    cdef uint8_t code, working
    cdef int64_t axis = int64_of(<object>args[2])
    if a.impl.device_type != b.impl.device_type:
        refuse_devices(a.impl, b.impl)
    code = promote_codes(a.impl.dtype_code, b.impl.dtype_code)
    working = FLOAT32 if code == BFLOAT16 else code
    cdef TensorImpl x = converted(a.impl, working)
    cdef TensorImpl y = converted(b.impl, working)
    cdef call_t core = VECDOT[working]
    cdef int64_t sizes[64]
    cdef npy_intp itemsize = itemsize_of(working)
    cdef int mine = wrap_dim(axis, x.ndim)
    cdef int other = wrap_dim(axis, y.ndim)
    cdef int ndim
    if x.ndim == 0 or y.ndim == 0:  # wrap_dim() takes 0 and -1 for them
        raise IndexError(f"vecdot() needs at least one dimension on each side, found shapes {a.shape} and {b.shape}.")
    if mine != x.ndim - 1:
        x = moved(x, mine, x.ndim - 1)
    if other != y.ndim - 1:
        y = moved(y, other, y.ndim - 1)
    core.sizes[0] = TensorImpl_sizes(x)[x.ndim - 1]
    core.steps[0] = TensorImpl_strides(x)[x.ndim - 1] * itemsize
    core.steps[1] = TensorImpl_strides(y)[y.ndim - 1] * itemsize
    core.size_count, core.step_count = 1, 2
    ndim = broadcast_dims(x.ndim - 1, TensorImpl_sizes(x), y.ndim - 1, TensorImpl_sizes(y), sizes)
    if ndim < 0 or core.sizes[0] != TensorImpl_sizes(y)[y.ndim - 1]:
        raise ValueError(
            f"vecdot() of shapes {a.shape} and {b.shape} along dimension {axis}: those sizes must be the same, and the "
            "others must fit each other."
        )
    return Tensor_wrap(converted(product(&core, x, y, ndim, ndim, sizes, working), code))


cdef int check_columns(TensorBase a, TensorBase b) except -1:
    """Check that the columns of a matrix are as many as the rows of another; a vector is either."""
    cdef TensorImpl x = a.impl
    cdef TensorImpl y = b.impl
    cdef int64_t columns, rows
    if x.ndim and y.ndim:
        columns = TensorImpl_sizes(x)[x.ndim - 1]
        rows = TensorImpl_sizes(y)[max(y.ndim - 2, 0)]
        if columns == rows:
            return 0
        problem = f"{columns} columns cannot be multiplied with {rows} rows."
    else:
        problem = "at least one dimension is needed on each side."
    raise ValueError(f"matmul() of shapes {TensorImpl_shape(x)} and {TensorImpl_shape(y)}: {problem}")


cdef TensorImpl product(
        call_t* core, TensorImpl x, TensorImpl y, int outer, int ndim, const int64_t* sizes, uint8_t code):
    """Return the products, over `outer` dimensions of the `ndim` that the result has; on meta the shape alone."""
    cdef iterator_t iterator
    cdef int i
    cdef npy_intp work
    if core.loop == NULL:
        raise TypeError(f"matmul() and vecdot() are not implemented for {dtype_of_code(code).name}.")
    cdef TensorImpl out = empty_impl(ndim, sizes, code, x.device_type, x.device_index)
    if x.device_type == META or out.numel == 0:
        return out
    cdef void* target = TensorImpl_mutable_data(out)
    cdef int core_dims = 1 if core.size_count == 1 else 2
    iterator_start(&iterator, outer, sizes)
    iterator_add_outer(&iterator, x, max(x.ndim - core_dims, 0), <void*>TensorImpl_const_data(x))
    iterator_add_outer(&iterator, y, max(y.ndim - core_dims, 0), <void*>TensorImpl_const_data(y))
    iterator_add_outer(&iterator, out, outer, target)
    for i in range(3):
        iterator.itemsizes[i] = 0  # cores are not moved, as single elements may be
    work = iterator_total(&iterator)
    if work >= GRAIN_ELEMENTS:
        iterator_run(&iterator, core_loop, core)
        return out
    for i in range(core.size_count):
        work *= max(core.sizes[i], <npy_intp>1)
    iterator_simplify(&iterator, 2)
    if work < GRAIN_ELEMENTS:
        iterator_walk(&iterator, core_loop, core)
        return out
    iterator_begin_use(&iterator)
    with nogil:
        iterator_walk(&iterator, core_loop, core)
    iterator_end_use(&iterator)
    return out


for _code in range(46):
    _dtype = dtype_of_code(_code)
    if _dtype is not None:
        take_loop(np.matmul, _dtype, &MATMUL[<int>_code].loop, &MATMUL[<int>_code].data)
        take_loop(np.vecdot, _dtype, &VECDOT[<int>_code].loop, &VECDOT[<int>_code].data)
for _key in ("CPU", "Meta"):
    native_functions.MATMUL.register(_key, Kernel_of("numpy.matmul", matmul))
    native_functions.VECDOT.register(_key, Kernel_of("numpy.vecdot", vecdot))


# ---- functions of NumPy


def tensordot_kernel(self, other, dims_self, dims_other):
    """Sum over pairs of dimensions."""
    return np.tensordot(self, other, (dims_self, dims_other))


def as_complex(array):
    """Return complex numbers of the same precision also where NumPy finds no imaginary parts."""
    return array.astype(np.result_type(array.dtype, np.complex64), copy=False)


def eig_kernel(self):
    """Return complex values and vectors."""
    return tuple(map(as_complex, np.linalg.eig(self)))


def eigvals_kernel(self):
    """Return complex values."""
    return as_complex(np.linalg.eigvals(self))


cdef OperatorTable PRODUCT = native_functions.MATMUL


cdef object dot(Kernel self, object table, arguments_t args):
    """Multiply numbers and matrices; else sum over the last dimension of one and the last but one of the other."""
    cdef int ndim = (<TensorBase>args[0]).impl.ndim
    cdef int other = (<TensorBase>args[1]).impl.ndim
    if ndim == 0 or other == 0:
        return <object>args[0] * <object>args[1]
    if ndim <= 2 and other <= 2:
        return PRODUCT.call2(<object>args[0], <object>args[1])
    return native_functions.TENSORDOT(<object>args[0], <object>args[1], (ndim - 1,), (max(other - 2, 0),))


def following(x):
    """Return for each element the next one of the last dimension, for the last one the first."""
    return native_functions.ROLL(x, (-1,), (-1,))


def cross(self, other, axis=-1):
    """Multiply crosswise in six operations: ``x[i] * y[i + 1] - x[i + 1] * y[i]`` is element ``i + 2``."""
    axis = PyNumber_Index(axis)
    for x in (self, other):
        if not -x.ndim <= axis < x.ndim or x.shape[axis] != 3:
            shapes = f"{self.shape} and {other.shape}"
            raise ValueError(f"cross() needs 3 elements along axis {axis}, found shapes {shapes}.")
    if axis != -1:
        self, other = self.movedim(axis, -1), other.movedim(axis, -1)
    made = following(self * following(other) - following(self) * other)
    return made if axis == -1 else made.movedim(-1, axis)


def outer(self, other):
    """Multiply a column by a row."""
    if self.ndim != 1 or other.ndim != 1:
        raise ValueError(f"outer() takes vectors, found shapes {self.shape} and {other.shape}.")
    return native_functions.UNSQUEEZE(self, 1) * other


def pinv_kernel(self, rtol):
    """Name the argument: its default in NumPy is not None, for which older versions warn."""
    return np.linalg.pinv(self) if rtol is None else np.linalg.pinv(self, rtol=rtol)


cdef object trace(Kernel self, object table, arguments_t args):
    """Add up a view, by a sum that is right in all types."""
    diagonal = native_functions.DIAGONAL(<object>args[0], <object>args[1], -2, -1)
    return native_functions.SUM(diagonal, axis=[-1], dtype=<object>args[2])


def einsum_kernel(equation, tensors):
    """Plan the order of contractions, by products of matrices, where that takes less time than it saves."""
    try:
        if len(tensors) <= 2 and max([x.size for x in tensors]) < GRAIN_ELEMENTS:
            return np.einsum(equation, *tensors)
        return np.einsum(equation, *tensors, optimize=True)
    except ValueError as error:
        shapes = ", ".join([str(x.shape) for x in tensors])
        raise ValueError(f"einsum({equation!r}) of shapes {shapes}: {error}") from None


cdef Kernel VECTOR_NORM_BY_NUMPY = NumpyKernel(np.linalg.vector_norm, floats=True, widens=True)


cdef object vector_norm(Kernel self, object table, arguments_t args):
    """Return the root of the sum of squares without a temporary; other norms are NumPy's."""
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    cdef bint keepdims = <object>args[2]
    if <object>args[3] != 2 or x.numel == 0 or x.dtype_code != FLOAT32 and x.dtype_code != FLOAT64:
        return VECTOR_NORM_BY_NUMPY.function(VECTOR_NORM_BY_NUMPY, table, args)
    return Tensor_wrap(length_impl(x, axes_from_any(<object>args[1], x.ndim), keepdims))


for _table, _function in (
    (native_functions.CHOLESKY, np.linalg.cholesky), (native_functions.DET, np.linalg.det),
    (native_functions.EIG, eig_kernel), (native_functions.EIGH, np.linalg.eigh),
    (native_functions.EIGVALS, eigvals_kernel), (native_functions.EIGVALSH, np.linalg.eigvalsh),
    (native_functions.INV, np.linalg.inv), (native_functions.MATRIX_NORM, np.linalg.matrix_norm),
    (native_functions.MATRIX_RANK, np.linalg.matrix_rank), (native_functions.PINV, pinv_kernel),
    (native_functions.QR, np.linalg.qr), (native_functions.SLOGDET, np.linalg.slogdet),
    (native_functions.SVD, np.linalg.svd), (native_functions.SVDVALS, np.linalg.svdvals),
):
    _table.register("CPU", NumpyKernel(_function, floats=True, widens=True))
for _table, _function in (
    (native_functions.EINSUM, einsum_kernel), (native_functions.TENSORDOT, tensordot_kernel),
):
    _table.register("CPU", NumpyKernel(_function, promotes=True, widens=True))
native_functions.DOT.register("CompositeExplicitAutograd", Kernel_of("dot", dot))
native_functions.OUTER.register("CPU", outer)
native_functions.CROSS.register("CPU", cross)
native_functions.MATRIX_POWER.register("CPU", NumpyKernel(np.linalg.matrix_power, widens=True))
native_functions.SOLVE.register("CPU", NumpyKernel(np.linalg.solve, promotes=True, floats=True, widens=True))
native_functions.VECTOR_NORM.register("CPU", Kernel_of("vector_norm", vector_norm))
native_functions.TRACE.register("CompositeExplicitAutograd", Kernel_of("trace", trace))
