"""Sparse tensors. See Note [Sparse tensors have no storage].

They are NumPy's work over zero-copy views of indices and values. Indices are checked when a tensor is made and never
change afterwards, so tensors share them; values are a tensor's own.
"""
from libc.stdint cimport uint8_t
from tensix.dispatch.kernel cimport Kernel, Kernel_of, arguments_t
from tensix.dispatch.operator_table cimport OperatorTable
from tensix.loops.copy cimport converted
from tensix.kernels.linear_algebra cimport check_columns
from tensix.loops.ufunc cimport scaled
from tensix.tensors.dtype cimport dtype_of_code
from tensix.exchange.ndarray cimport impl_of_ndarray, ndarray_of_impl
from tensix.tensors.promotion cimport promote_codes
from tensix.exchange.numpy_calls cimport call_ignoring_errors
from tensix.tensors.sparse_tensor_impl cimport SparseTensorImpl, SparseTensorImpl_new
from tensix.tensors.tensor_base cimport TensorBase, Tensor_wrap
from tensix.tensors.tensor_impl cimport TensorImpl_shape, TensorImpl_stride

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels import elementwise

cdef OperatorTable ADD = elementwise.add.table
cdef OperatorTable MUL = elementwise.multiply.table
cdef OperatorTable NEG = elementwise.negative.table
cdef OperatorTable CLONE, LAZY_CLONE, INDEX, ZEROS
from tensix.dispatch.native_functions import CLONE, LAZY_CLONE, INDEX, ZEROS

cdef enum:
    VALUES = 1    # variants of kernels: of `part`,
    NEGATIVE = 1  # and of `with_other_values`


# ---- making


cdef object sparse_coo_tensor(Kernel self, object table, arguments_t args):
    """Make a sparse tensor; of the values it takes a lazy copy."""
    cdef TensorBase values = <TensorBase>args[1]
    cdef object size = <object>args[2]
    where = checked_indices(<TensorBase>args[0], values)
    if size is None:
        size = [int(row.max()) + 1 if row.size else 0 for row in where]
    elif len(size) != len(where):
        raise ValueError(f"sparse_coo_tensor(): the indices have {len(where)} rows, the size {tuple(size)} has not.")
    sparse = SparseTensorImpl_new(tuple(size), frozen(where), LAZY_CLONE.call1(values), where.shape[1] <= 1)
    for dim, extent in enumerate(TensorImpl_shape(sparse)):
        for index in where[dim][(where[dim] < 0) | (where[dim] >= extent)][:1]:
            raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {extent}.")
    return Tensor_wrap(sparse)


cdef object checked_indices(TensorBase indices, TensorBase values):
    """Return a copy of the indices as int64, if they are the indices of so many values."""
    dtype = dtype_of_code(indices.impl.dtype_code)
    shape = TensorImpl_shape(indices.impl)
    if dtype.kind not in "iu":
        raise TypeError(f"sparse_coo_tensor(): indices must be integers, found {dtype.name}.")
    if len(shape) != 2 or not 0 < shape[0] <= 64:
        raise ValueError(
            "sparse_coo_tensor(): indices must be a matrix with a row per dimension (1 to 64) and a column per value, "
            f"found shape {shape}."
        )
    if TensorImpl_shape(values.impl) != shape[1:]:
        raise ValueError(
            f"sparse_coo_tensor(): {shape[1]} columns of indices need values of shape {shape[1:]}, found "
            f"{TensorImpl_shape(values.impl)}."
        )
    return np.array(ndarray_of_impl(indices.impl, False), np.int64, order="C")


cdef TensorBase frozen(where):
    """Return indices, to which nothing else refers, as a tensor that cannot be written."""
    where = np.ascontiguousarray(where)
    where.flags.writeable = False
    return Tensor_wrap(impl_of_ndarray(where, False))


cdef TensorBase adopted(array):
    """Return an array, to which nothing else refers, as a tensor."""
    return Tensor_wrap(impl_of_ndarray(array, False))


cdef object like(SparseTensorImpl x, TensorBase indices, TensorBase values, bint is_coalesced):
    return Tensor_wrap(SparseTensorImpl_new(TensorImpl_shape(x), indices, values, is_coalesced))


# ---- reading


