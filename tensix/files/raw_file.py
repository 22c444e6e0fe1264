"""A file whose bytes are elements: mapped where they can be, read where they cannot.

Note [Files that change]
~~~~~~~~~~~~~~~~~~~~~~~~
A mapped page is fetched from the file when it is touched. If the file was cut short meanwhile, the system ends the
process with a bus error, which cannot be turned into an exception safely. What can be done is done: sizes are checked
before anything is mapped, headers are read and not mapped, and the file is checked again whenever a tensor is taken
from it. What was taken before cannot be guarded: load files that others may cut short with ``mmap_mode=None``.
Replacing a file by renaming another onto it, as `tensix.save` does, harms no map.
"""

import io
import math
import operator
import os
import stat
from _thread import allocate_lock
from typing import Any, NamedTuple, Self

import numpy as np

from tensix._support.argument_errors import names_signature
from tensix._tensor import Tensor
from tensix.core import format_size
from tensix.files.file_format_error import FileFormatError
from tensix.files.file_map import FileMap
from tensix.files.tensor_bytes import bytes_to_fill
from tensix.functions.creation import empty
from tensix.tensors.dtype import DType, dtype_from_any

__all__ = ["RawFile"]

MODES = ("r", "c", "r+", None)
MOST_DIMENSIONS = 64
CHUNK = 1 << 24  # bytes, where the system cannot read into our memory at an offset


class Entry(NamedTuple):
    """Where a tensor lies in a file, and what it is like."""

    shape: tuple[int, ...]
    type_name: str  # as the file's format spells it
    dtype: DType | None  # None: tensix has no such type
    offset: int  # bytes from the file's start
    nbytes: int
    column_major: bool = False
    swapped: bool = False  # the bytes are not in the machine's order


