"""Files, one format per module, and memory that processes share."""

from tensix.interop.file_map import FileMap
from tensix.interop.raw_file import RawFile

__all__ = ["FileMap", "RawFile"]
