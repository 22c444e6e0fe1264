"""Linear algebra: products of matrices and of vectors by the inner loops of NumPy's generalised ufuncs.

Such a loop takes whole matrices or vectors, the core, in place of single elements: it gets their sizes behind the
count, and their strides behind the steps from one core to the next. The iterator walks over what stands before them.

All else are functions of NumPy over zero-copy views; what is narrower than float32 is computed in that.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t, uint8_t
from numpy cimport npy_intp
from tensix.core.device cimport META
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operands cimport scalar_like
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.loops.copy cimport converted
from tensix.loops.empty cimport empty_impl
from tensix.loops.gufunc cimport call_t, core_loop
from tensix.loops.iterator cimport (
    GRAIN_ELEMENTS,
    iterator_begin_use,
    iterator_end_use,
    iterator_run,
    iterator_simplify,
    iterator_start,
    iterator_t,
    iterator_total,
    iterator_walk,
)
from tensix.kernels.statistical cimport axes_from_any, length_impl, take_loop
from tensix.tensors.dtype cimport BFLOAT16, FLOAT32, FLOAT64, dtype_of_code, itemsize_of
from tensix.tensors.promotion cimport promote_codes
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport (
    TensorImpl,
    TensorImpl_const_data,
    TensorImpl_mutable_data,
    TensorImpl_shape,
    TensorImpl_sizes,
    TensorImpl_strides,
    int64_of,
    refuse_devices,
    wrap_dim,
)

import math

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels import elementwise
from tensix.loops.axes import as_tuple, wrapped_axes
from tensix.loops.gufunc import FactorsKernel, GufuncKernel
from tensix.loops.numpy_kernel import NumpyKernel
from tensix.tensors.dtype import float64


cdef struct operand_t:
    int ndim            # of what stands before the core
    int64_t sizes[64]
    npy_intp steps[64]


cdef call_t MATMUL[47]  # (n, k), (k, m) -> (n, m)
cdef call_t VECDOT[47]  # (n), (n) -> ()


cdef object matmul(Kernel self, object table, arguments_t args):
    """Multiply matrices; a tensor of one dimension is a row on the left and a column on the right."""
    cdef TensorBase a = <TensorBase>args[0]
    cdef TensorBase b = <TensorBase>args[1]
    cdef uint8_t code, working
    check_pair(a, b)
    code = promote_codes(a.impl.dtype_code, b.impl.dtype_code)
    check_columns(a, b)
    working = FLOAT32 if code == BFLOAT16 else code
    cdef TensorImpl x = converted(a.impl, working)
    cdef TensorImpl y = converted(b.impl, working)
    cdef call_t core = MATMUL[working]
    cdef operand_t left, right
    cdef int64_t sizes[64]
    cdef npy_intp itemsize = itemsize_of(working)
    cdef bint has_rows = x.ndim > 1
    cdef bint has_columns = y.ndim > 1
    cdef int last = x.ndim - 1
    cdef int inner = y.ndim - 2 if has_columns else 0
    operand_init(&left, x, x.ndim - 2, last, itemsize)
    operand_init(&right, y, y.ndim - 2, y.ndim - 1, itemsize)
    core.sizes[0] = TensorImpl_sizes(x)[last - 1] if has_rows else 1
    core.sizes[1] = TensorImpl_sizes(x)[last]
    core.sizes[2] = TensorImpl_sizes(y)[inner + 1] if has_columns else 1
    core.steps[1] = TensorImpl_strides(x)[last] * itemsize
    core.steps[0] = TensorImpl_strides(x)[last - 1] * itemsize if has_rows else core.steps[1] * core.sizes[1]
    core.steps[2] = TensorImpl_strides(y)[inner] * itemsize
    core.steps[3] = TensorImpl_strides(y)[inner + 1] * itemsize if has_columns else itemsize
    core.steps[4], core.steps[5] = core.sizes[2] * itemsize, itemsize
    core.operands, core.size_count, core.step_count = 3, 3, 6
    cdef int ndim = broadcast(&left, &right, sizes)
    if ndim < 0:
        raise ValueError(
            f"matmul() of shapes {a.shape} and {b.shape}: what stands before the matrices cannot be broadcast together."
        )
    cdef int outer = ndim
    if has_rows:
        sizes[ndim] = core.sizes[0]
        ndim += 1
    if has_columns:
        sizes[ndim] = core.sizes[2]
        ndim += 1
    return Tensor_wrap(converted(product(&core, x, y, &left, &right, outer, ndim, sizes, working), code))


cdef object vecdot(Kernel self, object table, arguments_t args):
    """Multiply vectors along a dimension of each, the first conjugated."""
    cdef TensorBase a = <TensorBase>args[0]
    cdef TensorBase b = <TensorBase>args[1]
    cdef uint8_t code, working
    cdef int64_t axis = int64_of(<object>args[2])
    check_pair(a, b)
    code = promote_codes(a.impl.dtype_code, b.impl.dtype_code)
    working = FLOAT32 if code == BFLOAT16 else code
    cdef TensorImpl x = converted(a.impl, working)
    cdef TensorImpl y = converted(b.impl, working)
    cdef call_t core = VECDOT[working]
    cdef operand_t left, right
    cdef int64_t sizes[64]
    cdef npy_intp itemsize = itemsize_of(working)
    cdef int mine = wrap_dim(axis, x.ndim)
    cdef int other = wrap_dim(axis, y.ndim)
    if x.ndim == 0 or y.ndim == 0:  # wrap_dim() takes 0 and -1 for them
        raise IndexError(f"vecdot() needs at least one dimension on each side, found shapes {a.shape} and {b.shape}.")
    operand_init(&left, x, mine, mine, itemsize)
    operand_init(&right, y, other, other, itemsize)
    core.sizes[0] = TensorImpl_sizes(x)[mine]
    core.steps[0] = TensorImpl_strides(x)[mine] * itemsize
    core.steps[1] = TensorImpl_strides(y)[other] * itemsize
    core.operands, core.size_count, core.step_count = 3, 1, 2
    cdef int ndim = broadcast(&left, &right, sizes)
    if ndim < 0 or core.sizes[0] != TensorImpl_sizes(y)[other]:
        raise ValueError(
            f"vecdot() of shapes {a.shape} and {b.shape} along dimension {axis}: those sizes must be the same, and the "
            "others must fit each other."
        )
    return Tensor_wrap(converted(product(&core, x, y, &left, &right, ndim, ndim, sizes, working), code))


cdef int check_pair(TensorBase a, TensorBase b) except -1:
    if a.impl.device_type != b.impl.device_type:
        refuse_devices(a.impl, b.impl)
    return 0


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


cdef void operand_init(operand_t* self, TensorImpl x, int first, int second, npy_intp itemsize) noexcept:
    """Take the dimensions that are not of the core."""
    cdef int i
    self.ndim = 0
    for i in range(x.ndim):
        if i != first and i != second:
            self.sizes[self.ndim] = TensorImpl_sizes(x)[i]
            self.steps[self.ndim] = TensorImpl_strides(x)[i] * itemsize
            self.ndim += 1


cdef int broadcast(const operand_t* left, const operand_t* right, int64_t* sizes) noexcept:
    """Find the common sizes and return how many there are; -1 if there are none."""
    cdef int ndim = max(left.ndim, right.ndim)
    cdef int i
    cdef int64_t mine, other
    for i in range(ndim):
        mine = left.sizes[i - ndim + left.ndim] if i >= ndim - left.ndim else 1
        other = right.sizes[i - ndim + right.ndim] if i >= ndim - right.ndim else 1
        if mine != other and mine != 1 and other != 1:
            return -1
        sizes[i] = other if mine == 1 else mine
    return ndim


cdef TensorImpl product(
        call_t* core, TensorImpl x, TensorImpl y, const operand_t* left, const operand_t* right, int outer, int ndim,
        const int64_t* sizes, uint8_t code):
    """Return the products, over `outer` dimensions of the `ndim` that the result has; on meta the shape alone."""
    cdef iterator_t iterator
    cdef int i, k
    cdef npy_intp work
    cdef npy_intp itemsize = itemsize_of(code)
    cdef npy_intp step = itemsize
    if core.loop == NULL:
        raise TypeError(f"matmul() and vecdot() are not implemented for {dtype_of_code(code).name}.")
    cdef TensorImpl out = empty_impl(ndim, sizes, code, x.device_type, x.device_index)
    if x.device_type == META or out.numel == 0:
        return out
    iterator_start(&iterator, outer, sizes)
    iterator.operands = 3
    iterator.storages[0], iterator.storages[1] = <PyObject*>x.storage, <PyObject*>y.storage
    iterator.storages[2] = <PyObject*>out.storage
    iterator.data[0] = <char*>TensorImpl_const_data(x)
    iterator.data[1] = <char*>TensorImpl_const_data(y)
    iterator.data[2] = <char*>TensorImpl_mutable_data(out)
    for i in range(outer, ndim):
        step *= sizes[i]
    for i in range(outer - 1, -1, -1):
        for k in range(2):
            iterator.steps[i][k] = step_of(left if k == 0 else right, i - outer)
        iterator.steps[i][2] = step
        step *= sizes[i]
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


cdef npy_intp step_of(const operand_t* self, int place) noexcept:
    """Return the step of a dimension counted from the end; 0 where the operand is repeated."""
    cdef int i = self.ndim + place
    return self.steps[i] if i >= 0 and self.sizes[i] != 1 else 0


def register_products():
    """Take NumPy's loops, and enter the kernels."""
    for code in range(46):
        dtype = dtype_of_code(code)
        if dtype is not None:
            take_loop(np.matmul, dtype, &MATMUL[code].loop, &MATMUL[code].data)
            take_loop(np.vecdot, dtype, &VECDOT[code].loop, &VECDOT[code].data)
    for key in ("CPU", "Meta"):
        native_functions.MATMUL.register(key, Kernel_of("numpy.matmul", matmul))
        native_functions.VECDOT.register(key, Kernel_of("numpy.vecdot", vecdot))


