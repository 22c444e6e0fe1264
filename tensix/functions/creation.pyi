from collections.abc import Iterable
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tensix._tensor import Tensor
from tensix.core.device import Device
from tensix.kernels.random import Generator
from tensix.tensors.dtype import _DTypeLike
from tensix.tensors.memory_format import _MemoryFormatLike

__all__ = ["empty", "from_numpy", "full", "ones", "rand", "randint", "randn", "tensor", "zeros"]

@overload
def empty(
    shape: int | Iterable[int] = (),
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    memory_format: _MemoryFormatLike | None = None,
    alignment: int | None = None,
) -> Tensor: ...
@overload
def empty(
    shape: int,
    *sizes: int,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    memory_format: _MemoryFormatLike | None = None,
    alignment: int | None = None,
) -> Tensor: ...
@overload
def zeros(
    shape: int | Iterable[int] = (),
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    alignment: int | None = None,
) -> Tensor: ...
@overload
def zeros(
    shape: int,
    *sizes: int,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    alignment: int | None = None,
) -> Tensor: ...
@overload
def ones(
    shape: int | Iterable[int] = (),
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    alignment: int | None = None,
) -> Tensor: ...
@overload
def ones(
    shape: int,
    *sizes: int,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    alignment: int | None = None,
) -> Tensor: ...
@overload
def rand(
    shape: int | Iterable[int] = (),
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
) -> Tensor: ...
@overload
def rand(
    shape: int,
    *sizes: int,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
) -> Tensor: ...
@overload
def randn(
    shape: int | Iterable[int] = (),
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
) -> Tensor: ...
@overload
def randn(
    shape: int,
    *sizes: int,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    generator: Generator | None = None,
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
) -> Tensor: ...
def full(
    shape: int | Iterable[int],
    fill_value: int | float | complex | Tensor,
    *,
    dtype: _DTypeLike | None = None,
    device: str | Device | None = None,
    alignment: int | None = None,
) -> Tensor: ...
def tensor(data: npt.ArrayLike | Tensor, *, dtype: _DTypeLike | None = None) -> Tensor: ...
def from_numpy(array: np.ndarray[Any, Any]) -> Tensor: ...