class RawFile:
    """Open a file and give tensors over its bytes.

    Parameters
    ----------
    path : str or path-like
        A regular file.
    mmap_mode : {"r", "c", "r+", None}, optional
        As NumPy's. ``"r"``: tensors are read-only maps. ``"c"``: they can be written, the file does not change.
        ``"r+"``: writes go to the file. None: nothing is mapped, every tensor is read into memory of its own.

    Attributes
    ----------
    path : str
        The file.
    mmap_mode : str or None
        As given.
    nbytes : int
        The file's size when it was opened.

    Raises
    ------
    ValueError
        If this is not a regular file, or the mode is unknown.
    OSError
        If it cannot be opened or mapped.

    Notes
    -----
    Lifetime: tensors keep the pages mapped, not the file open; they outlive this object. One descriptor is open until
    this object is closed or dies.

    Thread-safety: tensors may be taken on any thread, also after a fork, and while another thread closes the file: they
    are taken then, or the file is said to be closed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tensix.files import RawFile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "raw")
    >>> _ = path.write_bytes(bytes(range(8)))
    >>> with RawFile(path) as file:
    ...     x = file.tensor((2, 2), "uint8", offset=4)
    >>> x
    tensor([[4, 5],
            [6, 7]], dtype=tensix.uint8, readonly=True)
    """

    __module__ = "tensix.files"  # See Note [Modules of classes]

    _descriptor = None
    _map = None

    @names_signature
    def __init__(self, path: str | os.PathLike[str], mmap_mode: str | None = "r") -> None:
        if mmap_mode not in MODES:
            raise ValueError(f"mmap_mode is one of {', '.join(map(repr, MODES))}, found {mmap_mode!r}.")
        self.path, self.mmap_mode = os.fsdecode(path), mmap_mode
        self._lock = allocate_lock()
        self._descriptor = Descriptor(open_regular(self.path, os.O_RDWR if mmap_mode == "r+" else os.O_RDONLY))
        try:
            self._found = os.fstat(self._descriptor.number)
            self.nbytes = self._found.st_size
            if mmap_mode is not None and self.nbytes:
                self._map = FileMap(self._descriptor.number, self.nbytes, mmap_mode)
        except BaseException:
            self.release()
            raise

    def tensor(self, shape: int | tuple[int, ...], dtype: Any, offset: int = 0) -> Tensor:
        """Return a tensor over a part of the file.

        Parameters
        ----------
        shape : int or tuple of int
            The sizes.
        dtype : DType
            How the bytes are read.
        offset : int, optional
            Where the first element begins, in bytes from the file's start.

        Returns
        -------
        Tensor
            A map, or a copy if the offset does not suit the type.

        Raises
        ------
        FileFormatError
            If the file is too short for it, or was changed since it was opened.
        ValueError
            If a size or the offset is negative, or a copy would have to be made in mode ``"r+"``.
        """
        return self.take(entry_of(shape, dtype, offset))

    def take(self, entry: Entry) -> Tensor:
        """Return the tensor of an entry: a map if nothing is in the way of it, else a copy."""
        self.check()
        self.check_bounds(entry)
        obstacle = self.obstacle(entry)
        if obstacle is not None:
            return self.filled(entry, lambda buffer: self.read_into(entry.offset, buffer))
        storage = self._map.storage(entry.offset, entry.nbytes)
        return Tensor.from_storage(storage, 0, entry.shape, strides_of(entry), entry.dtype)

    def _opened(self):
        """Return the descriptor, which stays open as long as it is held; raise if the file is closed."""
        descriptor = self._descriptor
        if descriptor is None:
            raise ValueError(f"{self.path} is closed.")
        return descriptor

    def check(self) -> None:
        """Raise if the file was changed since it was opened. See Note [Files that change]."""
        descriptor = self._opened()
        now = os.fstat(descriptor.number)
        if now.st_size < self.nbytes:
            raise FileFormatError(
                f"{self.path} was cut short since it was opened: from {self.nbytes:,} to {now.st_size:,} bytes."
            )
        if self.mmap_mode != "r+" and (now.st_size, now.st_mtime_ns) != (self.nbytes, self._found.st_mtime_ns):
            raise FileFormatError(f"{self.path} was changed since it was opened: load it again.")

    def check_bounds(self, entry: Entry):
        """Raise if a tensor would not lie within the file, or tensix has no type for it."""
        if entry.dtype is None:
            hint = f' To have its bits: from_file(path, {entry.nbytes}, dtype="uint8", offset={entry.offset}).'
            raise TypeError(
                f"{entry.type_name} in {self.path} is not an element type of tensix.{hint if entry.nbytes else ''}"
            )
        end = entry.offset + entry.nbytes
        if end > self.nbytes:
            raise FileFormatError(f"{self.path} is cut short: {end:,} bytes are needed, the file has {self.nbytes:,}.")

    def obstacle(self, entry: Entry) -> str | None:
        """Return why a tensor has to be copied or cannot be had at all, None if it can be mapped."""
        if entry.dtype is None:
            return "no element type of tensix"
        if self._map is None or entry.nbytes == 0:
            return "nothing is mapped" if entry.nbytes else "no elements"
        if entry.swapped:
            return "copied: bytes in the other order"
        unit = unit_of(entry.dtype)
        return f"copied: not aligned to {unit} bytes" if entry.offset % unit else None

    def filled(self, entry: Entry, fill) -> Tensor:
        """Return a new tensor whose bytes `fill` writes into the buffer that it is called with."""
        if self.mmap_mode == "r+" and entry.nbytes:
            raise ValueError(f'mmap_mode="r+" needs a map: a tensor of {self.path} has none ({self.obstacle(entry)}).')
        made = empty(entry.shape[::-1] if entry.column_major else entry.shape, dtype=entry.dtype)
        buffer = bytes_to_fill(made)
        if entry.nbytes:
            fill(buffer)
            if entry.swapped:
                np.frombuffer(buffer, f"u{unit_of(entry.dtype)}").byteswap(inplace=True)
        if entry.column_major:
            made = made.permute(*reversed(range(made.ndim)))
        if self.mmap_mode == "r":
            made.storage().readonly = True
        return made

    def read(self, offset: int, nbytes: int) -> bytes:
        """Return bytes of the file; fewer where it ends."""
        buffer = bytearray(max(0, min(nbytes, self.nbytes - offset)))
        self.read_into(offset, memoryview(buffer))
        return bytes(buffer)

    def read_into(self, offset: int, buffer: memoryview):
        """Fill a buffer with bytes of the file; raise if it ends before."""
        done = 0
        while done < len(buffer):
            count = self._read_some(offset + done, buffer[done:])
            if count == 0:
                raise FileFormatError(f"{self.path} is cut short: it ends before byte {offset + len(buffer):,}.")
            done += count

    def _read_some(self, offset, buffer):
        descriptor = self._opened()
        if hasattr(os, "preadv"):  # no position, which a fork would share
            return os.preadv(descriptor.number, [buffer], offset)
        with self._lock:
            os.lseek(descriptor.number, offset, os.SEEK_SET)
            found = os.read(descriptor.number, min(len(buffer), CHUNK))
        buffer[: len(found)] = found
        return len(found)

    def reader(self, offset: int = 0) -> io.BufferedReader:
        """Return a stream over the file with a position of its own."""
        stream = io.BufferedReader(Window(self))
        stream.seek(offset)
        return stream

    @property
    def closed(self) -> bool:
        """Whether no more tensors can be taken."""
        return self._descriptor is None or (self._map is not None and self._map.closed)

    def close(self) -> None:
        """Unmap and close the file now; nothing happens if it was done.

        Raises
        ------
        BufferError
            If a tensor still refers to the map. Nothing changes then.
        """
        if self._map is not None:
            try:
                self._map.close()
            except BufferError as error:
                raise BufferError(f"{self.path}: {error}") from None
        self.release()

    def release(self) -> None:
        """Close the file and let go of the map, which lasts as long as tensors refer to it."""
        if self._map is not None:
            self._map.release()
        self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()

    def __del__(self):
        self.release()

    def __repr__(self):
        state = "closed" if self.closed else format_size(self.nbytes)
        return f"RawFile({self.path!r}, {state}, mmap_mode={self.mmap_mode!r})"


