"""Exchange with others, one protocol per file."""

from tensix.interop.file_map import FileMap
from tensix.interop.raw_file import RawFile

__all__ = ["FileMap", "RawFile"]
