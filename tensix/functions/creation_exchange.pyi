from collections.abc import Callable, Sequence
from typing import Any

from tensix._tensor import Tensor
from tensix.core.data_ptr import _Deleter
from tensix.core.device import Device
from tensix.tensors.dtype import _DTypeLike

__all__ = ["asarray", "from_blob", "from_dlpack"]

def asarray(
    obj: Any, /, *, dtype: _DTypeLike | None = None, device: str | Device | None = None, copy: bool | None = None
) -> Tensor: ...
def from_blob(
    address: int,
    shape: int | Sequence[int],
    *,
    stride: Sequence[int] | None = None,
    dtype: _DTypeLike,
    deleter: Callable[[int], object] | _Deleter | None = None,
    device: str | Device = "cpu",
) -> Tensor: ...
def from_dlpack(x: object, /, *, device: str | Device | None = None, copy: bool | None = None) -> Tensor: ...
