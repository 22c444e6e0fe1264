"""The ``.safetensors`` format: a JSON header, then the bytes of all tensors without gaps.

Note [Alignment in safetensors files]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
The format allows no byte between tensors, so none can be padded. What can be chosen is the order. Our header is padded
with spaces, so that the first tensor begins at a multiple of 64 bytes. The tensors follow by the largest power of two
that divides their size in bytes, the largest first. Then each begins at a multiple of its own power, up to 64: weights
are aligned to 64 bytes and every tensor to its item size. Files of other writers may have tensors that are not aligned
for their type; those are copied.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from tensix._support.atomic_write import atomic_write
from tensix.files.file_format_error import blaming
from tensix.files.raw_file import Entry, RawFile, nbytes_of, unit_of
from tensix.files.tensor_bytes import bytes_to_save
from tensix.files.tensor_file import TensorFile
from tensix.tensors.dtype import dtype_from_any

__all__ = ["load_safetensors", "save_safetensors"]

ALIGNMENT_BYTES = 64
MOST_HEADER_BYTES = 100_000_000  # the format's own bound
IS_SWAPPED = sys.byteorder != "little"  # the format is little-endian
DTYPES = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
    "U64": "uint64", "I64": "int64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
    "C64": "complex64",
}  # fmt: skip
DTYPES = {code: dtype_from_any(name) for code, name in DTYPES.items()}
CODES = {dtype: code for code, dtype in DTYPES.items()}
# What the format knows and tensix does not, in bits. Such tensors are in the dict; asking for one raises.
FOREIGN_BITS = {
    "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
}  # fmt: skip


def load_safetensors(path: str | os.PathLike[str], mmap_mode: str | None = "r") -> TensorFile:
    """Return the tensors of a ``.safetensors`` file by name, mapped when they are asked for.

    Parameters
    ----------
    path : str or path-like
        The file.
    mmap_mode : {"r", "c", "r+", None}, optional
        As for `tensix.load`.

    Returns
    -------
    TensorFile
        With the file's ``metadata``.

    Raises
    ------
    FileFormatError
        If the header is not as the format wants it: its length, its JSON, names that occur twice, types, shapes, or
        offsets that overlap, leave gaps or do not end where the file does.

    Notes
    -----
    A type that tensix does not have, such as F8_E4M3, is a `TypeError` when that tensor is asked for.
    """
    raw = RawFile(path, mmap_mode)
    try:
        with blaming(raw.path, ".safetensors"):
            return TensorFile(raw, *parse_header(raw))
    except BaseException:
        raw.release()
        raise


def parse_header(raw):
    """Return the entries by name, and the metadata."""
    if raw.nbytes < 8:
        raise ValueError(f"it has {raw.nbytes} bytes, a header alone takes 8 and more.")
    length = int.from_bytes(raw.read(0, 8), "little")
    start = 8 + length
    if length > MOST_HEADER_BYTES or start > raw.nbytes:
        raise ValueError(f"header length is {length:,} bytes, but the file has only {raw.nbytes:,}.")
    text = raw.read(8, length)
    if not text.startswith(b"{"):
        raise ValueError("its header does not begin with a brace.")
    header = json.loads(text.decode("utf-8"), object_pairs_hook=unique, parse_constant=refuse_constant)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("its metadata is not an object of strings.")
    "".join([*header, *metadata, *metadata.values()]).encode("utf-8")  # else half a character is left somewhere
    entries = {name: described_entry(name, described, start) for name, described in header.items()}
    check_gapless(entries, start, raw.nbytes)
    return entries, metadata


def unique(pairs):
    """Return a dict of a JSON object whose names occur once."""
    made = dict(pairs)
    if len(made) != len(pairs):
        most = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"a name occurs twice: {most[0][0]!r}.")
    return made


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON.")


def described_entry(name, described, start):
    """Return the checked entry of a tensor."""
    code, shape, (begin, end) = described["dtype"], tuple(described["shape"]), described["data_offsets"]
    if type(described["shape"]) is not list:
        raise ValueError(f"the shape of {name!r} is not a list.")
    dtype = DTYPES.get(code)
    if dtype is None and code not in FOREIGN_BITS:
        raise ValueError(f"the type of {name!r} is unknown: {code!r}.")
    nbytes = nbytes_of(shape, 0, FOREIGN_BITS[code]) if dtype is None else nbytes_of(shape, dtype.itemsize)
    if type(begin) is not int or type(end) is not int or begin < 0 or end - begin != nbytes:
        raise ValueError(f"{name!r} has {nbytes:,} bytes, its offsets are {begin!r} and {end!r}.")
    is_swapped = IS_SWAPPED and dtype is not None and dtype.itemsize > 1
    return Entry(shape, code, dtype, start + begin, nbytes, swapped=is_swapped)


def check_gapless(entries, start, end):
    """Raise unless the tensors follow one another from the header's end to the file's."""
    reached = start
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].offset, item[1].nbytes)):
        if entry.offset != reached:
            fault = "overlaps another" if entry.offset < reached else "leaves a gap before it"
            raise ValueError(f"{name!r} {fault}: it begins at byte {entry.offset:,}, {reached:,} was reached.")
        reached += entry.nbytes
    if reached != end:
        raise ValueError(f"its tensors end at byte {reached:,}, the file has {end:,}.")


def save_safetensors(
    path: str | os.PathLike[str], tensors: Mapping[str, Any], *, metadata: Mapping[str, str] | None = None
) -> None:
    """Write tensors to a ``.safetensors`` file, each at an address that suits its type.

    Parameters
    ----------
    path : str or path-like
        The file.
    tensors : dict of str to Tensor
        Views are written as tensors of their own.
    metadata : dict of str to str, optional
        What to say beside.

    Raises
    ------
    TypeError
        If the format has no such element type: complex128.
    """
    metadata = {} if metadata is None else dict(metadata)
    if not all(isinstance(text, str) for item in metadata.items() for text in item):
        raise TypeError("metadata is a dict of str to str.")
    for name, x in tensors.items():
        if name == "__metadata__":
            raise ValueError("no tensor can be called '__metadata__': give metadata=... instead.")
        if x.dtype not in CODES:
            raise TypeError(f"the .safetensors format has no type for {name!r}: {x.dtype.name}.")
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    ordered = sorted(tensors, key=lambda name: (-alignment_of(tensors[name].nbytes), name))
    end = 0
    for name in ordered:
        x = tensors[name]
        begin, end = end, end + x.nbytes
        header[name] = {"dtype": CODES[x.dtype], "shape": x.shape, "data_offsets": [begin, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-(8 + len(text)) % ALIGNMENT_BYTES)
    if len(text) > MOST_HEADER_BYTES:
        raise ValueError(f"the header would have {len(text):,} bytes, the format allows {MOST_HEADER_BYTES:,}.")
    with atomic_write(path) as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for name in ordered:
            elements = bytes_to_save(tensors[name])
            unit = unit_of(tensors[name].dtype)
            file.write(np.frombuffer(elements, f"u{unit}").byteswap() if IS_SWAPPED else elements)


def alignment_of(nbytes):
    """Return the largest power of two that divides a size, up to 64. See Note [Alignment in safetensors files]."""
    return min(nbytes & -nbytes, ALIGNMENT_BYTES)
