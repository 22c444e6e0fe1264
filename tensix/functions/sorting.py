"""The array API standard's chapter on sorting."""

import numpy as np

from tensix._tensor import Tensor
from tensix.dispatch import native_functions
from tensix.functions.manipulation import wrapped_axes
from tensix.kernels.numpy_kernel import NumpyKernel

__all__ = ["argsort", "sort"]


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return the positions that bring the elements of a dimension into order.

    Parameters
    ----------
    x : Tensor
        The tensor.
    axis : int, optional
        The dimension.
    descending : bool, optional
        Whether the largest comes first.
    stable : bool, optional
        Whether equal elements keep their order, also in descending order.

    Raises
    ------
    IndexError
        If there is no such dimension.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.tensor([2, 1, 2])
    >>> tensix.argsort(x), tensix.argsort(x, descending=True)
    (tensor([1, 0, 2]), tensor([0, 2, 1]))
    """
    return native_functions.ARGSORT(x, axis, descending=descending, stable=stable)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Return a copy with the elements of a dimension in order; parameters as for `argsort`.

    Not-a-numbers come last, in descending order first.

    Examples
    --------
    >>> import tensix
    >>> tensix.sort(tensix.tensor([2, 3, 1]), descending=True)
    tensor([3, 2, 1])
    """
    return native_functions.SORT(x, axis, descending=descending, stable=stable)


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
