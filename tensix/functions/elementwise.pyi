from tensix._tensor import Tensor
from tensix.kernels.elementwise import *  # noqa: F403
from tensix.kernels.elementwise import Operand as _Operand

def clip(
    x: Tensor,
    /,
    min: _Operand | None = None,
    max: _Operand | None = None,
    *,
    a_min: _Operand | None = None,
    a_max: _Operand | None = None,
) -> Tensor: ...

clamp = clip
