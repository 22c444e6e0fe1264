from typing import Final

from typing_extensions import disjoint_base

__all__ = ["Kernel", "fallthrough"]

@disjoint_base
class Kernel: ...

fallthrough: Final[Kernel]
