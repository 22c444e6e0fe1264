# Made of familiar.py by tests/typing/stubs.py.
from collections.abc import Sequence
from typing import Any

from tensix._tensor import Tensor
from tensix.core import Device
from tensix.kernels.random import Generator

__all__ = [
    "allclose", "array_equal", "einsum", "hstack", "median", "pad", "quantile", "randperm",
    "set_printoptions", "split", "unique", "vstack",
]  # fmt: skip

def allclose(
    x1: Tensor | complex, x2: Tensor | complex, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool: ...
def array_equal(x1: Tensor, x2: Tensor, /, equal_nan: bool = False) -> bool: ...
def einsum(subscripts: str, /, *operands: Tensor) -> Tensor: ...
def unique(
    x: Tensor, /, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False
) -> Any: ...
def median(
    x: Tensor, /, axis: int | None = None, keepdims: bool = False, *, dim: int | None = None, keepdim: bool = False
) -> Tensor: ...
def quantile(
    x: Tensor,
    q: float | Sequence[float] | Tensor,
    /,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    dim: int | None = None,
    keepdim: bool = False,
) -> Tensor: ...
def hstack(arrays: Sequence[Tensor], /) -> Tensor: ...
def vstack(arrays: Sequence[Tensor], /) -> Tensor: ...
def split(
    x: Tensor, split_size_or_sections: int | Sequence[int], /, axis: int = 0, *, dim: int = 0
) -> tuple[Tensor, ...]: ...
def pad(
    x: Tensor,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    /,
    mode: str = "constant",
    constant_values: complex = 0,
) -> Tensor: ...
def randperm(
    n: int, dtype: Any = None, device: str | Device | None = None, generator: Generator | None = None
) -> Tensor: ...
def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    suppress: bool | None = None,
) -> None: ...
