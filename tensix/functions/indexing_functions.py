"""The array API standard's chapter on indexing by tensors, beside ``x[...]``."""

import numpy as np

from tensix._tensor import Tensor
from tensix.dispatch import native_functions
from tensix.kernels.numpy_kernel import NumpyKernel

__all__ = ["take", "take_along_axis"]


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Return the elements at given positions of a dimension.

    Parameters
    ----------
    x : Tensor
        The tensor.
    indices : Tensor
        The positions, of any shape, which takes the dimension's place; negative ones count from the end.
    axis : int or None, optional
        The dimension; None takes from the elements in row-major order.

    Raises
    ------
    IndexError
        If there is no such position or dimension.
    TypeError
        If the positions are not integers.

    Examples
    --------
    >>> import tensix
    >>> tensix.take(tensix.tensor([[1, 2, 3], [4, 5, 6]]), tensix.tensor([2, 0]), axis=1)
    tensor([[3, 1],
            [6, 4]])
    """
    return native_functions.TAKE(x, indices, axis=axis)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return elements whose positions in one dimension are given for each place of the others.

    Parameters
    ----------
    x : Tensor
        The tensor.
    indices : Tensor
        The positions; a tensor of as many dimensions, such as `argsort` returns.
    axis : int, optional
        The dimension that they are positions in.

    Raises
    ------
    IndexError
        If there is no such position or dimension.

    Examples
    --------
    >>> import tensix
    >>> x = tensix.tensor([[3, 1, 2]])
    >>> tensix.take_along_axis(x, tensix.argsort(x))
    tensor([[1, 2, 3]])
    """
    return native_functions.TAKE_ALONG_AXIS(x, indices, axis)


def as_positions(indices):
    """Return indices that NumPy takes: of uint64 it would not, and bools it would take for 0 and 1."""
    if indices.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, found {indices.dtype}.")
    return np.minimum(indices, np.iinfo(np.int64).max).astype(np.int64) if indices.dtype == np.uint64 else indices


def take_kernel(self, index, *, axis=None):
    """Take copies."""
    return np.take(self, as_positions(index), axis)


def take_along_axis_kernel(self, indices, axis):
    """Take copies."""
    if indices.ndim != self.ndim:
        raise ValueError(f"take_along_axis() needs indices of {self.ndim} dimensions, found {indices.ndim}.")
    return np.take_along_axis(self, as_positions(indices), axis)


native_functions.TAKE.register("CPU", NumpyKernel(take_kernel, moves=True))
native_functions.TAKE_ALONG_AXIS.register("CPU", NumpyKernel(take_along_axis_kernel, moves=True))
