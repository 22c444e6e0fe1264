from typing import final

__all__ = ["Device", "rename_privateuse1_backend"]

@final
class Device:
    """Name a device: a type and, where there are several of it, an index."""
    def __init__(self, device: str | Device, index: int | None = None) -> None: ...
    @property
    def type(self) -> str: """The device type as a string, such as ``"cpu"``."""
    @property
    def type_code(self) -> int: ...
    @property
    def index(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def rename_privateuse1_backend(name: str) -> None:
    """Give the device type ``privateuseone`` a name of its own; the old name is understood as well."""
