"""Sorting, by NumPy."""

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels.axes import wrapped_axes
from tensix.kernels.numpy_kernel import NumpyKernel


def sort_kernel(self, axis, *, descending, stable):
    """Sort; a descending order that keeps equal elements in theirs is an ascending one, read and written backwards."""
    wrapped_axes((axis,), self.ndim)
    if not descending:
        return np.sort(self, axis, stable=stable)
    return np.flip(np.sort(np.flip(self, axis), axis, stable=stable), axis)


def argsort_kernel(self, axis, *, descending, stable):
    """Return positions; backwards as in `sort_kernel`, where position i has been position n - 1 - i."""
    wrapped_axes((axis,), self.ndim)
    if not descending:
        return np.argsort(self, axis, stable=stable)
    backwards = np.argsort(np.flip(self, axis), axis, stable=stable)
    return self.shape[axis] - 1 - np.flip(backwards, axis)


native_functions.SORT.register("CPU", NumpyKernel(sort_kernel, widens=True))
native_functions.ARGSORT.register("CPU", NumpyKernel(argsort_kernel, widens=True))
