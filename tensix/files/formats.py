"""`load`, `save` and `from_file`: tensors from files and to files, the format by the suffix."""

import contextlib
import importlib
import os
from collections.abc import Mapping
from typing import Any

from tensix._support.argument_errors import names_signature
from tensix._tensor import Tensor
from tensix.files.file_format_error import FileFormatError
from tensix.files.raw_file import RawFile, entry_of, unit_of
from tensix.files.tensor_file import TensorFile
from tensix.functions.creation import asarray
from tensix.tensors.layout import strided

__all__ = ["FileFormatError", "TensorFile", "from_file", "load", "save"]

# Suffix -> module with load_... and save_...; it is imported when first needed, since parsers take long to import.
FORMATS = {".npy": "npy", ".npz": "npz", ".safetensors": "safetensors"}


@names_signature
def load(path: str | os.PathLike[str], mmap_mode: str | None = "r") -> Any:
    """Return what a file holds, mapped: no element is read before it is touched.

    Parameters
    ----------
    path : str or path-like
        A ``.npy``, ``.npz`` or ``.safetensors`` file.
    mmap_mode : {"r", "c", "r+", None}, optional
        As NumPy's. ``"r"``: tensors are read-only. ``"c"``: they can be written, the file does not change. ``"r+"``:
        writes go to the file; not for ``.npz``. None: nothing is mapped, tensors are read into memory of their own.

    Returns
    -------
    Tensor or TensorFile
        A tensor for ``.npy``; a dict for formats of several tensors, which are taken from the file when asked for.

    Raises
    ------
    FileFormatError
        If the file is malformed, cut short, or was changed before a tensor was taken; a `ValueError`.
    TypeError
        If tensix has no such element type.
    OSError
        If the file cannot be opened.

    Notes
    -----
    Lifetime: a map lasts as long as a tensor refers to it. The file must not be cut short meanwhile: touching pages
    that are gone ends the process. Replacing it by renaming, as `save` does, harms no one. What cannot be mapped is
    copied: deflated members, elements that are not aligned for their type, bytes in the other order.

    Examples
    --------
    >>> import pathlib, tempfile, tensix
    >>> path = pathlib.Path(tempfile.mkdtemp(), "x.npy")
    >>> tensix.save(path, tensix.ones(3))
    >>> tensix.load(path)
    tensor([1., 1., 1.], readonly=True)
    """
    name, module = format_of(path)
    return getattr(module, f"load_{name}")(path, mmap_mode)


@names_signature
def save(path: str | os.PathLike[str], obj: Any, **options: Any) -> None:
    """Write a tensor, or a dict of tensors, to a file.

    Parameters
    ----------
    path : str or path-like
        Its suffix says the format: ``.npy`` takes one tensor, ``.npz`` and ``.safetensors`` take a dict.
    obj : Tensor or dict of str to Tensor
        Whatever `asarray` takes is a tensor here, too.
    **options : bool or dict
        ``compress=True`` for ``.npz``; ``metadata={...}``, of str to str, for ``.safetensors``.

    Raises
    ------
    TypeError
        If the format has no such element type, or takes a dict and found a tensor, or the other way round.
    PermissionError
        If the file that is there may not be written, or no file may be made in its folder.

    Warns
    -----
    RuntimeWarning
        If the owner, group or an extended attribute of the file that is there cannot be kept.

    Notes
    -----
    The file is written beside its place, flushed and renamed: readers see the old one or the new one, whatever happens.
    So a tensor may be saved to the very file that it is mapped from.

    Examples
    --------
    >>> import pathlib, tempfile, tensix
    >>> path = pathlib.Path(tempfile.mkdtemp(), "x.safetensors")
    >>> tensix.save(path, {"weight": tensix.ones(2, 2)}, metadata={"made by": "tensix"})
    >>> tensix.load(path).metadata
    {'made by': 'tensix'}
    """
    if isinstance(obj, (str, os.PathLike)) and not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"save() takes the path first: save({os.fspath(obj)!r}, x), found {type(path).__name__} first.")
    name, module = format_of(path)
    if name == "npy":
        if isinstance(obj, Mapping):
            raise TypeError("a .npy file holds one tensor, found a dict: save it as .npz or .safetensors.")
        value = savable(obj)
    else:
        if not isinstance(obj, Mapping):
            raise TypeError(f"a .{name} file holds a dict of tensors, found {type(obj).__name__}. Use .npy for one.")
        value = {checked_name(key): savable(obj[key]) for key in obj}
    getattr(module, f"save_{name}")(path, value, **options)


