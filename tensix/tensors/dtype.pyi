from typing import Any, Never, TypeAlias, final

import numpy as np

__all__ = [
    "DType", "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64",
    "complex128", "bfloat16", "uint16", "uint32", "uint64",
]  # fmt: skip

@final
class DType:
    def __new__(cls) -> Never: ...
    @property
    def code(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def numpy(self) -> np.dtype[Any] | None: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def type(self) -> type[np.generic]: ...

# What every `dtype` argument takes: an element type of tensix or NumPy, a Python scalar type or a name.
_DTypeLike: TypeAlias = DType | np.dtype[Any] | type[Any] | str

DTYPE_COUNT: int

def dtype_from_any(dtype: _DTypeLike) -> DType: ...

bool: DType
uint8: DType
int8: DType
int16: DType
int32: DType
int64: DType
float16: DType
float32: DType
float64: DType
complex64: DType
complex128: DType
bfloat16: DType
uint16: DType
uint32: DType
uint64: DType
