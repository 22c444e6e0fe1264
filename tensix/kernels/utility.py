"""Differences of neighbours, by NumPy; whether all or any elements are true is a reduction of ``statistical.pyx``."""

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels.numpy_kernel import NumpyKernel


def diff_kernel(self, n, axis, prepend, append):
    """Leave out what is not given: to NumPy None would be a value."""
    given = {name: value for name, value in (("prepend", prepend), ("append", append)) if value is not None}
    if n > 1:
        once = np.diff(self, 1, axis, **given)
        if n > once.shape[axis]:  # each round takes one away: NumPy would go on when nothing is left
            return once.take([], axis)
        return np.diff(once, n - 1, axis)
    return np.diff(self, n, axis, **given)


native_functions.DIFF.register("CPU", NumpyKernel(diff_kernel, promotes=True))
