"""New tensors whose elements follow from their positions: ranges, grids, and triangles of matrices."""

import builtins
from typing import Any, Literal

import numpy as np

from tensix._tensor import Tensor
from tensix.core import Device
from tensix.dispatch import native_functions
from tensix.functions.creation import empty, zeros
from tensix.functions.creation_like import options_of, plain_number
from tensix.kernels.numpy_kernel import NumpyKernel
from tensix.kernels.numpy_memory import computed
from tensix.kernels.strided_kernel import StridedKernel
from tensix.tensors.dtype import complex64, float32, int64

__all__ = ["arange", "eye", "linspace", "meshgrid", "tril", "triu"]


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None,
    device: str | Device | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers at even distances, up to a bound that is not among them.

    Parameters
    ----------
    start : int or float
        The first number; if `stop` is not given, the bound, and the first number is 0.
    stop : int or float, optional
        The bound.
    step : int or float, optional
        The distance; it may be negative but not 0.
    dtype : DType, optional
        The element type; int64 if all numbers are ints, else float32.
    device : str or Device, optional
        Where the elements are; the CPU if not given.

    Raises
    ------
    ValueError
        If the step is 0.

    Examples
    --------
    >>> import tensix
    >>> tensix.arange(3), tensix.arange(1, 2, 0.5)
    (tensor([0, 1, 2]), tensor([1.0, 1.5]))
    """
    start, stop = (0, start) if stop is None else (start, stop)
    numbers = [plain_number(number) for number in (start, stop, step)]
    return native_functions.ARANGE(*numbers, **options_of(dtype, device))


def linspace(
    start: complex, stop: complex, /, num: int, *, dtype: Any = None, device: str | Device | None = None,
    endpoint: bool = True,
) -> Tensor:  # fmt: skip
    """Return so many numbers at even distances between two.

    Parameters
    ----------
    start, stop : int, float or complex
        The first number, and the last or the bound.
    num : int
        How many.
    dtype : DType, optional
        The element type; float32, or complex64 if a number is complex.
    device : str or Device, optional
        Where the elements are; the CPU if not given.
    endpoint : bool, optional
        Whether `stop` is the last number.

    Raises
    ------
    ValueError
        If `num` is negative.

    Examples
    --------
    >>> import tensix
    >>> tensix.linspace(0, 1, 3), tensix.linspace(0, 1, 2, endpoint=False)
    (tensor([0.0, 0.5, 1.0]), tensor([0.0, 0.5]))
    """
    return native_functions.LINSPACE(
        plain_number(start), plain_number(stop), num, endpoint=endpoint, **options_of(dtype, device)
    )


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: str | Device | None = None
) -> Tensor:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows, n_cols : int
        The sizes; as many columns as rows if not given.
    k : int, optional
        How far the diagonal is above the main one; negative is below.
    dtype : DType, optional
        The element type; float32 if not given.
    device : str or Device, optional
        Where the elements are; the CPU if not given.

    Examples
    --------
    >>> import tensix
    >>> tensix.eye(2, 3, k=1, dtype=tensix.int64)
    tensor([[0, 1, 0],
            [0, 0, 1]])
    """
    columns = n_rows if n_cols is None else n_cols
    return native_functions.EYE(n_rows, columns, k=k, **options_of(dtype, device))


def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> tuple[Tensor, ...]:
    """Return the coordinates of the points of a grid, a tensor per axis.

    Parameters
    ----------
    *arrays : Tensor
        The positions on each axis.
    indexing : str, optional
        ``"xy"``: the first two axes lie along columns and rows, as one draws; ``"ij"``: in order, as matrices.

    Examples
    --------
    >>> import tensix
    >>> tensix.meshgrid(tensix.arange(2), tensix.arange(3), indexing="ij")[1]
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    return native_functions.MESHGRID(arrays, indexing=indexing) if arrays else ()


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Return matrices with zeros above the `k`-th diagonal.

    Examples
    --------
    >>> import tensix
    >>> tensix.tril(tensix.tensor([[1, 2], [3, 4]]))
    tensor([[1, 0],
            [3, 4]])
    """
    return native_functions.TRIL(x, k)


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Return matrices with zeros below the `k`-th diagonal.

    Examples
    --------
    >>> import tensix
    >>> tensix.triu(tensix.tensor([[1, 2], [3, 4]]))
    tensor([[1, 2],
            [0, 4]])
    """
    return native_functions.TRIU(x, k)


# ---- kernels


def default_type(*numbers):
    """Return the element type of a result of these numbers."""
    made = int64
    for number in numbers:
        if isinstance(number, builtins.complex):
            return complex64
        if isinstance(number, float):
            made = float32
    return made


def numbers_of_numpy(count, dtype, device, function, *args):
    """Return the numbers that a function of NumPy makes as a tensor of a type, on a device: on meta none are made."""
    where = Device("cpu" if device is None else device)
    target = None if where.type == "cpu" else empty(count, dtype=dtype, device=where)  # first: it may be refused
    if where.type == "meta":
        return target
    made = native_functions.ASTYPE(computed(function, *args), dtype)
    return made if target is None else target.copy_(made)


def linspace_kernel(start, end, steps, *, endpoint=True, dtype=None, device=None):
    """Reckon in float64 or complex128."""
    if not 0 <= steps < 2**63:
        raise ValueError(f"linspace() needs a number of elements that is 0 or more and below 2**63, found num={steps}.")
    if dtype is None:
        dtype = default_type(start, end, 0.0)
    exact = dtype.numpy if "integer" in dtype.kind else None
    return numbers_of_numpy(steps, dtype, device, np.linspace, start, end, steps, endpoint, False, exact)


def eye_kernel(n, m, *, k=0, dtype=None, device=None):
    """Fill a diagonal of zeros, on any device."""
    made = zeros(n, m, dtype=dtype or float32, device=device)
    made.diagonal(k).fill_(1)
    return made


def meshgrid_kernel(tensors, *, indexing):
    """Make copies: NumPy's views would share elements."""
    return np.meshgrid(*tensors, indexing=indexing)


for _table, _kernel in ((native_functions.LINSPACE, linspace_kernel), (native_functions.EYE, eye_kernel)):
    _table.register("CompositeExplicitAutograd", StridedKernel(_kernel, _table.schema))
native_functions.MESHGRID.register("CPU", NumpyKernel(meshgrid_kernel))
native_functions.TRIL.register("CPU", NumpyKernel(np.tril))
native_functions.TRIU.register("CPU", NumpyKernel(np.triu))
