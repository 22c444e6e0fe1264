import enum
from typing import Final, Literal, TypeAlias

__all__ = ["MemoryFormat", "contiguous_format", "preserve_format", "channels_last", "channels_last_3d"]

class MemoryFormat(enum.Enum):
    contiguous_format = 0
    preserve_format = 1
    channels_last = 2
    channels_last_3d = 3

contiguous_format: Final = MemoryFormat.contiguous_format
preserve_format: Final = MemoryFormat.preserve_format
channels_last: Final = MemoryFormat.channels_last
channels_last_3d: Final = MemoryFormat.channels_last_3d

_Name: TypeAlias = Literal["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"]
_MemoryFormatLike: TypeAlias = MemoryFormat | _Name
