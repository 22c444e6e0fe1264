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
    """Limits of a floating type; see `finfo`."""
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType

class IntInfo(NamedTuple):
    """Limits of an integer type; see `iinfo`."""
    bits: int
    max: int
    min: int
    dtype: DType

def astype(
    x: Tensor, dtype: _DTypeLike, /, *, copy: bool = True, device: str | Device | None = None
) -> Tensor: """Return a tensor with its elements converted to another type."""
def can_cast(from_: Tensor | _DTypeLike, to: _DTypeLike, /) -> bool:
    """Return whether promotion may turn one element type into another."""
def finfo(type: Tensor | _DTypeLike, /) -> FloatInfo:
    """Return the limits of a floating type, those of its parts if it is complex."""
def iinfo(type: Tensor | _DTypeLike, /) -> IntInfo: """Return the limits of an integer type."""
def isdtype(dtype: _DTypeLike, kind: _Kind | tuple[_Kind, ...]) -> bool:
    """Return whether an element type is of a kind."""
def result_type(*arrays_and_dtypes: Tensor | _DTypeLike | complex) -> DType:
    """Return the element type that the result of an operation on these has."""
