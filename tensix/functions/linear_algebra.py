"""The array API standard's chapter on linear algebra in the main namespace; the rest is in ``tensix.linalg``."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from tensix._tensor import Tensor
from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import function, operator, tensors_only

__all__ = ["dot", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]


@operator(native_functions.DOT)
def dot(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return the sum of products over the last dimension of one tensor and the last but one of another.

    Of two vectors it is the inner product, of two matrices the product of matrices. A tensor without dimensions is a
    factor; the second may be a vector beside a first of any dimensions.

    Raises
    ------
    ValueError
        If the sizes of those dimensions differ.

    Examples
    --------
    >>> tensix.dot(tensix.tensor([1, 2]), tensix.tensor([3, 4]))
    tensor(11)
    """


@operator(native_functions.MATMUL)
def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return the product of matrices, or of stacks of them; a tensor of one dimension is a vector.

    Raises
    ------
    ValueError
        If the shapes do not fit each other.

    Examples
    --------
    >>> tensix.matmul(tensix.tensor([[1, 2], [3, 4]]), tensix.tensor([1, 1]))
    tensor([3, 7])
    """


@operator(native_functions.MATRIX_TRANSPOSE, method=False)
def matrix_transpose(x: Tensor, /) -> Tensor:
    """Return the view with its last two dimensions exchanged.

    Examples
    --------
    >>> tensix.matrix_transpose(tensix.ones(2, 3)).shape
    (3, 2)
    """


@operator(native_functions.OUTER)
def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Return the products of each element of one vector with each of another.

    Examples
    --------
    >>> tensix.outer(tensix.tensor([1, 2]), tensix.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
    """


@function
def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Return the sum of products over dimensions of two tensors.

    Parameters
    ----------
    x1, x2 : Tensor
        The tensors.
    axes : int or pair of sequences of int, optional
        The dimensions of each that are summed over; an int means so many last ones of `x1` and first ones of `x2`.

    Raises
    ------
    ValueError
        If the sizes of those dimensions differ.

    Examples
    --------
    >>> tensix.tensordot(tensix.ones(2, 3), tensix.ones(3, 4), axes=1).shape
    (2, 4)
    """
    tensors_only((x1, x2), "tensordot")
    if isinstance(axes, (tuple, list)):
        first, second = axes
    else:
        count = index(axes)
        if not 0 <= count <= min(x1.ndim, x2.ndim):
            raise ValueError(f"tensordot() over {axes} dimensions: shapes {x1.shape} and {x2.shape} have fewer.")
        first, second = range(x1.ndim - count, x1.ndim), range(count)
    return native_functions.TENSORDOT(x1, x2, as_axes(first), as_axes(second))


def as_axes(axes: int | Sequence[int]) -> tuple[int, ...]:
    """Return one dimension or many as a tuple."""
    return (axes,) if isinstance(axes, int) else tuple(axes)


@operator(native_functions.VECDOT, method=False)
def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Return the sums of products of vectors along a dimension; those of `x1` are conjugated.

    Parameters
    ----------
    x1, x2 : Tensor
        The tensors; their other dimensions are broadcast.
    axis : int, optional
        The dimension, counted from the end of both.

    Raises
    ------
    ValueError
        If the sizes differ.

    Examples
    --------
    >>> tensix.vecdot(tensix.tensor([1, 2]), tensix.tensor([3, 4]))
    tensor(11)
    """
