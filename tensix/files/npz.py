"""NumPy's ``.npz`` files: ZIP archives of ``.npy`` files.

Members that are stored as they are can be mapped where they lie, if their elements are aligned there; those that this
module writes are. Members that are deflated, or not aligned, are read when they are asked for, and their checksums are
compared. Those of mapped members are not, since that would fetch every page. Names of members are names and never
paths: nothing is unpacked.
"""

import os
import zipfile
import zlib
from collections.abc import Mapping
from threading import RLock
from typing import Any

from tensix._support.atomic_write import atomic_write
from tensix.files.file_format_error import blaming
from tensix.files.npy import parts_of, read_entry
from tensix.files.raw_file import RawFile
from tensix.files.tensor_file import TensorFile

__all__ = ["load_npz", "save_npz"]

ALIGNMENT_BYTES = 64
LOCAL_HEADER = 30  # bytes before a member's name
SIGNATURE = b"PK\x03\x04"
PADDING_ID = 0xD935  # an extra field that archivers know as padding
MOST_INFLATION = 1032  # deflate's best: no honest member grows more
IS_ENCRYPTED = 0x1
ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error)


class NpzFile(TensorFile):
    """Hold the tensors of a ``.npz`` file.

    One thread at a time reads the archive: `zipfile` reads the file's position when it opens a member, and reading
    another member moves that; and without the GIL it may miscount the members that are opened and closed.
    """

    _waiting_type = zipfile.ZipInfo

    def __init__(self, raw):
        self._reading = RLock()
        self._archive = zipfile.ZipFile(raw.reader())
        waiting = {}
        for info in self._archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name in waiting:
                raise ValueError(f"two members are called {name!r}.")
            waiting[name] = info
        super().__init__(raw, waiting)

    def _obstacle(self, waiting, entry):
        if entry.dtype is not None and waiting.compress_type != zipfile.ZIP_STORED:
            return "copied: deflated"
        return super()._obstacle(waiting, entry)

    def _take(self, waiting):
        self._raw.check()
        entry = self._entry(waiting)
        if entry.dtype is None:
            place = f"{waiting.filename} in {self._raw.path}"
            raise TypeError(f"{entry.type_name} of {place} is not an element type of tensix.")
        if waiting.compress_type == zipfile.ZIP_STORED and self._raw.obstacle(entry) is None:
            return self._raw.take(entry)
        return self._raw.filled(entry, lambda buffer: self._inflate(waiting, buffer))

    def _entry(self, info):
        path = f"{info.filename} in {self._raw.path}"
        with blaming(path, ".npz", ARCHIVE_ERRORS), self._reading:
            if info.flag_bits & IS_ENCRYPTED:
                raise ValueError("it is encrypted.")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("it is neither stored nor deflated.")
            if info.compress_type == zipfile.ZIP_STORED and info.file_size != info.compress_size:
                raise ValueError(f"it is stored with {info.compress_size:,} bytes, but its size is {info.file_size:,}.")
            if info.file_size > MOST_INFLATION * (info.compress_size + 1):
                raise ValueError(f"{info.compress_size:,} bytes cannot inflate to {info.file_size:,}.")
            start = self._start_of(info)
            with self._archive.open(info) as stream:
                entry = read_entry(stream, start, path)
            header = entry.offset - start
            if entry.dtype is not None and header + entry.nbytes != info.file_size:
                raise ValueError(f"its header speaks of {header + entry.nbytes:,} bytes, it has {info.file_size:,}.")
        return entry

    def _start_of(self, info):
        """Return where a member's bytes begin, which only the header before them tells."""
        header = self._raw.read(info.header_offset, LOCAL_HEADER) if info.header_offset >= 0 else b""
        if len(header) < LOCAL_HEADER or not header.startswith(SIGNATURE):
            raise ValueError("there is no member where its directory says.")
        name, extra = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
        start = info.header_offset + LOCAL_HEADER + name + extra
        if start + info.compress_size > self._raw.nbytes:
            raise ValueError("it is cut short.")
        return start

    def _inflate(self, info, buffer):
        """Fill a buffer from a member; at the last byte its checksum is compared."""
        path = f"{info.filename} in {self._raw.path}"
        with blaming(path, ".npz", ARCHIVE_ERRORS), self._reading, self._archive.open(info) as stream:
            read_entry(stream, 0, path)
            done = 0
            while done < len(buffer):
                count = stream.readinto(buffer[done:])
                if not count:
                    raise ValueError("it is cut short.")
                done += count


def load_npz(path: str | os.PathLike[str], mmap_mode: str | None = "r") -> TensorFile:
    """Return the tensors of a ``.npz`` file by name, mapped or read when they are asked for.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap_mode : {"r", "c", None}, optional
        As for `tensix.load`; an archive cannot be written through a map.

    Raises
    ------
    FileFormatError
        If this is not an archive. What is wrong with a member is found out when it is asked for.
    """
    if mmap_mode == "r+":
        raise ValueError('an archive cannot be written through a map: mmap_mode="r+" is for .npy and .safetensors.')
    raw = RawFile(path, mmap_mode)
    try:
        with blaming(raw.path, ".npz", ARCHIVE_ERRORS):
            return NpzFile(raw)
    except BaseException:
        raw.release()
        raise


def save_npz(path: str | os.PathLike[str], tensors: Mapping[str, Any], *, compress: bool = False) -> None:
    """Write tensors to a ``.npz`` file, where they can be mapped unless they are compressed.

    Parameters
    ----------
    path : str or path-like
        The file.
    tensors : dict of str to Tensor
        What to write.
    compress : bool, optional
        Whether to deflate them.
    """
    for name in tensors:
        if "\0" in name:
            raise ValueError(f"a name in an archive has no null byte, found {name!r}.")
        if len(f"{name}.npy".encode()) > 0xFFFF:
            raise ValueError(f"a name in an archive has at most 65,535 bytes, found {len(name):,} letters.")
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, x in tensors.items():
            info = zipfile.ZipInfo(f"{name}.npy")  # of 1980: the same tensors give the same file
            is_large = x.nbytes >= zipfile.ZIP64_LIMIT // 2
            if compress:
                info.compress_type = zipfile.ZIP_DEFLATED
            else:
                header = LOCAL_HEADER + len(info.filename.encode()) + 20 * is_large
                info.extra = padding_at(file.tell() + header)
            with archive.open(info, "w", force_zip64=is_large) as member:
                for part in parts_of(x):
                    member.write(part)


def padding_at(position):
    """Return an extra field after which the alignment is right."""
    missing = -(position + 6) % ALIGNMENT_BYTES  # the field itself takes 6 bytes at least
    field = PADDING_ID, 2 + missing, ALIGNMENT_BYTES
    return b"".join(number.to_bytes(2, "little") for number in field) + bytes(missing)
