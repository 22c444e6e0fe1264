from typing import NamedTuple, TypeAlias

from tensix._tensor import Tensor
from tensix.core.device import Device
from tensix.tensors.dtype import DType, _DTypeLike
from tensix.tensors.promotion import promote_types as promote_types

__all__ = [
    "FloatInfo", "IntInfo", "astype", "can_cast", "finfo", "iinfo", "isdtype", "promote_types", "result_type",
]  # fmt: skip

_Kind: TypeAlias = str | _DTypeLike

class FloatInfo(NamedTuple):
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType

class IntInfo(NamedTuple):
    bits: int
    max: int
    min: int
    dtype: DType

def astype(
    x: Tensor, dtype: _DTypeLike, /, *, copy: bool = True, device: str | Device | None = None
) -> Tensor: ...
def can_cast(from_: Tensor | _DTypeLike, to: _DTypeLike, /) -> bool: ...
def finfo(type: Tensor | _DTypeLike, /) -> FloatInfo: ...
def iinfo(type: Tensor | _DTypeLike, /) -> IntInfo: ...
def isdtype(dtype: _DTypeLike, kind: _Kind | tuple[_Kind, ...]) -> bool: ...
def result_type(*arrays_and_dtypes: Tensor | _DTypeLike | complex) -> DType: ...