register_products()


# ---- functions of NumPy


def tensordot_kernel(self, other, dims_self, dims_other):
    """Sum over pairs of dimensions."""
    return np.tensordot(self, other, (dims_self, dims_other))


def complex_of(array):
    """Return NumPy's complex type of the same precision."""
    return np.result_type(array.dtype, np.complex64)


def eig_kernel(self):
    """Return complex results also where NumPy finds no imaginary parts."""
    values, vectors = np.linalg.eig(self)
    return values.astype(complex_of(values), copy=False), vectors.astype(complex_of(vectors), copy=False)


def eigvals_kernel(self):
    """Return complex results also where NumPy finds no imaginary parts."""
    values = np.linalg.eigvals(self)
    return values.astype(complex_of(values), copy=False)


def cholesky_kernel(self, upper):
    """Name the argument, as NumPy wants it."""
    return np.linalg.cholesky(self, upper=upper)


def cross_kernel(self, other, axis):
    """Name the argument, as NumPy wants it."""
    return np.linalg.cross(self, other, axis=axis)


def matrix_norm_kernel(self, ord, keepdims):
    """Name the arguments, as NumPy wants it."""
    return np.linalg.matrix_norm(self, ord=ord, keepdims=keepdims)


def matrix_rank_kernel(self, rtol):
    """Name the argument, as NumPy wants it."""
    return np.linalg.matrix_rank(self, rtol=rtol)


