"""Functions that users of NumPy and PyTorch know and the standard lacks, made of those that it has.

Second names of functions, such as `concatenate` and `cumsum`, stand beside what they name.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensix._tensor import Tensor
from tensix.core import Device
from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import function, method, tensors_only
from tensix.exchange import formatting
from tensix.functions.creation import asarray, empty, rand
from tensix.functions.indexing import take
from tensix.functions.manipulation import concat, expand_dims, stack
from tensix.functions.searching import where
from tensix.functions.sets import unique_all
from tensix.functions.sorting import argsort
from tensix.functions.statistical import mean
from tensix.kernels.elementwise import isclose, isnan
from tensix.kernels.random import Generator, random_order
from tensix.loops.axes import as_tuple, wrapped_axes
from tensix.tensors.dtype import float64

__all__ = [
    "allclose", "array_equal", "einsum", "hstack", "median", "pad", "quantile", "randperm",
    "set_printoptions", "split", "unique", "vstack",
]  # fmt: skip

# ---- comparisons whose result is one bool


@function
def allclose(
    x1: Tensor | complex, x2: Tensor | complex, /, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements of two tensors are close, as one bool; parameters as for `isclose`.

    Examples
    --------
    >>> tensix.allclose(tensix.tensor([0.1, 0.2]), tensix.tensor([0.1, 0.2000001]))
    True
    """
    return bool(isclose(x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan).all())


@function
def array_equal(x1: Tensor, x2: Tensor, /, *, equal_nan: bool = False) -> bool:
    """Return whether two tensors have the same shape and equal elements, as one bool.

    Parameters
    ----------
    x1, x2 : Tensor
        The tensors; their element types may differ.
    equal_nan : bool, optional
        Whether two that are not a number count as equal.

    Examples
    --------
    >>> tensix.array_equal(tensix.tensor([1, 2]), tensix.tensor([1.0, 2.0]))
    True
    """
    tensors_only((x1, x2), "array_equal")
    if x1.shape != x2.shape:
        return False
    if equal_nan:
        return bool(((x1 == x2) | (isnan(x1) & isnan(x2))).all())
    return native_functions.ARRAY_EQUAL(x1, x2)


# ---- products


