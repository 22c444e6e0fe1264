"""NumPy's ``.npy`` files, mapped into memory.

A mapped tensor costs no memory until its elements are touched. It is read-only; `lazy_clone` makes a writable one
that copies at its first write.
"""

import mmap
import os
import tokenize

import numpy as np
from numpy.lib import format as npy_format

from tensix.functions.creation import adopt_array
from tensix.tensors.tensor import Tensor

__all__ = ["load_npy"]


def load_npy(path: str | os.PathLike[str]) -> Tensor:
    """Return a read-only tensor over a mapped ``.npy`` file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Tensor
        With the file's shape and order. Only a tensor without elements needs no mapping.

    Raises
    ------
    ValueError
        If this is no ``.npy`` file, it is shorter than its header says, or its bytes are not in the machine's order.
    TypeError
        If tensix has no such element type.

    Notes
    -----
    Lifetime: the mapping lives as long as a tensor looks at it; the file is closed at once. The file must not be
    made shorter meanwhile.

    Examples
    --------
    >>> import numpy, pathlib, tempfile
    >>> from tensix.interop.npy import load_npy
    >>> path = pathlib.Path(tempfile.mkdtemp(), "x.npy")
    >>> numpy.save(path, numpy.arange(3))
    >>> load_npy(path)
    tensor([0, 1, 2], readonly=True)
    """
    with open(path, "rb") as file:
        shape, column_major, dtype = read_header(file, path)
        start = file.tell()
        count = 1
        for size in shape:
            count *= size
        needed = start + count * dtype.itemsize
        found = os.fstat(file.fileno()).st_size
        if found < needed:
            raise ValueError(f"{path} is cut short: its header speaks of {needed:,} bytes, the file has {found:,}.")
        if count == 0:
            elements = np.empty(0, dtype)
            elements.flags.writeable = False
        else:
            elements = np.frombuffer(mmap.mmap(file.fileno(), needed, access=mmap.ACCESS_READ), dtype, count, start)
    return adopt_array(elements.reshape(shape, order="F" if column_major else "C"))


def read_header(file, path):
    """Return shape, whether the order is column-major, and NumPy's type; the file stands at the data then."""
    try:
        version = npy_format.read_magic(file)
        if version == (1, 0):
            return npy_format.read_array_header_1_0(file)
        if version in ((2, 0), (3, 0)):  # they differ in how names of structures' fields are written
            return npy_format.read_array_header_2_0(file)
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path} is no .npy file that can be read: {reason}") from None
    raise ValueError(f"{path} has version {version} of the .npy format, which is not known here.")