def pinv_kernel(self, rtol):
    """Name the argument: its default in NumPy is not None, for which older versions warn."""
    return np.linalg.pinv(self) if rtol is None else np.linalg.pinv(self, rtol=rtol)


cdef object trace(Kernel self, object table, arguments_t args):
    """Add up a view, by a sum that is right in all types."""
    diagonal = native_functions.DIAGONAL(<object>args[0], <object>args[1], -2, -1)
    return native_functions.SUM(diagonal, axis=[-1], dtype=<object>args[2])


def vector_norm_kernel(self, ord, axis, keepdims):
    """Name the arguments, as NumPy wants it."""
    return np.linalg.vector_norm(self, ord=ord, axis=axis, keepdims=keepdims)


# ---- by other operators, where they compute the same


cdef class ComposedKernel(Kernel):
    """Call a function that calls other operators; if it returns None, another kernel serves the call."""

    cdef object composed
    cdef Kernel rest

    def __init__(self, composed, Kernel rest not None):
        self.composed, self.rest, self.function, self.serves_any = composed, rest, compose, True
        self.name = composed.__name__


cdef object compose(Kernel kernel, object table, arguments_t args):
    cdef ComposedKernel self = <ComposedKernel>kernel
    cdef TensorImpl x = (<TensorBase>args[0]).impl
    if x.numel != 0 and (x.dtype_code == FLOAT32 or x.dtype_code == FLOAT64):
        found = self.composed(*[<object>args[i] for i in range((<OperatorTable>table).count)])
        if found is not None:
            return found
    return self.rest.function(self.rest, table, args)


