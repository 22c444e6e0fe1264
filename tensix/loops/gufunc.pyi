"""Linear algebra and Fourier transforms by the inner loops of NumPy's generalised ufuncs."""

from typing_extensions import disjoint_base

from tensix.dispatch.kernel import Kernel

__all__ = ["FactorsKernel", "FourierKernel", "GufuncKernel"]

@disjoint_base
class GufuncKernel(Kernel):
    def __init__(
        self, names: str | tuple[str, str], rest: Kernel, *, may_fail: bool = True, must_be_finite: bool = False
    ) -> None: ...

@disjoint_base
class FactorsKernel(Kernel):
    def __init__(self, rest: Kernel) -> None: ...

@disjoint_base
class FourierKernel(Kernel):
    def __init__(
        self, rest: Kernel, last: str, others: str | None = None, *, divides: str, mirrors: bool = False
    ) -> None: ...
