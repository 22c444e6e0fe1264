from typing import NoReturn

from typing_extensions import disjoint_base

from tensix.core.intrusive_target import IntrusiveTarget
from tensix.tensors.dtype import DType

__all__ = ["TensorImpl"]

@disjoint_base
class TensorImpl(IntrusiveTarget):
    def __copy__(self) -> NoReturn: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> DType: ...
