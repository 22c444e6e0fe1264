from collections.abc import Mapping
from typing import Any, Self, final

from tensix._tensor import Tensor

__all__ = ["Generator", "default_generator", "manual_seed"]

@final
class Generator:
    """Make random numbers; the same seed gives the same numbers, on every machine and with any number of threads."""
    def __init__(self, seed: int | None = None) -> None: ...
    def manual_seed(self, seed: int | None) -> Self: """Start again from a seed and return this generator."""
    def get_state(self) -> dict[str, Any]: """Return the state, a dict that `set_state` takes."""
    def set_state(self, state: Mapping[str, Any]) -> None: """Go on from a state that `get_state` returned."""

default_generator: Generator

def manual_seed(seed: int | None) -> Generator: """Start the default generator again from a seed and return it."""
def random_order(n: int, generator: Generator | None) -> Tensor:
    """Return the numbers from 0 to below `n` in a random order."""
