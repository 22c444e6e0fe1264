"""The array API standard's chapter on shapes: other shapes, orders and repetitions of the same elements.

What strides can describe is a view: `broadcast_arrays`, `broadcast_to`, `expand_dims`, `flip`, `moveaxis`,
`permute_dims`, `squeeze`, `unstack`, and `reshape` where it can be. All others copy.
"""

import operator
from collections.abc import Sequence

from tensix._tensor import Tensor
from tensix.dispatch import native_functions
from tensix.kernels.axes import as_tuple, wrapped_axes

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "cat", "concat", "expand_dims", "flip", "moveaxis",
    "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


# ---- views


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Return views of several tensors in their common shape.

    Raises
    ------
    ValueError
        If they have none.

    Examples
    --------
    >>> import tensix
    >>> [x.shape for x in tensix.broadcast_arrays(tensix.ones(3), tensix.ones(2, 1))]
    [(2, 3), (2, 3)]
    """
    shape = broadcast_shapes(*[x.shape for x in tensors_only(arrays, "broadcast_arrays")])
    return tuple(native_functions.EXPAND(x, shape) for x in arrays)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that several shapes are broadcast to: sizes of 1 and missing leading dimensions are stretched.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> import tensix
    >>> tensix.broadcast_shapes((3,), (2, 1))
    (2, 3)
    """
    ndim = max(map(len, shapes), default=0)
    common = [1] * ndim
    for shape in shapes:
        place = ndim - len(shape)
        for size in map(operator.index, shape):
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
    >>> import tensix
    >>> tensix.broadcast_to(tensix.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    shape = as_tuple(shape)
    if any(size < 0 for size in shape):
        raise ValueError(f"broadcast_to() needs sizes of 0 or more, found {shape}.")
    return native_functions.EXPAND(x, shape)


def expand_dims(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """Return a view with dimensions of size 1 at the given places.

    Raises
    ------
    IndexError
        If a place is outside the result.
    ValueError
        If a place is named twice.

    Examples
    --------
    >>> import tensix
    >>> tensix.expand_dims(tensix.ones(3), axis=(0, 2)).shape
    (1, 3, 1)
    """
    axes = as_tuple(axis)
    tensors_only((x,), "expand_dims")
    ndim = x.ndim + len(axes)
    for place in sorted(wrapped_axes(axes, ndim)):
        x = native_functions.UNSQUEEZE(x, place)
    return x


def flip(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Return a view with the elements in reverse order along some dimensions, all if none are given.

    Examples
    --------
    >>> import tensix
    >>> tensix.flip(tensix.tensor([[1, 2], [3, 4]]), axis=1)
    tensor([[2, 1],
            [4, 3]])
    """
    tensors_only((x,), "flip")
    return native_functions.FLIP(x, tuple(range(x.ndim)) if axis is None else as_tuple(axis))


def moveaxis(x: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Tensor:
    """Return a view with dimensions moved to other places; the others keep their order.

    Parameters
    ----------
    x : Tensor
        The tensor.
    source, destination : int or tuple of int
        Where the dimensions are, and where they shall be.

    Examples
    --------
    >>> import tensix
    >>> tensix.moveaxis(tensix.ones(2, 3, 4), 0, -1).shape
    (3, 4, 2)
    """
    return native_functions.MOVEDIM(x, as_tuple(source), as_tuple(destination))


def permute_dims(x: Tensor, /, axes: Sequence[int]) -> Tensor:
    """Return a view with the dimensions in the given order.

    Examples
    --------
    >>> import tensix
    >>> tensix.permute_dims(tensix.ones(2, 3, 4), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return native_functions.PERMUTE(x, as_tuple(axes))


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
    >>> import tensix
    >>> tensix.reshape(tensix.arange(4), (2, -1))
    tensor([[0, 1],
            [2, 3]])
    """
    if copy is False:
        return native_functions.VIEW(x, as_tuple(shape))
    if copy:
        x = native_functions.CLONE(x)
    return native_functions.RESHAPE(x, as_tuple(shape))


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """Return a view without the given dimensions, which must be of size 1.

    Raises
    ------
    ValueError
        If one is not.

    Examples
    --------
    >>> import tensix
    >>> tensix.squeeze(tensix.ones(1, 3, 1), axis=(0, 2)).shape
    (3,)
    """
    return native_functions.SQUEEZE(x, as_tuple(axis))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the views at each position of a dimension.

    Examples
    --------
    >>> import tensix
    >>> tensix.unstack(tensix.tensor([[1, 2], [3, 4]]), axis=1)
    (tensor([1, 3]), tensor([2, 4]))
    """
    return native_functions.UNBIND(x, axis)


# ---- copies


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
    >>> import tensix
    >>> tensix.concat([tensix.tensor([1, 2]), tensix.tensor([3])])
    tensor([1, 2, 3])
    """
    return native_functions.CONCAT(many(arrays, "concat"), axis)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along a dimension: `concat` by its name in PyTorch.

    Examples
    --------
    >>> import tensix
    >>> tensix.cat((tensix.ones(1, 2), tensix.zeros(1, 2)), dim=1)
    tensor([[1., 1., 0., 0.]])
    """
    return concat(tensors, axis=dim)


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
    >>> import tensix
    >>> tensix.stack([tensix.tensor([1, 2]), tensix.tensor([3, 4])], axis=1)
    tensor([[1, 3],
            [2, 4]])
    """
    return native_functions.STACK(many(arrays, "stack"), axis)


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
    >>> import tensix
    >>> tensix.repeat(tensix.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    if isinstance(repeats, Tensor):
        return native_functions.REPEAT_TENSOR(x, repeats, axis)
    return native_functions.REPEAT(x, repeats, axis)


def roll(x: Tensor, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Tensor:
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
    >>> import tensix
    >>> tensix.roll(tensix.arange(4), 1)
    tensor([3, 0, 1, 2])
    """
    return native_functions.ROLL(x, shift, axis)


def tile(x: Tensor, repetitions: Sequence[int], /) -> Tensor:
    """Repeat the whole tensor along each dimension.

    Examples
    --------
    >>> import tensix
    >>> tensix.tile(tensix.tensor([1, 2]), (2, 2))
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    return native_functions.TILE(x, as_tuple(repetitions))


# ---- arguments


def many(arrays: Sequence[Tensor], name: str) -> tuple[Tensor, ...]:
    """Return one or more tensors as a tuple."""
    if isinstance(arrays, Tensor) or not isinstance(arrays, (tuple, list, Sequence)):  # to ask Sequence takes longest
        raise TypeError(f"{name}() takes a tuple or list of tensors, found {type(arrays).__name__}.")
    if not arrays:
        raise ValueError(f"{name}() needs at least one tensor, found none.")
    return tensors_only(arrays, name)


def tensors_only(arrays: Sequence[Tensor], name: str) -> tuple[Tensor, ...]:
    """Return tensors as a tuple."""
    for x in arrays:
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}() takes tensors only, found {type(x).__name__} among them.")
    return tuple(arrays)
