from _ctypes import CFuncPtr
from collections.abc import Callable
from typing import SupportsIndex, TypeAlias

from typing_extensions import CapsuleType, disjoint_base

from tensix.core.device import Device

__all__ = ["DataPtr"]

_Deleter: TypeAlias = CFuncPtr | CapsuleType | int

@disjoint_base
class DataPtr:
    """Own memory through a context and a deleter."""
    def __init__(
        self,
        data: SupportsIndex = 0,
        ctx: SupportsIndex = 0,
        deleter: _Deleter | None = None,
        device: str | Device = "cpu",
    ) -> None: ...
    @staticmethod
    def from_callable(
        data: SupportsIndex, function: Callable[[int], object], device: str | Device = "cpu"
    ) -> DataPtr: """Make a pointer whose memory is freed by any Python callable."""
    @property
    def device(self) -> Device: """The device that the pointer is labelled with."""
    def get(self) -> int: """Return the address of the bytes, 0 for none."""
    def get_context(self) -> int: """Return the address that the deleter will get, 0 for none."""
    def get_deleter(self) -> int: """Return the address of the deleter, 0 for none."""
    def clear(self) -> None: """Free the context and forget the address; the deleter stays attached."""
    def release_context(self) -> int: """Give the context out without freeing it; the address stays readable."""
    def cast_context(self, deleter: _Deleter | None) -> int:
        """Return the context if `deleter` is the one attached, else 0."""
    def compare_exchange_deleter(self, expected: _Deleter | None, new: _Deleter | None) -> bool:
        """Attach another deleter if `expected` is the one attached."""
    def unsafe_reset_data_and_ctx(self, address: SupportsIndex) -> bool:
        """Point both address and context to `address`, if no deleter is attached."""
    def unsafe_set_device(self, device: str | Device) -> None: """Change the device label; no byte moves."""
    def __bool__(self) -> bool: ...
