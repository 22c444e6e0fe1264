# Annotations say what may be given, a `complex` also an int, and not of which C type it is.
# cython: annotation_typing=False
"""Functions that users of NumPy and PyTorch know and the standard lacks, made of those that it has.

Second names of functions, such as `concatenate` and `cumsum`, stand beside what they name.
"""

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import cython
import numpy as np

from tensix._tensor import Tensor
from tensix.core import Device
from tensix.dispatch import native_functions
from tensix.dispatch.tensor_function import also_method, function, method, tensors_only
from tensix.exchange import formatting
from tensix.functions.creation import asarray, empty, rand
from tensix.functions.indexing import take
from tensix.functions.linear_algebra import matmul, tensordot
from tensix.functions.manipulation import concat, expand_dims, stack
from tensix.functions.searching import where
from tensix.functions.sets import unique_all
from tensix.functions.sorting import argsort, sort
from tensix.functions.statistical import mean
from tensix.functions.statistical import sum as sum_
from tensix.kernels.elementwise import isclose, isnan
from tensix.kernels.random import Generator, random_order
from tensix.tensors.dtype import float64

__all__ = [
    "allclose", "array_equal", "dot", "einsum", "hstack", "median", "pad", "quantile", "randperm",
    "set_printoptions", "split", "unique", "vstack",
]  # fmt: skip

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

# ---- comparisons whose result is one bool


