"""Linear algebra and Fourier transforms by the inner loops of NumPy's generalised ufuncs."""

from tensix.dispatch.kernel import Kernel

class GufuncKernel(Kernel):
    def __init__(
        self, names: str | tuple[str, str], rest: Kernel, *, may_fail: bool = True, must_be_finite: bool = False
    ) -> None: ...

class FactorsKernel(Kernel):
    def __init__(self, rest: Kernel) -> None: ...

class FourierKernel(Kernel):
    def __init__(
        self, rest: Kernel, last: str, others: str | None = None, *, divides: str, mirrors: bool = False
    ) -> None: ...
