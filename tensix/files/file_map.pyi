from typing import SupportsIndex, final

from tensix.core.storage import Storage

__all__ = ["FileMap"]

@final
class FileMap:
    """Map an open file into memory, and lend parts of it to storages."""
    def __init__(self, descriptor: int, nbytes: SupportsIndex, mode: str = "r") -> None: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def mode(self) -> str: ...
    @property
    def closed(self) -> bool: """Whether this object has let go of the pages."""
    def storage(self, offset: SupportsIndex, nbytes: SupportsIndex) -> Storage:
        """Return a storage over a part of the file."""
    def close(self) -> None: """Unmap the pages now; nothing happens if it was done."""
    def release(self) -> None: """Let go of the pages; they are unmapped when the last storage over them dies."""
