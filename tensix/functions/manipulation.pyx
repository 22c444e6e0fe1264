"""The array API standard's chapter on shapes: other shapes, orders and repetitions of the same elements.

What strides can describe is a view: `broadcast_arrays`, `broadcast_to`, `expand_dims`, `flip`, `moveaxis`,
`permute_dims`, `squeeze`, `unstack`, and `reshape` where it can be. All others copy.
"""

from cpython.number cimport PyNumber_Index
from tensix._tensor cimport Tensor
from tensix.dispatch.operator_table cimport OperatorTable, keys_of
from tensix.tensors.tensor_impl cimport TensorImpl_shape

from collections.abc import Sequence

from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import function, method
from tensix.kernels.axes import wrapped_axes
from tensix.tensors.tensor_base import found_no_tensor

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "cat", "concat", "concatenate", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]

cdef OperatorTable CLONE = native_functions.CLONE
cdef OperatorTable CONCAT = native_functions.CONCAT
cdef OperatorTable EXPAND = native_functions.EXPAND
cdef OperatorTable FLIP = native_functions.FLIP
cdef OperatorTable MOVEDIM = native_functions.MOVEDIM
cdef OperatorTable PERMUTE = native_functions.PERMUTE
cdef OperatorTable REPEAT = native_functions.REPEAT
cdef OperatorTable REPEAT_TENSOR = native_functions.REPEAT_TENSOR
cdef OperatorTable RESHAPE = native_functions.RESHAPE
cdef OperatorTable ROLL = native_functions.ROLL
cdef OperatorTable SQUEEZE = native_functions.SQUEEZE
cdef OperatorTable STACK = native_functions.STACK
cdef OperatorTable TILE = native_functions.TILE
cdef OperatorTable UNBIND = native_functions.UNBIND
cdef OperatorTable UNSQUEEZE = native_functions.UNSQUEEZE
cdef OperatorTable VIEW = native_functions.VIEW


# ---- views


def broadcast_arrays(*arrays):
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
    cdef Tensor x
    shape = broadcast_shapes(*[TensorImpl_shape((<Tensor>x).impl) for x in tensors_only(arrays, "broadcast_arrays")])
    return tuple([EXPAND.call_with(x, shape) for x in arrays])


def broadcast_shapes(*shapes):
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
        for side in shape:
            size = PyNumber_Index(side)
            if size not in (1, common[place]):
                if size < 0 or common[place] != 1:
                    raise ValueError(f"shapes {', '.join(map(str, shapes))} cannot be broadcast together.")
                common[place] = size
            place += 1
    return tuple(common)


def broadcast_to(Tensor x not None, /, shape):
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
    for size in shape:
        if size < 0:
            raise ValueError(f"broadcast_to() needs sizes of 0 or more, found {shape}.")
    return EXPAND.call_with(x, shape)


def expand_dims(Tensor x not None, /, axis):
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
    if len(axes) == 1:
        return UNSQUEEZE.call_with(x, axes[0])
    for place in sorted(wrapped_axes(axes, x.impl.ndim + len(axes))):
        x = UNSQUEEZE.call_with(x, place)
    return x


@method
def flip(Tensor x not None, /, *, axis=None):
    """Return a view with the elements in reverse order along some dimensions, all if none are given.

    Examples
    --------
    >>> import tensix
    >>> tensix.flip(tensix.tensor([[1, 2], [3, 4]]), axis=1)
    tensor([[2, 1],
            [4, 3]])
    """
    return FLIP.call_with(x, tuple(range(x.impl.ndim)) if axis is None else as_tuple(axis))


def moveaxis(Tensor x not None, source, destination, /):
    """Return a view with dimensions moved to other places; the others keep their order.

    Parameters
    ----------
    x : Tensor
        The tensor.
    source, destination : int or tuple of int
        Positions of the dimensions before and after.

    Examples
    --------
    >>> import tensix
    >>> tensix.moveaxis(tensix.ones(2, 3, 4), 0, -1).shape
    (3, 4, 2)
    """
    return MOVEDIM.call_complete((x, as_tuple(source), as_tuple(destination)), x.impl.key_set)


def permute_dims(Tensor x not None, /, axes):
    """Return a view with the dimensions in the given order.

    Examples
    --------
    >>> import tensix
    >>> tensix.permute_dims(tensix.ones(2, 3, 4), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return PERMUTE.call_with(x, as_tuple(axes))


def reshape(Tensor x not None, /, shape, *, copy=None):
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
        return VIEW.call_with(x, as_tuple(shape))
    if copy:
        x = CLONE.call1(x)
    return RESHAPE.call_with(x, as_tuple(shape))


@method
def squeeze(Tensor x not None, /, axis=None):
    """Return a view without the given dimensions, which must be of size 1; without all of size 1 if none are given.

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
    if axis is None:
        axis = tuple([dim for dim, size in enumerate(TensorImpl_shape(x.impl)) if size == 1])
    return SQUEEZE.call_with(x, as_tuple(axis))


@method
def unstack(Tensor x not None, /, *, axis=0):
    """Return the views at each position of a dimension.

    Examples
    --------
    >>> import tensix
    >>> tensix.unstack(tensix.tensor([[1, 2], [3, 4]]), axis=1)
    (tensor([1, 3]), tensor([2, 4]))
    """
    return UNBIND.call_with(x, axis)


# ---- copies


@function
def concat(arrays, /, *, axis=0):
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
    cdef tuple parts = many(arrays, "concat")
    return CONCAT.call_complete((parts, axis), keys_of(parts))


cat = concatenate = concat  # in PyTorch, in NumPy


@function
def stack(arrays, /, *, axis=0):
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
    cdef tuple parts = many(arrays, "stack")
    return STACK.call_complete((parts, axis), keys_of(parts))


@method
def repeat(Tensor x not None, repeats, /, *, axis=None):
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
        return REPEAT_TENSOR.call_complete((x, repeats, axis), x.impl.key_set | (<Tensor>repeats).impl.key_set)
    return REPEAT.call_complete((x, repeats, axis), x.impl.key_set)


@method
def roll(Tensor x not None, /, shift, *, axis=None):
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
    return ROLL.call_complete((x, shift, axis), x.impl.key_set)


@method
def tile(Tensor x not None, repetitions, /):
    """Repeat the whole tensor along each dimension.

    Examples
    --------
    >>> import tensix
    >>> tensix.tile(tensix.tensor([1, 2]), (2, 2))
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    return TILE.call_with(x, as_tuple(repetitions))


# ---- arguments


cdef tuple as_tuple(object numbers):
    """Return one or more ints as a tuple."""
    return tuple(numbers) if isinstance(numbers, (tuple, list)) else (PyNumber_Index(numbers),)


cdef tuple many(object arrays, str name):
    """Return one or more tensors as a tuple."""
    # To ask Sequence takes longest.
    if isinstance(arrays, Tensor) or not (isinstance(arrays, (tuple, list)) or isinstance(arrays, Sequence)):
        raise TypeError(
            f"{name}() takes a tuple or list of tensors, such as {name}([x, y]), found {type(arrays).__name__}."
        )
    if not arrays:
        raise ValueError(f"{name}() needs at least one tensor, found none.")
    return tensors_only(arrays, name)


cpdef tuple tensors_only(object arrays, str name):
    """Return tensors as a tuple."""
    for x in arrays:
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}() takes tensors only, {found_no_tensor(x, ' among them')}")
    return <tuple>arrays if type(arrays) is tuple else tuple(arrays)