cdef OperatorTable MUL = elementwise.multiply.table
cdef OperatorTable ABS = elementwise.abs.table
cdef object SUM = native_functions.SUM
cdef object MAX = native_functions.MAX
cdef object MIN = native_functions.MIN
cdef double INFINITY = float("inf")


def tensordot_by_operators(TensorBase x, TensorBase y, first, second):
    """Multiply matrices, if the last dimensions meet the first ones in their order."""
    cdef int count = len(first)
    rows, columns = x.shape[:x.ndim - count], y.shape[count:]
    if (tuple(first) != tuple(range(x.ndim - count, x.ndim)) or tuple(second) != tuple(range(count))
            or x.shape[x.ndim - count:] != y.shape[:count] or count == 0 or y.impl.numel == 0):
        return None
    size = y.impl.numel // max(1, math.prod(columns))
    left = x if count == 1 and x.ndim <= 2 else x.reshape((-1, size) if rows else (size,))
    right = y if count == 1 and y.ndim <= 2 else y.reshape((size, -1) if columns else (size,))
    product = native_functions.MATMUL(left, right)
    return product if product.shape == rows + columns else product.reshape(rows + columns)


def matrix_power_by_operators(TensorBase x, n):
    """Multiply once or twice."""
    if n not in (2, 3) or x.ndim < 2 or x.shape[x.ndim - 1] != x.shape[x.ndim - 2]:
        return None
    product = native_functions.MATMUL(x, x)
    return product if n == 2 else native_functions.MATMUL(product, x)


def outer_by_operators(TensorBase x, TensorBase y):
    """Multiply by broadcasting."""
    return MUL.call2(native_functions.UNSQUEEZE(x, 1), y) if x.ndim == y.ndim == 1 else None


def vector_norm_by_operators(TensorBase x, ord, axis, keepdims):
    """Compute the usual norms."""
    if axis is not None:
        try:
            axis = (axis,) if type(axis) is int and 0 <= axis + x.ndim < 2 * x.ndim else (
                wrapped_axes(as_tuple(axis), x.ndim))
        except (IndexError, TypeError, ValueError):
            return None
    if ord == 2:
        return Tensor_wrap(length_impl(x.impl, axes_from_any(axis, x.impl.ndim), keepdims))
    if ord == 1:
        return SUM(ABS.call1(x), axis=axis, keepdims=keepdims)
    return MAX(ABS.call1(x), axis=axis, keepdims=keepdims) if ord == INFINITY else None


def matrix_norm_by_operators(TensorBase x, ord, keepdims):
    """Compute norms of sums, and those of singular values."""
    if x.ndim < 2:
        return None
    if ord is None or ord == "fro":
        return Tensor_wrap(length_impl(x.impl, axes_from_any((-2, -1), x.impl.ndim), keepdims))
    if ord in (1, -1, INFINITY, -INFINITY):
        sums = SUM(ABS.call1(x), axis=(-2 if ord in (1, -1) else -1,), keepdims=True)
        return (MAX if ord > 0 else MIN)(sums, axis=(-2, -1), keepdims=keepdims)
    if keepdims or ord not in ("nuc", 2, -2):
        return None
    return (SUM if ord == "nuc" else MAX if ord == 2 else MIN)(native_functions.SVDVALS(x), axis=(-1,))


def cross_by_operators(TensorBase x, TensorBase y, axis):
    """Multiply the elements of vectors crosswise."""
    cdef int i
    if not (x.impl.dtype_code == y.impl.dtype_code and -min(x.ndim, y.ndim) <= axis < 0 and y.impl.numel != 0
            and x.shape[axis + x.ndim] == y.shape[axis + y.ndim] == 3):
        return None
    a = [native_functions.SELECT(x, axis, i) for i in range(3)]
    b = [native_functions.SELECT(y, axis, i) for i in range(3)]
    return native_functions.STACK(
        [MUL.call2(a[(i + 1) % 3], b[(i + 2) % 3]) - MUL.call2(a[(i + 2) % 3], b[(i + 1) % 3]) for i in range(3)], axis)


