from typing import Any, NoReturn

from typing_extensions import disjoint_base

from tensix.core.device import Device
from tensix.core.intrusive_target import IntrusiveTarget
from tensix.tensors.dtype import DType

__all__ = ["TensorImpl"]

@disjoint_base
class TensorImpl(IntrusiveTarget):
    autograd_meta: Any
    @property
    def storage_offset(self) -> int: ...
    @property
    def numel(self) -> int: ...
    @property
    def key_set(self) -> int: ...
    def __copy__(self) -> NoReturn: ...
    @property
    def stride(self) -> tuple[int, ...]: ...
    @property
    def device(self) -> Device: ...
    @property
    def version(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> DType: ...
