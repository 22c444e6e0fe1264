from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from tensix._tensor import Tensor, _Number
from tensix.core.data_ptr import _Deleter
from tensix.core.device import Device
from tensix.kernels.random import Generator
from tensix.tensors.dtype import _DTypeLike
from tensix.tensors.layout import Layout
from tensix.tensors.memory_format import _MemoryFormatLike

__all__ = [
    "arange", "asarray", "empty", "empty_like", "empty_strided", "eye", "from_blob", "from_dlpack", "from_numpy",
    "full", "full_like", "linspace", "meshgrid", "ones", "ones_like", "rand", "rand_like", "randint", "randint_like",
    "randn", "randn_like", "scalar_tensor", "tensor", "tril", "triu", "zeros", "zeros_like",
]

@overload
def empty(
    shape: int | Iterable[int] = (),
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    memory_format: _MemoryFormatLike | None = None,
    alignment: int | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def empty(
    shape: int,
    *sizes: int,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    memory_format: _MemoryFormatLike | None = None,
    alignment: int | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def zeros(
    shape: int | Iterable[int] = (),
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    alignment: int | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def zeros(
    shape: int,
    *sizes: int,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    alignment: int | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def ones(
    shape: int | Iterable[int] = (),
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    alignment: int | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def ones(
    shape: int,
    *sizes: int,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    alignment: int | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def rand(
    shape: int | Iterable[int] = (),
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def rand(
    shape: int,
    *sizes: int,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def randn(
    shape: int | Iterable[int] = (),
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def randn(
    shape: int,
    *sizes: int,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def randint(
    low: int,
    high: int,
    size: int | Iterable[int],
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def randint(
    low: int,
    high: int | Iterable[int],
    size: None = None,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
@overload
def randint(
    low: int = 0,
    high: int | None = None,
    *,
    size: int | Iterable[int],
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
) -> Tensor: ...
def full(
    shape: int | Iterable[int],
    fill_value: _Number | Tensor,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    alignment: int | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return a tensor of one value."""
def tensor(
    data: npt.ArrayLike | Tensor, *, dtype: _DTypeLike | None = None, device: str | Device | None = None
) -> Tensor: """Return a tensor with a copy of nested sequences of numbers, an array or a tensor."""
def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """Return a tensor over an array's memory; nothing is copied, and a read-only array gives a read-only tensor."""
def empty_like(
    x: Tensor,
    /,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return a tensor of another's shape whose elements are whatever the memory held."""
def zeros_like(
    x: Tensor,
    /,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return a tensor of zeros of another's shape; parameters as for `empty_like`."""
def ones_like(
    x: Tensor,
    /,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return a tensor of ones of another's shape; parameters as for `empty_like`."""
def full_like(
    x: Tensor,
    /,
    fill_value: _Number | Tensor,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return a tensor of one value of another's shape."""
def rand_like(
    x: Tensor,
    /,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return a tensor of another's shape of random numbers from [0, 1)."""
def randn_like(
    x: Tensor,
    /,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """Return normal random numbers, of mean 0 and deviation 1, in another's shape; parameters as for `rand_like`."""
def randint_like(
    x: Tensor,
    /,
    low: int,
    high: int | None = None,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """Return random integers in another's shape: ``randint_like(x, low, high)`` or ``randint_like(x, high)``."""
def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return a tensor with given strides, whose elements are whatever the memory held."""
def scalar_tensor(
    s: complex,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return a tensor without dimensions that holds a number."""
def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return numbers at even distances, up to a bound that is not among them."""
def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    endpoint: bool = True,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return so many numbers at even distances between two."""
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: """Return a matrix with ones on a diagonal and zeros elsewhere."""
def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> tuple[Tensor, ...]:
    """Return the coordinates of the points of a grid, a tensor per axis."""
def tril(x: Tensor, /, k: int = 0, *, diagonal: int = 0) -> Tensor:
    """Return matrices with zeros above the `k`-th diagonal."""
def triu(x: Tensor, /, k: int = 0, *, diagonal: int = 0) -> Tensor:
    """Return matrices with zeros below the `k`-th diagonal."""
def asarray(
    obj: Any,
    /,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    copy: bool | None = None,
    immutable: bool = False,
) -> Tensor: """Return anything that holds numbers as a tensor, over the same memory where that is possible."""
def from_blob(
    address: int,
    shape: int | Sequence[int],
    *,
    stride: Sequence[int] | None = None,
    dtype: _DTypeLike,
    deleter: Callable[[int], object] | _Deleter | None = None,
    device: str | Device = "cpu",
) -> Tensor: """Return a tensor over memory at an address."""
def from_dlpack(x: object, /, *, device: str | Device | None = None, copy: bool | None = None) -> Tensor:
    """Return a tensor over the memory of anything that speaks DLPack."""
def options_of(
    dtype: _DTypeLike | None,
    device: str | Device | None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> dict[str, Any]: """Return the options that were given, in the forms that operators take."""