@function
def allclose(
    x1: Tensor | complex, x2: Tensor | complex, /, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements of two tensors are close, as one bool; parameters as for `isclose`.

    Examples
    --------
    >>> import tensix
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
    >>> import tensix
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


@also_method
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
    >>> import tensix
    >>> tensix.dot(tensix.tensor([1, 2]), tensix.tensor([3, 4]))
    tensor(11)
    """
    tensors_only((x1, x2), "dot")
    m = cython.declare(cython.int, x1.ndim)
    n = cython.declare(cython.int, x2.ndim)
    if m == 0 or n == 0:
        return x1 * x2
    if m <= 2 and n <= 2:
        return native_functions.MATMUL(x1, x2)
    return tensordot(x1, x2, axes=((m - 1,), (max(n - 2, 0),)))


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
        The dimensions of each vector, or of a matrix if the norm has a name; all if not given.
    keepdims : bool, optional
        Whether they stay, with size 1.

    Examples
    --------
    >>> import tensix
    >>> tensix.tensor([3.0, 4.0]).norm()
    tensor(5.)
    """
    if ord == "fro":
        ord = None  # the root of the sum of squares, of however many dimensions
    if not isinstance(ord, str):
        return native_functions.VECTOR_NORM(x, 2 if ord is None else ord, axis, keepdims)
    if axis is not None and tuple(dim % x.ndim for dim in axis) != (x.ndim - 2, x.ndim - 1):
        raise ValueError(f"norm() of matrices needs them in the last two dimensions, found axis={axis}.")
    return native_functions.MATRIX_NORM(x, ord, keepdims)


def einsum(subscripts: str, /, *operands: Tensor) -> Tensor:
    """Return sums of products of the elements of tensors, as letters for their dimensions say.

    Parameters
    ----------
    subscripts : str
        A letter for each dimension of each tensor, commas between tensors, and ``->`` before the letters of the
        result; ``...`` stands for dimensions that are broadcast. A letter that the result lacks is summed over. Without
        ``->`` the result has the letters that are there once, in the order of the alphabet.
    *operands : Tensor
        One tensor for each part.

    Raises
    ------
    ValueError
        If the letters do not fit the tensors, or the sizes of a letter differ.

    Notes
    -----
    Two tensors at a time are contracted, by products of matrices; of more than two, NumPy's ``einsum_path`` says which
    first.

    Examples
    --------
    >>> import tensix
    >>> x, y = tensix.tensor([[1, 2], [3, 4]]), tensix.tensor([[1, 1], [0, 1]])
    >>> tensix.einsum("ij,jk->ik", x, y), tensix.einsum("ii", x)
    (tensor([[1, 3],
            [3, 7]]), tensor(5))
    """
    if not isinstance(subscripts, str):
        raise TypeError(f"einsum() takes subscripts such as 'ij,jk->ik' first, found {type(subscripts).__name__}.")
    tensors_only(operands, "einsum")
    tensors: dict[int, Tensor] = dict(enumerate(operands))
    steps = steps_of(subscripts, tuple([x.shape for x in operands]))
    for made, (compute, places) in enumerate(steps, len(operands)):
        tensors[made] = compute(*[tensors.pop(place) for place in places])  # kept no longer than needed
    return tensors.popitem()[1]


Part = tuple[int, str]  # the number of a tensor, and a letter for each of its dimensions
Step = tuple[Callable[..., Tensor], tuple[int, ...]]  # what makes the next tensor, and of which ones: used only once


@functools.lru_cache(maxsize=256)
def steps_of(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> list[Step]:
    """Return what to do with tensors of these shapes. For small ones, to find it out costs more than to do it."""
    terms, output = read_subscripts(subscripts, shapes)
    sizes: dict[str, int] = {}
    for letters, shape in zip(terms, shapes, strict=True):
        if len(set(zip(letters, shape, strict=True))) > len(set(letters)):
            raise ValueError(f"einsum({subscripts!r}) takes a diagonal of sizes that are the same, found {shape}.")
        for letter, size in zip(letters, shape, strict=True):
            if sizes.setdefault(letter, size) in (1, size):
                sizes[letter] = size
            elif size != 1:
                raise ValueError(f"einsum({subscripts!r}) finds the sizes {sizes[letter]} and {size} for {letter!r}.")
    plan = Plan(sizes, len(shapes))
    parts = [plan.prepare((place, letters), shapes[place]) for place, letters in enumerate(terms)]
    for places in contraction_path(parts, output, sizes):
        chosen = [parts[place] for place in places]
        parts = [part for place, part in enumerate(parts) if place not in places]
        needed = {*output, *(letter for _, letters in parts for letter in letters)}
        first, *others = [plan.reduce(part, {*needed, *letters_beside(part, chosen)}) for part in chosen]
        for other in others:
            first = plan.reduce(plan.contract(first, other, needed), needed)
        parts.append(first)
    place, letters = parts[0]
    missing = [letter for letter in output if letter not in letters]  # of size 1 in every tensor that has it
    if missing:
        place = plan.add(operator.itemgetter((None,) * len(missing)), place)
    plan.permute((place, "".join(missing) + letters), output)
    return plan.steps


class Plan:
    """Collect the steps of a contraction, for dimensions of these sizes."""

    def __init__(self, sizes: dict[str, int], count: int) -> None:
        self.sizes, self.count, self.steps = sizes, count, list[Step]()

    def add(self, function: Callable[..., Tensor], *places: int) -> int:
        """Add a step and return the number of what it makes."""
        self.steps.append((function, places))
        self.count += 1
        return self.count - 1

    def shape_of(self, letters: Sequence[str]) -> tuple[int, ...]:
        """Return the sizes of dimensions."""
        return tuple(self.sizes[letter] for letter in letters)

    def prepare(self, part: Part, shape: tuple[int, ...]) -> Part:
        """Give a tensor each letter once: the diagonal of those that it has twice; none that are broadcast."""
        place, term = part
        gone = [size == 1 < self.sizes[letter] for letter, size in zip(term, shape, strict=True)]
        letters = "".join(letter for letter, is_gone in zip(term, gone, strict=True) if not is_gone)
        if letters != term:
            place = self.add(operator.itemgetter(tuple(0 if is_gone else slice(None) for is_gone in gone)), place)
        for letter in dict.fromkeys(letters):
            while letters.count(letter) > 1:
                first, second = letters.index(letter), letters.rindex(letter)
                place = self.add(operator.methodcaller("diagonal", 0, first, second), place)
                letters = letters[:first] + letters[first + 1 : second] + letters[second + 1 :] + letter
        return place, letters

    def reduce(self, part: Part, needed: set[str]) -> Part:
        """Sum a part over the letters that are no longer needed."""
        place, letters = part
        gone = tuple(dim for dim, letter in enumerate(letters) if letter not in needed)
        if not gone:
            return part
        kept = "".join(letter for letter in letters if letter in needed)
        return self.add(lambda x: sum_(x, axis=gone, dtype=x.dtype), place), kept

    def contract(self, first: Part, second: Part, needed: set[str]) -> Part:
        """Multiply two parts, summed over what both have and no one needs: a stack of matrix products."""
        left, right = first[1], second[1]
        stacked = [letter for letter in left if letter in right and letter in needed]
        summed = [letter for letter in left if letter in right and letter not in needed]
        rows = [letter for letter in left if letter not in right]
        columns = [letter for letter in right if letter not in left]
        height, depth, width = (math.prod(self.shape_of(letters)) for letters in (rows, summed, columns))
        stack, made = self.shape_of(stacked), [*stacked, *rows, *columns]
        x = self.permute(first, [*stacked, *rows, *summed])
        y = self.permute(second, [*stacked, *summed, *columns])
        x = self.reshape(x, self.shape_of([*stacked, *rows, *summed]), (*stack, height, depth))
        y = self.reshape(y, self.shape_of([*stacked, *summed, *columns]), (*stack, depth, width))
        product = self.add(matmul if summed else operator.mul, x, y)
        return self.reshape(product, (*stack, height, width), self.shape_of(made)), "".join(made)

    def permute(self, part: Part, order: Sequence[str]) -> int:
        """Bring dimensions into an order."""
        place, letters = part
        if list(letters) == list(order):
            return place
        return self.add(operator.methodcaller("permute", tuple(letters.index(letter) for letter in order)), place)

    def reshape(self, place: int, shape: tuple[int, ...], wanted: tuple[int, ...]) -> int:
        """Give a tensor another shape."""
        return place if shape == wanted else self.add(operator.methodcaller("reshape", wanted), place)


def read_subscripts(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[list[str], str]:
    """Return the letters of each tensor and of the result, with letters for dimensions that are broadcast."""
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError(f"einsum({subscripts!r}) is about {len(terms)} tensors, found {len(shapes)}.")
    unused = [letter for letter in LETTERS if letter not in subscripts]
    most = 0
    for place, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        before, dots, behind = term.partition("...")
        extra = len(shape) - len(before) - len(behind)
        if extra < 0 or (extra and not dots):
            raise ValueError(f"einsum({subscripts!r}): {term!r} is about another shape than {shape}.")
        if not set(before + behind) <= set(LETTERS):
            raise ValueError(f"einsum({subscripts!r}): {term!r} must be letters, and ... at most once.")
        most = max(most, extra)
        terms[place] = before + "".join(unused[:extra][::-1]) + behind  # the last dimension has the first letter
    broadcast = "".join(unused[:most][::-1])
    if not arrow:
        every = "".join(terms)
        output = "..." + "".join(sorted(c for c in set(every) if every.count(c) == 1 and c not in broadcast))
    output = output.replace("...", broadcast)
    if len(set(output)) < len(output) or not set(output) <= set("".join(terms)):
        raise ValueError(f"einsum({subscripts!r}): the result may have each letter once, of those that tensors have.")
    return terms, output


def contraction_path(parts: list[Part], output: str, sizes: dict[str, int]) -> list[tuple[int, ...]]:
    """Return which parts are contracted one after the other; what comes of them is put behind the others."""
    if len(parts) <= 2:
        return [tuple(range(len(parts)))]
    shapes = [np.broadcast_to(0, tuple(sizes[letter] for letter in letters)) for _, letters in parts]
    output = "".join(letter for letter in output if any(letter in letters for _, letters in parts))
    path, _ = np.einsum_path(f"{','.join(letters for _, letters in parts)}->{output}", *shapes, optimize="greedy")
    return path[1:]


def letters_beside(part: Part, parts: list[Part]) -> set[str]:
    """Return the letters of all parts but one."""
    return {letter for other in parts if other is not part for letter in other[1]}


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
    >>> import tensix
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
    >>> import tensix
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
    >>> import tensix
    >>> tensix.quantile(tensix.tensor([1.0, 2.0, 3.0, 5.0]), [0.5, 0.75])
    tensor([2.5, 3.5])
    """
    along = -1 if axis is None else axis
    ordered = sort(x.reshape(-1) if axis is None else x, axis=along)
    if ordered.dtype.kind not in "fc":
        ordered = ordered * 1.0
    found = parts_of(ordered, q.tolist() if isinstance(q, Tensor) else q, along)
    if not keepdims:
        return found
    front = found.ndim - (ordered.ndim - 1)  # the dimensions of q
    if axis is None:
        return found.reshape((*found.shape[:front], *(1,) * x.ndim))
    return expand_dims(found, axis=front + axis % x.ndim)


def parts_of(ordered: Tensor, parts: Any, along: int) -> Tensor:
    """Return what lies between ordered elements at a part of the way, or at each of several."""
    if isinstance(parts, (list, tuple)):
        return stack([parts_of(ordered, part, along) for part in parts or [0]])[: len(parts)]
    if isinstance(parts, Tensor):
        parts = parts.item()
    if not 0 <= parts <= 1:
        raise ValueError(f"quantile() takes parts from 0 to 1, found {parts}.")
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
    >>> import tensix
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
    >>> import tensix
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
    >>> import tensix
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
    >>> import tensix
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
    >>> import tensix
    >>> tensix.sort(tensix.randperm(4))
    tensor([0, 1, 2, 3])
    """
    if device is None or Device(device).type == "cpu":
        order = random_order(operator.index(n), generator)
    else:
        order = argsort(rand(operator.index(n), dtype=float64, device=device, generator=generator))
    return order if dtype is None else order.to(dtype)


def set_printoptions(
    *, precision: int | None = None, threshold: int | None = None, edgeitems: int | None = None,
    linewidth: int | None = None, suppress: bool | None = None,
) -> None:  # fmt: skip
    """Say how tensors are printed from now on; what is not given stays as it is.

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
    >>> import tensix
    >>> tensix.set_printoptions(precision=2)
    >>> tensix.tensor([1 / 3])
    tensor([0.33])
    >>> tensix.set_printoptions(precision=4)
    """
    if (threshold, edgeitems, linewidth, suppress) != (None, None, None, None):
        np.set_printoptions(threshold=threshold, edgeitems=edgeitems, linewidth=linewidth, suppress=suppress)
    if precision is not None:
        formatting.set_precision(operator.index(precision))
