"""Kernels of linear algebra, by NumPy over zero-copy views; what is narrower than float32 is reckoned in that."""

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels.numpy_kernel import NumpyKernel

__all__ = []


def tensordot_kernel(self, other, dims_self, dims_other):
    """Sum over pairs of dimensions."""
    return np.tensordot(self, other, (dims_self, dims_other))


def complex_of(array):
    """Return NumPy's complex type of the same precision."""
    return np.result_type(array.dtype, np.complex64)


def eig_kernel(self):
    """Be complex also where NumPy finds no imaginary parts."""
    values, vectors = np.linalg.eig(self)
    return values.astype(complex_of(values), copy=False), vectors.astype(complex_of(vectors), copy=False)


def eigvals_kernel(self):
    """Be complex also where NumPy finds no imaginary parts."""
    values = np.linalg.eigvals(self)
    return values.astype(complex_of(values), copy=False)


def cholesky_kernel(self, upper=False):
    """Name the argument, as NumPy wants it."""
    return np.linalg.cholesky(self, upper=upper)


def cross_kernel(self, other, axis=-1):
    """Name the argument, as NumPy wants it."""
    return np.linalg.cross(self, other, axis=axis)


def matrix_norm_kernel(self, ord, keepdims):
    """Name the arguments, as NumPy wants it."""
    return np.linalg.matrix_norm(self, ord=ord, keepdims=keepdims)


def matrix_rank_kernel(self, rtol=None):
    """Name the argument, as NumPy wants it."""
    return np.linalg.matrix_rank(self, rtol=rtol)


def pinv_kernel(self, rtol=None):
    """Name the argument: its default in NumPy is not None, for which older versions warn."""
    return np.linalg.pinv(self) if rtol is None else np.linalg.pinv(self, rtol=rtol)


def trace_kernel(self, offset, dtype):
    """Add up a view, by a sum that is right in all types."""
    return native_functions.SUM(native_functions.DIAGONAL(self, offset, -2, -1), axis=[-1], dtype=dtype)


def vector_norm_kernel(self, ord, axis, keepdims):
    """Name the arguments, as NumPy wants it."""
    return np.linalg.vector_norm(self, ord=ord, axis=axis, keepdims=keepdims)


for _table, _kernel in (
    (native_functions.TENSORDOT, NumpyKernel(tensordot_kernel, promotes=True, widens=True)),
    (native_functions.CHOLESKY, NumpyKernel(cholesky_kernel, floats=True, widens=True)),
    (native_functions.CROSS, NumpyKernel(cross_kernel, promotes=True, widens=True)),
    (native_functions.DET, NumpyKernel(np.linalg.det, floats=True, widens=True)),
    (native_functions.EIG, NumpyKernel(eig_kernel, floats=True, widens=True)),
    (native_functions.EIGH, NumpyKernel(np.linalg.eigh, floats=True, widens=True)),
    (native_functions.EIGVALS, NumpyKernel(eigvals_kernel, floats=True, widens=True)),
    (native_functions.EIGVALSH, NumpyKernel(np.linalg.eigvalsh, floats=True, widens=True)),
    (native_functions.INV, NumpyKernel(np.linalg.inv, floats=True, widens=True)),
    (native_functions.MATRIX_NORM, NumpyKernel(matrix_norm_kernel, floats=True, widens=True)),
    (native_functions.MATRIX_POWER, NumpyKernel(np.linalg.matrix_power, widens=True)),
    (native_functions.MATRIX_RANK, NumpyKernel(matrix_rank_kernel, floats=True, widens=True)),
    (native_functions.OUTER, NumpyKernel(np.linalg.outer, promotes=True, widens=True)),
    (native_functions.PINV, NumpyKernel(pinv_kernel, floats=True, widens=True)),
    (native_functions.QR, NumpyKernel(np.linalg.qr, floats=True, widens=True)),
    (native_functions.SLOGDET, NumpyKernel(np.linalg.slogdet, floats=True, widens=True)),
    (native_functions.SOLVE, NumpyKernel(np.linalg.solve, promotes=True, floats=True, widens=True)),
    (native_functions.SVD, NumpyKernel(np.linalg.svd, floats=True, widens=True)),
    (native_functions.SVDVALS, NumpyKernel(np.linalg.svdvals, floats=True, widens=True)),
    (native_functions.VECTOR_NORM, NumpyKernel(vector_norm_kernel, floats=True, widens=True)),
):
    _table.register("CPU", _kernel)

native_functions.TRACE.register("CompositeExplicitAutograd", trace_kernel)
