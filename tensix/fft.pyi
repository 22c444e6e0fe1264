# Made of fft.py by tests/typing/stubs.py.
from collections.abc import Sequence
from typing import Any, Literal

from tensix._tensor import Tensor
from tensix.core import Device
from tensix.tensors.layout import Layout

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip
_Norm = Literal["backward", "ortho", "forward"]
_Axes = int | Sequence[int] | None

def fft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: _Norm = "backward", *, dim: int = -1) -> Tensor: ...
def ifft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: _Norm = "backward", *, dim: int = -1) -> Tensor: ...
def rfft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: _Norm = "backward", *, dim: int = -1) -> Tensor: ...
def irfft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: _Norm = "backward", *, dim: int = -1) -> Tensor: ...
def hfft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: _Norm = "backward", *, dim: int = -1) -> Tensor: ...
def ihfft(x: Tensor, /, n: int | None = None, axis: int = -1, norm: _Norm = "backward", *, dim: int = -1) -> Tensor: ...
def fftn(
    x: Tensor,
    /,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
    *,
    dim: Sequence[int] | None = None,
    dims: Sequence[int] | None = None,
) -> Tensor: ...
def ifftn(
    x: Tensor,
    /,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
    *,
    dim: Sequence[int] | None = None,
    dims: Sequence[int] | None = None,
) -> Tensor: ...
def rfftn(
    x: Tensor,
    /,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
    *,
    dim: Sequence[int] | None = None,
    dims: Sequence[int] | None = None,
) -> Tensor: ...
def irfftn(
    x: Tensor,
    /,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
    *,
    dim: Sequence[int] | None = None,
    dims: Sequence[int] | None = None,
) -> Tensor: ...
def fftshift(x: Tensor, /, axes: _Axes = None, *, dim: _Axes = None, dims: _Axes = None) -> Tensor: ...
def ifftshift(x: Tensor, /, axes: _Axes = None, *, dim: _Axes = None, dims: _Axes = None) -> Tensor: ...
def fftfreq(
    n: int,
    /,
    d: float = 1.0,
    dtype: Any = None,
    device: str | Device | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
def rfftfreq(
    n: int,
    /,
    d: float = 1.0,
    dtype: Any = None,
    device: str | Device | None = None,
    layout: Layout | None = None,
    pin_memory: bool | None = None,
) -> Tensor: ...
