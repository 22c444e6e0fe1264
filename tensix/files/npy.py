"""NumPy's ``.npy`` files: one tensor each."""

import io
import os
import tokenize

from numpy.lib import format as npy_format

from tensix._support.atomic_write import atomic_write
from tensix._tensor import Tensor
from tensix.files.file_format_error import FileFormatError, blaming
from tensix.files.raw_file import Entry, RawFile, nbytes_of
from tensix.files.tensor_bytes import bytes_to_save
from tensix.tensors.dtype import dtype_from_any

__all__ = ["load_npy", "save_npy"]

MOST_HEADER_BYTES = 10_000  # what NumPy parses
LEAST_TOO_DEEP = 5000  # bytes: in shorter headers nothing is nested so deep that CPython's parser has no memory for it


def load_npy(path: str | os.PathLike[str], mmap_mode: str | None = "r") -> Tensor:
    """Return the tensor of a ``.npy`` file, mapped.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap_mode : {"r", "c", "r+", None}, optional
        As for `tensix.load`.

    Returns
    -------
    Tensor
        With the file's shape and order. A copy if the file's bytes are not in the machine's order.

    Raises
    ------
    FileFormatError
        If this is not a ``.npy`` file, or it is shorter than its header says.
    TypeError
        If tensix has no such element type. Objects are never read: they are pickles, and those run code.

    Notes
    -----
    Lifetime: the mapping lives as long as a tensor refers to it; the file is closed at once. The file must not be
    made shorter meanwhile.

    Examples
    --------
    >>> import numpy, pathlib, tempfile
    >>> from tensix.files.npy import load_npy
    >>> path = pathlib.Path(tempfile.mkdtemp(), "x.npy")
    >>> numpy.save(path, numpy.arange(3))
    >>> load_npy(path)
    tensor([0, 1, 2], readonly=True)
    """
    with RawFile(path, mmap_mode) as raw:
        return raw.take(read_entry(raw.reader(), 0, raw.path))


def save_npy(path: str | os.PathLike[str], x: Tensor):
    """Write a tensor to a ``.npy`` file, in column-major order if that is the tensor's own.

    Raises
    ------
    TypeError
        If NumPy's files have no such element type: bfloat16. Use ``.safetensors``.
    """
    with atomic_write(path) as file:
        for part in parts_of(x):
            file.write(part)


def read_entry(stream, start, path):
    """Return what a header says of the tensor behind it; the stream stands at the header, byte `start` of the file."""
    first = stream.tell()
    with blaming(path, ".npy"):
        try:
            version = npy_format.read_magic(stream)
            if version == (1, 0):
                shape, column_major, described = npy_format.read_array_header_1_0(stream)
            elif version in ((2, 0), (3, 0)):  # they differ in how names of structures' fields are written
                position = stream.tell()
                length = int.from_bytes(stream.read(4), "little")
                if length > MOST_HEADER_BYTES:  # NumPy would read it first
                    raise ValueError(f"its header has {length:,} bytes, and {MOST_HEADER_BYTES:,} are the most.")
                stream.seek(position)
                shape, column_major, described = npy_format.read_array_header_2_0(stream)
            else:
                raise FileFormatError(f"{path} has version {version} of the .npy format, which is not known here.")
        except tokenize.TokenError as error:
            raise ValueError(str(error)) from None
        except MemoryError:
            if stream.tell() - first < LEAST_TOO_DEEP:
                raise
            raise ValueError("its header is nested too deep, or there is no memory to read it.") from None
        nbytes = nbytes_of(shape, described.itemsize)
    offset = start + stream.tell() - first
    if described.hasobject:
        return Entry(shape, "object (a pickle, which would run code)", None, offset, 0)
    try:
        dtype = dtype_from_any(described.newbyteorder("="))
    except TypeError:
        dtype = None
    return Entry(shape, str(described), dtype, offset, nbytes, column_major, not described.isnative)


def parts_of(x):
    """Yield the bytes of a ``.npy`` file: its header, padded to 64 bytes, and the elements."""
    if x.dtype.name == "bfloat16":
        raise TypeError("NumPy's files have no bfloat16: save it as .safetensors, or convert it to float32.")
    column_major = not x.is_contiguous() and x.permute(*reversed(range(x.ndim))).is_contiguous()
    header = io.BytesIO()
    described = {"descr": x.dtype.numpy.str, "fortran_order": column_major, "shape": x.shape}
    npy_format.write_array_header_1_0(header, described)
    yield header.getvalue()
    yield bytes_to_save(x, column_major)
