from collections.abc import Callable
from typing import Any

from typing_extensions import disjoint_base

from tensix.dispatch.kernel import Kernel

__all__ = ["NumpyKernel"]

@disjoint_base
class NumpyKernel(Kernel):
    """Run a function of NumPy over views of the tensors among the arguments, also of those in lists."""
    def __init__(
        self, function: Callable[..., Any], *, promotes: bool = False, floats: bool = False, moves: bool = False,
        widens: bool = False,
    ) -> None: ...