cdef SparseTensorImpl sparse_of(TensorBase a):
    """Return the body of a sparse tensor; redispatching can bring other ones here."""
    if not isinstance(a.impl, SparseTensorImpl):
        raise TypeError(f"a sparse_coo tensor is needed, found a strided one of shape {TensorImpl_shape(a.impl)}.")
    return a.impl


cdef object where_of(SparseTensorImpl x):
    return ndarray_of_impl(x.indices.impl, False)


cdef object values_of(SparseTensorImpl x, uint8_t code):
    return ndarray_of_impl(converted(x.values.impl, code), False)


cdef object part(Kernel self, object table, arguments_t args):
    x = sparse_of(<TensorBase>args[0])
    return INDEX.call_with(x.values if self.variant == VALUES else x.indices, Ellipsis)


cdef object nnz(Kernel self, object table, arguments_t args):
    return sparse_of(<TensorBase>args[0]).values.impl.numel


cdef object is_coalesced(Kernel self, object table, arguments_t args):
    return bool(sparse_of(<TensorBase>args[0]).is_coalesced)


# ---- from one form to another


cdef object coalesce(Kernel self, object table, arguments_t args):
    """Sort the indices by the number of their element in row-major order, and sum values that meet."""
    x = sparse_of(<TensorBase>args[0])
    if x.is_coalesced:
        return <object>args[0]
    where, entries = where_of(x), values_of(x, x.dtype_code)
    numbers = np.array(TensorImpl_stride(x), np.int64) @ where
    _, first, group = np.unique(numbers, return_index=True, return_inverse=True)
    sums = np.zeros(len(first), entries.dtype)
    call_ignoring_errors(np.add.at, (sums, group, entries))
    return like(x, frozen(where[:, first]), adopted(sums), True)


cdef object to_dense(Kernel self, object table, arguments_t args):
    return dense(<TensorBase>args[0])


cdef TensorBase dense(TensorBase a):
    x = sparse_of(a)
    entries = values_of(x, x.dtype_code)
    cdef TensorBase made = ZEROS(TensorImpl_shape(x), dtype=dtype_of_code(x.dtype_code), device=a.device)
    call_ignoring_errors(np.add.at, (ndarray_of_impl(made.impl, True), tuple(where_of(x)), entries))
    return made


cdef object to_sparse(Kernel self, object table, arguments_t args):
    """Take what is not zero from a strided tensor."""
    cdef TensorBase a = <TensorBase>args[0]
    if a.impl.ndim == 0:
        raise ValueError("to_sparse() needs at least one dimension: a sparse tensor has an index per value.")
    elements = ndarray_of_impl(a.impl, False)
    where = np.nonzero(elements)
    return Tensor_wrap(
        SparseTensorImpl_new(TensorImpl_shape(a.impl), frozen(np.stack(where)), adopted(elements[where]), True))


cdef object itself(Kernel self, object table, arguments_t args):
    return <object>args[0]


cdef object with_other_values(Kernel self, object table, arguments_t args):
    """Return a tensor with the same indices, whose values are copied, or negative."""
    x = sparse_of(<TensorBase>args[0])
    return like(x, x.indices, (NEG if self.variant == NEGATIVE else CLONE).call1(x.values), x.is_coalesced)


# ---- arithmetic


cdef object add(Kernel self, object table, arguments_t args):
    """Add: two sparse tensors keep the entries of both; with a strided one the sum is strided."""
    cdef TensorBase a = <TensorBase>args[0]
    cdef TensorBase b = scaled(a, <TensorBase>args[1], <object>args[2])
    if not isinstance(a.impl, SparseTensorImpl):
        return ADD.call2(a, dense(b))
    if not isinstance(b.impl, SparseTensorImpl):
        return ADD.call2(dense(a), b)
    x, y = sparse_of(a), sparse_of(b)
    if TensorImpl_shape(x) != TensorImpl_shape(y):
        raise ValueError(
            f"sparse tensors of different shapes cannot be added, found {TensorImpl_shape(x)} and "
            f"{TensorImpl_shape(y)}. Make one of them dense with to_dense()."
        )
    code = promote_codes(x.dtype_code, y.dtype_code)
    where = np.concatenate([where_of(x), where_of(y)], axis=1)
    entries = np.concatenate([values_of(x, code), values_of(y, code)])
    return like(x, frozen(where), adopted(entries), False)


