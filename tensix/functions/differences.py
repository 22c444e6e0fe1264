"""Differences of neighbours."""

import numpy as np

from tensix._tensor import Tensor
from tensix.dispatch import native_functions
from tensix.kernels.numpy_kernel import NumpyKernel

__all__ = ["diff"]


def diff(
    x: Tensor, /, n: int = 1, *, axis: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Return the differences of neighbours along a dimension.

    Parameters
    ----------
    x : Tensor
        The tensor.
    n : int, optional
        How many times differences are taken, 0 or more; if there are fewer elements, none are left. Here it may
        stand by position, as in NumPy.
    axis : int, optional
        The dimension.
    prepend, append : Tensor, optional
        What to put before and behind the elements first.

    Raises
    ------
    IndexError
        If there is no such dimension.
    ValueError
        If `n` is negative.

    Examples
    --------
    >>> import tensix
    >>> tensix.diff(tensix.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    return native_functions.DIFF(x, n, axis, prepend, append)


def diff_kernel(self, n, axis, prepend=None, append=None):
    """Leave out what is not given: to NumPy None would be a value."""
    given = {name: value for name, value in (("prepend", prepend), ("append", append)) if value is not None}
    if n > 1:
        once = np.diff(self, 1, axis, **given)
        if n > once.shape[axis]:  # each round takes one away: NumPy would go on when nothing is left
            return once.take([], axis)
        return np.diff(once, n - 1, axis)
    return np.diff(self, n, axis, **given)


native_functions.DIFF.register("CPU", NumpyKernel(diff_kernel, promotes=True))