def pinv_by_operators(TensorBase x, rtol):
    """Multiply the factors in the other order, with the inverses of the singular values that are large enough."""
    if rtol is not None or x.ndim < 2:
        return None
    u, values, vh = native_functions.SVD(x, False)
    exact = native_functions.ASTYPE(values, float64)  # the tolerance of NumPy, in which it compares
    large = exact > MAX(exact, axis=(-1,), keepdims=True) * 1e-15
    inverses = native_functions.UNSQUEEZE(native_functions.WHERE(large, 1 / values, scalar_like(values, 0)), -1)
    return native_functions.MATMUL(vh.mT, MUL.call2(inverses, u.mT))


def matrix_rank_by_operators(TensorBase x, rtol):
    """Count singular values."""
    if rtol is not None or x.ndim < 2:
        return None
    tolerance = max(x.shape[x.ndim - 1], x.shape[x.ndim - 2]) * EPSILONS[x.impl.dtype_code]
    values = native_functions.SVDVALS(x)  # behind what is read of `x`: an allocator may change it here
    return SUM(values > MAX(values, axis=(-1,), keepdims=True) * tolerance, axis=(-1,))


cdef dict EPSILONS = {FLOAT32: float(np.finfo(np.float32).eps), FLOAT64: float(np.finfo(np.float64).eps)}


def float_kernel(function):
    return NumpyKernel(function, floats=True, widens=True)


def common_kernel(function):
    return NumpyKernel(function, promotes=True, widens=True)


for _table, _kernel in (
    (native_functions.TENSORDOT, ComposedKernel(tensordot_by_operators, common_kernel(tensordot_kernel))),
    (native_functions.CHOLESKY, GufuncKernel(("cholesky_lo", "cholesky_up"), float_kernel(cholesky_kernel))),
    (native_functions.CROSS, ComposedKernel(cross_by_operators, common_kernel(cross_kernel))),
    (native_functions.DET, GufuncKernel("det", float_kernel(np.linalg.det), may_fail=False)),
    (native_functions.EIG, GufuncKernel("eig", float_kernel(eig_kernel), must_be_finite=True)),
    (native_functions.EIGH, GufuncKernel("eigh_lo", float_kernel(np.linalg.eigh))),
    (native_functions.EIGVALS, GufuncKernel("eigvals", float_kernel(eigvals_kernel), must_be_finite=True)),
    (native_functions.EIGVALSH, GufuncKernel("eigvalsh_lo", float_kernel(np.linalg.eigvalsh))),
    (native_functions.INV, GufuncKernel("inv", float_kernel(np.linalg.inv))),
    (native_functions.MATRIX_NORM, ComposedKernel(matrix_norm_by_operators, float_kernel(matrix_norm_kernel))),
    (native_functions.MATRIX_POWER, ComposedKernel(
        matrix_power_by_operators, NumpyKernel(np.linalg.matrix_power, widens=True))),
    (native_functions.MATRIX_RANK, ComposedKernel(matrix_rank_by_operators, float_kernel(matrix_rank_kernel))),
    (native_functions.OUTER, ComposedKernel(outer_by_operators, common_kernel(np.linalg.outer))),
    (native_functions.PINV, ComposedKernel(pinv_by_operators, float_kernel(pinv_kernel))),
    (native_functions.QR, FactorsKernel(float_kernel(np.linalg.qr))),
    (native_functions.SLOGDET, GufuncKernel("slogdet", float_kernel(np.linalg.slogdet), may_fail=False)),
    (native_functions.SOLVE, GufuncKernel(
        ("solve", "solve1"), NumpyKernel(np.linalg.solve, promotes=True, floats=True, widens=True))),
    (native_functions.SVD, GufuncKernel(("svd_s", "svd_f"), float_kernel(np.linalg.svd))),
    (native_functions.SVDVALS, GufuncKernel("svd", float_kernel(np.linalg.svdvals))),
    (native_functions.VECTOR_NORM, ComposedKernel(vector_norm_by_operators, float_kernel(vector_norm_kernel))),
):
    _table.register("CPU", _kernel)

native_functions.TRACE.register("CompositeExplicitAutograd", Kernel_of("trace", trace))