@names_signature
def from_file(
    path: str | os.PathLike[str],
    shape: int | tuple[int, ...] | None = None,
    *,
    dtype: Any = "float32",
    offset: int = 0,
    shared: bool = False,
) -> Tensor:
    """Return a tensor over a file of bare elements, mapped.

    Parameters
    ----------
    path : str or path-like
        The file.
    shape : int or tuple of int, optional
        The sizes; as many elements as there are from `offset` on if not given.
    dtype : DType, optional
        How the bytes are read.
    offset : int, optional
        Where the first element begins, in bytes.
    shared : bool, optional
        True: writes go to the file, and every map of it shows them; a file that is not there or too short is made as
        long as the shape wants, with zeros. False: writes stay with this tensor, and the file with its bytes.

    Returns
    -------
    Tensor
        It can be written. Not shared it is a copy if the offset does not suit the type.

    Raises
    ------
    FileFormatError
        If the file is too short and not shared.
    ValueError
        If the shape is not given and the bytes are not a whole number of elements, or the offset does not suit the type
        of a shared tensor.
    OSError
        If the file cannot be opened or made long enough.

    Notes
    -----
    Lifetime: the map lasts as long as a tensor refers to it; the file is closed at once. When written pages reach the
    disk is the system's business.

    Examples
    --------
    >>> import pathlib, tempfile, tensix
    >>> path = pathlib.Path(tempfile.mkdtemp(), "raw")
    >>> x = tensix.from_file(path, 2, shared=True).fill_(1)
    >>> tensix.from_file(path)
    tensor([1., 1.])
    """
    entry = entry_of(() if shape is None else shape, dtype, offset)
    if shared and entry.offset % unit_of(entry.dtype):
        raise ValueError(f"offset {entry.offset} is not aligned for {entry.type_name}: it cannot be shared.")
    is_grown = shared and shape is not None
    growing = grown(path, entry.offset + entry.nbytes) if is_grown else contextlib.nullcontext()
    with growing, RawFile(path, "r+" if shared else "c") as raw:
        if shape is None:
            shape, rest = divmod(max(0, raw.nbytes - entry.offset), entry.dtype.itemsize)
            if rest:
                raise ValueError(
                    f"{raw.path} has {raw.nbytes - entry.offset:,} bytes from byte {entry.offset:,} on, not a "
                    f"whole number of {entry.type_name}."
                )
        return raw.tensor(shape, dtype, offset)


@contextlib.contextmanager
def grown(path, nbytes):
    """Make a file at least so long; where the system can, with space on the disk, whose lack would be a bus error.

    If that or the block fails, the file is as long as it was, and gone if it was not there.
    """
    path = os.path.realpath(os.fsdecode(path))  # a link may point to what is to be made
    access = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
    try:
        descriptor, is_new = os.open(path, access | os.O_EXCL, 0o666), True
    except FileExistsError:
        descriptor, is_new = os.open(path, access, 0o666), False
    try:
        found = os.fstat(descriptor).st_size
        try:
            if found < nbytes and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, found, nbytes - found)
            elif found < nbytes:
                os.ftruncate(descriptor, nbytes)
            yield
        except BaseException:
            if is_new:
                os.unlink(path)
            elif found < nbytes:
                os.ftruncate(descriptor, found)  # a full disk may have taken a part
            raise
    finally:
        os.close(descriptor)


def format_of(path):
    """Return the name and the module of the format that a path's suffix means."""
    suffix = os.path.splitext(os.fsdecode(path))[1].lower()
    name = FORMATS.get(suffix)
    if name is None:
        raise ValueError(
            f"the suffix of {os.fsdecode(path)} means no format; there are {', '.join(FORMATS)}. Bare elements are for "
            "from_file()."
        )
    return name, importlib.import_module(f"{__name__.rpartition('.')[0]}.{name}")


def checked_name(name):
    if not isinstance(name, str):
        raise TypeError(f"tensors in a file are named by str, found {name!r}.")
    return name


def savable(obj):
    """Return a tensor whose bytes can be written."""
    x = obj if isinstance(obj, Tensor) else asarray(obj)
    if x.layout is not strided or x.device.type != "cpu":
        raise TypeError(f"only strided tensors on the CPU can be saved, found {x.layout} on {x.device}.")
    return x