class Descriptor:
    """Own a file descriptor and close it with the last reference.

    So it is not closed while another thread reads, and its number is not that of another file then.
    """

    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number

    def __del__(self):
        os.close(self.number)


class Window(io.RawIOBase):
    """Read a `RawFile` as a stream, for parsers that take streams."""

    def __init__(self, raw):
        super().__init__()
        self._raw, self._position = raw, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def readinto(self, buffer):
        view = memoryview(buffer).cast("B")
        view = view[: max(0, self._raw.nbytes - self._position)]
        self._raw.read_into(self._position, view)
        self._position += len(view)
        return len(view)

    def seek(self, offset, whence=os.SEEK_SET):
        position = offset + (0, self._position, self._raw.nbytes)[whence]
        if position < 0:
            raise io.UnsupportedOperation(f"a position in a file is 0 or more, found {position}.")
        self._position = position
        return position

    def tell(self):
        return self._position


def open_regular(path, access):
    """Return a descriptor of a regular file; do not wait where there is a pipe."""
    descriptor = os.open(path, access | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{path} is a directory.")
    raise ValueError(f"{path} is not a regular file: it cannot be mapped.")


def entry_of(shape, dtype, offset):
    """Return the entry of bare elements that a user describes."""
    wanted, offset = dtype_from_any(dtype), operator.index(offset)
    sizes = (operator.index(shape),) if hasattr(shape, "__index__") else tuple(map(operator.index, shape))
    if offset < 0:
        raise ValueError(f"offset must be 0 or more, found {offset}.")
    return Entry(sizes, wanted.name, wanted, offset, nbytes_of(sizes, wanted.itemsize))


def nbytes_of(shape, itemsize, bits=0):
    """Return how many bytes elements take, each of so many bytes and bits; raise if the shape is none of a tensor."""
    if len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"a tensor has at most {MOST_DIMENSIONS} dimensions, found {len(shape)}.")
    for size in shape:
        if type(size) is not int or size < 0:
            raise ValueError(f"a size is an int of 0 or more, found {size!r} in the shape.")
    nbits = math.prod(shape) * (8 * itemsize + bits)
    if math.prod(max(size, 1) for size in shape) * max(itemsize, 1) >= 1 << 63:  # as strides are computed
        raise ValueError(f"a tensor of shape {shape} has bytes that 63 bits cannot count.")
    if nbits % 8:
        raise ValueError(f"{nbits} bits of shape {shape} are not a whole number of bytes.")
    return nbits // 8


def strides_of(entry):
    """Return the strides, in elements."""
    strides, stride = [], 1
    for size in entry.shape if entry.column_major else reversed(entry.shape):
        strides.append(stride)
        stride *= max(size, 1)
    return tuple(strides if entry.column_major else reversed(strides))


def unit_of(dtype):
    """Return how many bytes of an element have an order and an alignment: half of a complex number."""
    return dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