cdef object mul(Kernel self, object table, arguments_t args):
    """Multiply by a number."""
    cdef TensorBase a = <TensorBase>args[0]
    cdef TensorBase b = <TensorBase>args[1]
    if b.impl.ndim != 0 and a.impl.ndim != 0:
        raise NotImplementedError(
            "mul() of a sparse_coo tensor takes a number or a tensor without dimensions, found shapes "
            f"{TensorImpl_shape(a.impl)} and {TensorImpl_shape(b.impl)}. Make it dense with to_dense()."
        )
    x = sparse_of(b if a.impl.ndim == 0 else a)
    product = MUL.call2(a, x.values) if a.impl.ndim == 0 else MUL.call2(x.values, b)
    return like(x, x.indices, product, x.is_coalesced)


cdef object matmul(Kernel self, object table, arguments_t args):
    """Multiply a sparse matrix with a strided matrix or vector, from either side; the product is strided."""
    cdef SparseTensorImpl x
    cdef TensorBase a = <TensorBase>args[0]
    cdef TensorBase b = <TensorBase>args[1]
    is_left = isinstance(a.impl, SparseTensorImpl)
    if is_left and isinstance(b.impl, SparseTensorImpl):
        raise NotImplementedError("matmul() of two sparse_coo tensors: make one of them dense with to_dense().")
    x = sparse_of(a if is_left else b)
    cdef TensorBase other = b if is_left else a
    check_columns(a, b)
    if x.ndim != 2 or other.ndim > 2:
        raise NotImplementedError(
            "matmul() takes a sparse matrix and a strided matrix or vector, found shapes "
            f"{TensorImpl_shape(a.impl)} and {TensorImpl_shape(b.impl)}."
        )
    code = promote_codes(x.dtype_code, other.impl.dtype_code)
    factors = ndarray_of_impl(converted(other.impl, code), False)
    rows, columns = where_of(x)
    shape = TensorImpl_shape(a.impl)[:a.impl.ndim - 1] + TensorImpl_shape(b.impl)[1:]
    cdef TensorBase made = ZEROS(shape, dtype=dtype_of_code(code), device=a.device)
    out = ndarray_of_impl(made.impl, True)
    if is_left:
        add_products(out, rows, columns, values_of(x, code), factors)
    else:  # the transposed product
        add_products(out.T, columns, rows, values_of(x, code), factors.T)
    return made


cdef int add_products(out, rows, columns, entries, factors) except -1:
    """Add each entry of a sparse matrix, times the factors of its column, to its row."""
    products = call_ignoring_errors(np.multiply, (factors[columns].T, entries)).T
    call_ignoring_errors(np.add.at, (out, rows, products))
    return 0


for _table, _kernel in (
    (native_functions.INDICES, Kernel_of("indices", part)),
    (native_functions.VALUES, Kernel_of("values", part, VALUES)),
    (native_functions.NNZ, Kernel_of("nnz", nnz)),
    (native_functions.IS_COALESCED, Kernel_of("is_coalesced", is_coalesced)),
    (native_functions.COALESCE, Kernel_of("coalesce", coalesce)),
    (native_functions.TO_DENSE, Kernel_of("to_dense", to_dense)),
    (native_functions.TO_SPARSE, Kernel_of("itself", itself)),
    (native_functions.CLONE, Kernel_of("clone", with_other_values)),
    (elementwise.negative.table, Kernel_of("sparse neg", with_other_values, NEGATIVE)),
    (elementwise.add.table, Kernel_of("sparse add", add)),
    (elementwise.multiply.table, Kernel_of("sparse mul", mul)),
    (native_functions.MATMUL, Kernel_of("sparse matmul", matmul)),
):
    _table.register("SparseCPU", _kernel)

native_functions.SPARSE_COO_TENSOR.register("CPU", Kernel_of("sparse_coo_tensor", sparse_coo_tensor))
native_functions.TO_SPARSE.register("CPU", Kernel_of("to_sparse", to_sparse))
native_functions.TO_DENSE.register("CompositeExplicitAutograd", Kernel_of("itself", itself))