@method
def norm(x: Tensor, /, ord: Any = None, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """Return the root of the sum of squares, or another norm of vectors or matrices.

    Parameters
    ----------
    x : Tensor
        The elements.
    ord : int, float or str, optional
        Which norm, as of `tensix.linalg.vector_norm`; a name such as ``"fro"``, of matrices.
    axis : int or tuple of int, optional
        The dimensions of each vector, all if not given; of a matrix, if the norm has a name, the last two.
    keepdims : bool, optional
        Whether they stay, with size 1.

    Examples
    --------
    >>> tensix.tensor([3.0, 4.0]).norm()
    tensor(5.)
    """
    if ord == "fro":
        ord = None  # the root of the sum of squares, of however many dimensions
    if not isinstance(ord, str):
        return native_functions.VECTOR_NORM(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)
    if axis is not None and wrapped_axes(as_tuple(axis), x.ndim) != [x.ndim - 2, x.ndim - 1]:
        raise ValueError(f"norm() of matrices needs them in the last two dimensions, found axis={axis}.")
    return native_functions.MATRIX_NORM(x, keepdims=keepdims, ord=ord)


@function
def einsum(subscripts: str, /, *operands: Tensor) -> Tensor:
    """Return sums of products of the elements of tensors, as letters for their dimensions say.

    Parameters
    ----------
    subscripts : str
        A letter for each dimension of each tensor, commas between tensors, and ``->`` before the letters of the
        result; ``...`` means dimensions that are broadcast. A letter that the result lacks is summed over. Without
        ``->`` the result has the letters that are there once, in the order of the alphabet.
    *operands : Tensor
        One tensor for each part.

    Raises
    ------
    ValueError
        If the letters do not fit the tensors, or the sizes of a letter differ.

    Notes
    -----
    NumPy's ``einsum`` computes it, for large tensors and for more than two by products of matrices.

    Examples
    --------
    >>> x, y = tensix.tensor([[1, 2], [3, 4]]), tensix.tensor([[1, 1], [0, 1]])
    >>> tensix.einsum("ij,jk->ik", x, y), tensix.einsum("ii", x)
    (tensor([[1, 3],
            [3, 7]]), tensor(5))
    """
    if not isinstance(subscripts, str):
        raise TypeError(f"einsum() takes subscripts such as 'ij,jk->ik' first, found {type(subscripts).__name__}.")
    if not operands:
        raise ValueError("einsum() needs at least one tensor, found none.")
    return native_functions.EINSUM(subscripts, tensors_only(operands, "einsum"))


# ---- order


@method
def unique(
    x: Tensor, /, *, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False
) -> Any:
    """Return the different values in ascending order, and what else is asked for.

    Parameters
    ----------
    x : Tensor
        The elements.
    return_index, return_inverse, return_counts : bool, optional
        Whether to return, in this order, where each value is first, which value each element is, and how often each
        value is there: as `unique_all` does.

    Returns
    -------
    Tensor or tuple of Tensor
        The values alone if nothing else is asked for.

    Examples
    --------
    >>> tensix.unique(tensix.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    wanted = (return_index, return_inverse, return_counts)
    if not any(wanted):
        return native_functions.UNIQUE_VALUES(x)
    values, *others = unique_all(x)
    return (values, *[other for other, is_wanted in zip(others, wanted, strict=True) if is_wanted])


@method
def median(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the middle element in order, of an even number the mean of the two; parameters as for `quantile`.

    Not a number, if one of the elements is not, or if there are none.

    Examples
    --------
    >>> tensix.median(tensix.tensor([3.0, 1.0, 2.0, 10.0]))
    tensor(2.5)
    """
    return quantile(x, 0.5, axis=axis, keepdims=keepdims)


@method
def quantile(
    x: Tensor, q: float | Sequence[float] | Tensor, /, *, axis: int | None = None, keepdims: bool = False
) -> Tensor:
    """Return what parts of the elements lie below, between two elements in proportion.

    Parameters
    ----------
    x : Tensor
        Real numbers.
    q : float, sequence of float or Tensor
        The parts, from 0 to 1; of several the result has them along its first dimension.
    axis : int, optional
        The dimension to go along; all elements if not given.
    keepdims : bool, optional
        Whether the dimension stays, with size 1.

    Raises
    ------
    ValueError
        If a part is not from 0 to 1.

    Notes
    -----
    Not a number, if one of the elements is not, or if there are none. Between an infinite element and a finite one lies
    the infinite one. Integers and bools become the default floating type.

    Examples
    --------
    >>> tensix.quantile(tensix.tensor([1.0, 2.0, 3.0, 5.0]), [0.5, 0.75])
    tensor([2.5, 3.5])
    """
    along = -1 if axis is None else axis
    parts = q.tolist() if isinstance(q, Tensor) else q
    lines = x.reshape(-1) if axis is None else x
    places = sorted(places_of(parts, lines.shape[along]))
    ordered = native_functions.PARTITION(lines, places, along) if lines.numel() else lines
    if ordered.dtype.kind not in "fc":
        ordered = ordered * 1.0
    found = parts_of(ordered, parts, along)
    if not keepdims:
        return found
    front = found.ndim - (ordered.ndim - 1)  # the dimensions of q
    if axis is None:
        return found.reshape((*found.shape[:front], *(1,) * x.ndim))
    return expand_dims(found, axis=front + axis % x.ndim)


def places_of(parts: Any, size: int) -> set[int]:
    """Return the places of the elements, in order, that `parts_of` reads."""
    if isinstance(parts, (list, tuple)):
        return {size - 1}.union(*[places_of(part, size) for part in parts])
    part = parts.item() if isinstance(parts, Tensor) else parts
    if not 0 <= part <= 1:
        raise ValueError(f"quantile() takes parts from 0 to 1, found {part}.")
    place = part * (size - 1)
    return {math.floor(place), math.ceil(place), size - 1}


def parts_of(ordered: Tensor, parts: Any, along: int) -> Tensor:
    """Return what lies between elements at a part of the way, or at each of several; others need not be in order."""
    if isinstance(parts, (list, tuple)):
        return stack([parts_of(ordered, part, along) for part in parts or [0]])[: len(parts)]
    if isinstance(parts, Tensor):
        parts = parts.item()
    if ordered.shape[along] == 0:
        return mean(ordered, axis=along)  # not a number
    place = parts * (ordered.shape[along] - 1)
    below = math.floor(place)
    low, high = ordered.select(along, below), ordered.select(along, math.ceil(place))
    above = place - below
    # Not low + (high - low) * above: the difference overflows, and from -inf it is infinite.
    between = where(low == high, low, low * (1 - above) + high * above) if above else low.clone()
    last = ordered.select(along, -1)
    return where(isnan(last), last, between)


# ---- joining, splitting, padding


@function
def hstack(arrays: Sequence[Tensor], /) -> Tensor:
    """Join tensors along their second dimension, vectors along their only one.

    Examples
    --------
    >>> tensix.hstack([tensix.tensor([1, 2]), tensix.tensor([3])])
    tensor([1, 2, 3])
    """
    parts = [x.reshape(-1) if x.ndim == 0 else x for x in tensors_only(arrays, "hstack")]
    return concat(parts, axis=1 if parts and parts[0].ndim > 1 else 0)


@function
def vstack(arrays: Sequence[Tensor], /) -> Tensor:
    """Join tensors along their first dimension; vectors are rows.

    Examples
    --------
    >>> tensix.vstack([tensix.tensor([1, 2]), tensix.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    return concat([x.reshape((1, -1)) if x.ndim < 2 else x for x in tensors_only(arrays, "vstack")], axis=0)


@function
def split(x: Tensor, split_size_or_sections: int | Sequence[int], /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the views on consecutive parts of a dimension: the method `Tensor.split` as a function.

    Parameters
    ----------
    x : Tensor
        The tensor.
    split_size_or_sections : int or sequence of int
        The size of each part, of which the last may be smaller, or the size of each. As in PyTorch: NumPy's ``split``
        takes the number of parts, as the method `Tensor.chunk` does, or where to cut.
    axis : int, optional
        The dimension.

    Examples
    --------
    >>> tensix.split(tensix.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    tensors_only((x,), "split")
    return x.split(split_size_or_sections, axis)


@function
def pad(
    x: Tensor, pad_width: int | Sequence[int] | Sequence[Sequence[int]], /, *, mode: str = "constant",
    constant_values: complex = 0,
) -> Tensor:  # fmt: skip
    """Return a copy with elements put before and behind those of each dimension.

    Parameters
    ----------
    x : Tensor
        The tensor.
    pad_width : int, pair of int, or a pair for each dimension
        How many before and behind, 0 or more; an int means both.
    mode : str, optional
        ``"constant"``, or what NumPy's ``pad`` does with positions: ``"edge"``, ``"reflect"``, ``"symmetric"`` or
        ``"wrap"``.
    constant_values : number, optional
        What to put there if `mode` is ``"constant"``.

    Raises
    ------
    ValueError
        If a width is negative, there are not as many pairs as dimensions, or `mode` is none of those.

    Examples
    --------
    >>> tensix.pad(tensix.tensor([1, 2]), (2, 1)), tensix.pad(tensix.tensor([1, 2]), 1, mode="edge")
    (tensor([0, 0, 1, 2, 0]), tensor([1, 1, 2, 2]))
    """
    tensors_only((x,), "pad")
    if type(pad_width) is int:
        widths = [[pad_width, pad_width]] * x.ndim  # NumPy takes 27,000 instructions for it
    else:
        widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    if any(operator.index(width) < 0 for pair in widths for width in pair):
        raise ValueError(f"pad() takes widths of 0 or more, found {pad_width}.")
    if mode == "constant":
        shape = [before + size + behind for (before, behind), size in zip(widths, x.shape, strict=True)]
        order = range(x.ndim)
        if not x.is_contiguous() and x.permute(*reversed(order)).is_contiguous():
            order = order[::-1]
        made = inner = empty(list(map(shape.__getitem__, order)), dtype=x.dtype, device=x.device).permute(*order)
        for axis, ((before, behind), size) in enumerate(zip(widths, x.shape, strict=True)):
            inner.narrow(axis, 0, before).fill_(constant_values)
            inner.narrow(axis, before + size, behind).fill_(constant_values)
            inner = inner.narrow(axis, before, size)
        inner.copy_(x)
        return made
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise ValueError(f"pad() has the modes 'constant', 'edge', 'reflect', 'symmetric' and 'wrap', found {mode!r}.")
    made = x.clone()
    for axis, (pair, size) in enumerate(zip(widths, x.shape, strict=True)):
        if any(pair):
            made = take(made, asarray(np.pad(np.arange(size), pair, mode)), axis=axis)
    return made


# ---- others


@function
def randperm(
    n: int, *, dtype: Any = None, device: str | Device | None = None, generator: Generator | None = None
) -> Tensor:
    """Return the numbers from 0 to below `n` in a random order.

    Parameters
    ----------
    n : int
        How many.
    dtype : DType, optional
        The element type; int64 if not given.
    device : str or Device, optional
        Where the elements are; the CPU if not given.
    generator : Generator, optional
        The generator that makes the order; the default one if not given.

    Examples
    --------
    >>> tensix.sort(tensix.randperm(4))
    tensor([0, 1, 2, 3])
    """
    if device is None or Device(device).type == "cpu":
        order = random_order(operator.index(n), generator)
    else:
        order = argsort(rand(operator.index(n), dtype=float64, device=device, generator=generator))
    return order if dtype is None else order.to(dtype)


@function
def set_printoptions(
    *, precision: int | None = None, threshold: int | None = None, edgeitems: int | None = None,
    linewidth: int | None = None, suppress: bool | None = None,
) -> None:  # fmt: skip
    """Say how tensors are printed from now on; what is not given does not change.

    Parameters
    ----------
    precision : int, optional
        Digits after the point, 4 at first. It is that of tensors alone; the others are NumPy's, and its arrays follow.
    threshold, edgeitems : int, optional
        From how many elements on some are left out, and how many at each end are shown then.
    linewidth : int, optional
        Characters in a line.
    suppress : bool, optional
        Whether small numbers are written without an exponent.

    Examples
    --------
    >>> tensix.set_printoptions(precision=2)
    >>> tensix.tensor([1 / 3])
    tensor([0.33])
    >>> tensix.set_printoptions(precision=4)
    """
    if (threshold, edgeitems, linewidth, suppress) != (None, None, None, None):
        np.set_printoptions(threshold=threshold, edgeitems=edgeitems, linewidth=linewidth, suppress=suppress)
    if precision is not None:
        formatting.set_precision(operator.index(precision))
