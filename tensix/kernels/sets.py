"""Sets: which values there are, by NumPy."""

import numpy as np

from tensix.dispatch import native_functions
from tensix.kernels.numpy_kernel import NumpyKernel


def unique_values_kernel(self):
    """Sort, where NumPy's function of this name would leave the order open."""
    return np.unique(self, equal_nan=False)


for _table, _kernel in (
    (native_functions.ISIN, NumpyKernel(np.isin, promotes=True, widens=True)),
    (native_functions.UNIQUE_ALL, NumpyKernel(np.unique_all, widens=True)),
    (native_functions.UNIQUE_COUNTS, NumpyKernel(np.unique_counts, widens=True)),
    (native_functions.UNIQUE_INVERSE, NumpyKernel(np.unique_inverse, widens=True)),
    (native_functions.UNIQUE_VALUES, NumpyKernel(unique_values_kernel, widens=True)),
):
    _table.register("CPU", _kernel)
