"""Types of parameters, as the declarations of functions write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from tensix._tensor import Tensor

__all__ = ["Axes", "Dims", "Mask", "Operand"]

Dims: TypeAlias = "int | tuple[int, ...]"
Axes: TypeAlias = "int | tuple[int, ...] | None"
Operand: TypeAlias = "Tensor | int | float | complex | np.number[Any] | np.bool"
Mask: TypeAlias = "Tensor"
