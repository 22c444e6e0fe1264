"""Files, one format per module, and memory that processes share."""

from tensix.files.file_map import FileMap
from tensix.files.raw_file import RawFile

__all__ = ["FileMap", "RawFile"]


def __dir__():
    return sorted(__all__)  # what a shell offers: not the modules of which the names are
