from tensix.tensors.dtype import DType, _DTypeLike

__all__ = ["promote_types"]

def promote_types(a: _DTypeLike, b: _DTypeLike) -> DType: ...
