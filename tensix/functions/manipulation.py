"""The array API standard's chapter on shapes: other shapes, orders and repetitions of the same elements.

What strides can describe is a view: `broadcast_arrays`, `broadcast_to`, `expand_dims`, `flip`, `moveaxis`,
`permute_dims`, `squeeze`, `unstack`, and `reshape` where it can be. All others copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import cython
from cython.cimports.tensix._tensor import Tensor
from cython.cimports.tensix.dispatch.operator_table import OperatorTable

from tensix.dispatch import native_functions
from tensix.dispatch.annotations import Axes, Dims
from tensix.dispatch.tensor_function import method, operator, tensors_only
from tensix.loops.axes import wrapped_axes

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "cat", "concat", "concatenate", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip

CLONE = cython.declare(OperatorTable, native_functions.CLONE)
EXPAND = cython.declare(OperatorTable, native_functions.EXPAND)
REPEAT = cython.declare(OperatorTable, native_functions.REPEAT)
REPEAT_TENSOR = cython.declare(OperatorTable, native_functions.REPEAT_TENSOR)
RESHAPE = cython.declare(OperatorTable, native_functions.RESHAPE)
UNSQUEEZE = cython.declare(OperatorTable, native_functions.UNSQUEEZE)
VIEW = cython.declare(OperatorTable, native_functions.VIEW)


# ---- views


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Return views of several tensors in their common shape.

    Raises
    ------
    ValueError
        If they have none.

    Examples
    --------
    >>> [x.shape for x in tensix.broadcast_arrays(tensix.ones(3), tensix.ones(2, 1))]
    [(2, 3), (2, 3)]
    """
    shape = broadcast_shapes(*[x.shape for x in tensors_only(arrays, "broadcast_arrays")])
    return tuple([broadcast_to(x, shape) for x in arrays])


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape that several shapes are broadcast to: sizes of 1 and missing leading dimensions are stretched.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> tensix.broadcast_shapes((3,), (2, 1))
    (2, 3)
    """
    ndim = max(map(len, shapes), default=0)
    common = [1] * ndim
    for shape in shapes:
        place = ndim - len(shape)
        for side in shape:
            size = index(side)
            if size not in (1, common[place]):
                if size < 0 or common[place] != 1:
                    raise ValueError(f"shapes {', '.join(map(str, shapes))} cannot be broadcast together.")
                common[place] = size
            place += 1
    return tuple(common)


def broadcast_to(x: Tensor, /, shape: Sequence[int]) -> Tensor:
    """Return a view in which dimensions of size 1, and new ones in front, are repeated.

    Raises
    ------
    ValueError
        If the tensor cannot be broadcast to the shape.

    Examples
    --------
    >>> tensix.broadcast_to(tensix.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    shape = as_tuple(shape)
    for size in shape:
        if size < 0:
            raise ValueError(f"broadcast_to() needs sizes of 0 or more, found {shape}.")
    return EXPAND.call_with(x, shape)


def expand_dims(x: Tensor, /, axis: Dims) -> Tensor:
    """Return a view with dimensions of size 1 at the given places.

    Raises
    ------
    IndexError
        If a place is outside the result.
    ValueError
        If a place is named twice.

    Examples
    --------
    >>> tensix.expand_dims(tensix.ones(3), axis=(0, 2)).shape
    (1, 3, 1)
    """
    axes = as_tuple(axis)
    if len(axes) == 1:
        return UNSQUEEZE.call_with(x, axes[0])
    for place in sorted(wrapped_axes(axes, x.impl.ndim + len(axes))):
        x = UNSQUEEZE.call_with(x, place)
    return x


@operator(native_functions.FLIP)
@cython.binding(True)
def flip(x: Tensor, /, *, axis: Axes = None) -> Tensor:
    """Return a view with the elements in reverse order along some dimensions, all if none are given.

    Examples
    --------
    >>> tensix.flip(tensix.tensor([[1, 2], [3, 4]]), axis=1)
    tensor([[2, 1],
            [4, 3]])
    """


@operator(native_functions.MOVEDIM, method=False)
@cython.binding(True)
def moveaxis(x: Tensor, source: Dims, destination: Dims, /) -> Tensor:
    """Return a view with dimensions moved to other places; the others keep their order.

    Parameters
    ----------
    x : Tensor
        The tensor.
    source, destination : int or tuple of int
        Positions of the dimensions before and after.

    Examples
    --------
    >>> tensix.moveaxis(tensix.ones(2, 3, 4), 0, -1).shape
    (3, 4, 2)
    """


@operator(native_functions.PERMUTE, method=False)
@cython.binding(True)
def permute_dims(x: Tensor, /, axes: Sequence[int]) -> Tensor:
    """Return a view with the dimensions in the given order.

    Examples
    --------
    >>> tensix.permute_dims(tensix.ones(2, 3, 4), (2, 0, 1)).shape
    (4, 2, 3)
    """


def reshape(x: Tensor, /, shape: Sequence[int], *, copy: bool | None = None) -> Tensor:
    """Return the same elements in another shape.

    Parameters
    ----------
    x : Tensor
        The tensor.
    shape : sequence of int
        The sizes, one of which may be -1.
    copy : bool, optional
        True: always copy; False: never. If not given, a view where strides allow it, else a copy.

    Raises
    ------
    ValueError
        If the number of elements differs, or strides do not allow a view and `copy` is False.

    Examples
    --------
    >>> tensix.reshape(tensix.arange(4), (2, -1))
    tensor([[0, 1],
            [2, 3]])
    """
    if copy is False:
        return VIEW.call_with(x, as_tuple(shape))
    if copy:
        x = CLONE.call1(x)
    return RESHAPE.call_with(x, as_tuple(shape))


@operator(native_functions.SQUEEZE)
@cython.binding(True)
def squeeze(x: Tensor, /, axis: Axes = None) -> Tensor:
    """Return a view without the given dimensions, which must be of size 1; without all of size 1 if none are given.

    Raises
    ------
    ValueError
        If one is not.

    Examples
    --------
    >>> tensix.squeeze(tensix.ones(1, 3, 1), axis=(0, 2)).shape
    (3,)
    """


@operator(native_functions.UNBIND)
@cython.binding(True)
def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the views at each position of a dimension.

    Examples
    --------
    >>> tensix.unstack(tensix.tensor([[1, 2], [3, 4]]), axis=1)
    (tensor([1, 3]), tensor([2, 4]))
    """


# ---- copies


@operator(native_functions.CONCAT, method=False)
@cython.binding(True)
def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Join tensors along a dimension that they have.

    Parameters
    ----------
    arrays : sequence of Tensor
        One or more, of the same shape but for that dimension. The result has their common element type.
    axis : int or None, optional
        The dimension; None flattens them first.

    Raises
    ------
    ValueError
        If the shapes do not fit, or there are none.

    Examples
    --------
    >>> tensix.concat([tensix.tensor([1, 2]), tensix.tensor([3])])
    tensor([1, 2, 3])
    """


cat = concatenate = concat  # in PyTorch, in NumPy


@operator(native_functions.STACK, method=False)
@cython.binding(True)
def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension.

    Parameters
    ----------
    arrays : sequence of Tensor
        One or more. The result has their common element type.
    axis : int, optional
        Where the result has the new dimension.

    Raises
    ------
    ValueError
        If the shapes differ, or there are none.

    Examples
    --------
    >>> tensix.stack([tensix.tensor([1, 2]), tensix.tensor([3, 4])], axis=1)
    tensor([[1, 3],
            [2, 4]])
    """


@method
def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Repeat each element.

    Parameters
    ----------
    x : Tensor
        The tensor.
    repeats : int or Tensor
        How often; a tensor says it for each position.
    axis : int or None, optional
        The dimension along which to repeat; None flattens the tensor first.

    Examples
    --------
    >>> tensix.repeat(tensix.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    if isinstance(repeats, Tensor):
        return REPEAT_TENSOR.call((x, repeats, axis), None)
    return REPEAT.call((x, repeats, axis), None)


@operator(native_functions.ROLL)
@cython.binding(True)
def roll(x: Tensor, /, shift: Dims, *, axis: Axes = None) -> Tensor:
    """Shift elements along dimensions; those that leave at one end come in at the other.

    Parameters
    ----------
    x : Tensor
        The tensor.
    shift : int or tuple of int
        By how many places, towards higher positions.
    axis : int, tuple of int or None, optional
        The dimensions; None shifts all elements in row-major order.

    Examples
    --------
    >>> tensix.roll(tensix.arange(4), 1)
    tensor([3, 0, 1, 2])
    """


@operator(native_functions.TILE)
@cython.binding(True)
def tile(x: Tensor, repetitions: Sequence[int], /) -> Tensor:
    """Repeat the whole tensor along each dimension.

    Examples
    --------
    >>> tensix.tile(tensix.tensor([1, 2]), (2, 2))
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """


@cython.cfunc
def as_tuple(numbers: object) -> tuple:
    """Return one or more ints as a tuple."""
    return tuple(numbers) if isinstance(numbers, (tuple, list)) else (index(numbers),)
