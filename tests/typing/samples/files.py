"""What a type checker knows about files."""

import os
import tempfile
from pathlib import Path
from typing import assert_type

import tensix
from tensix import FileFormatError, Tensor, TensorFile
from tensix.core import Storage
from tensix.files import FileMap, RawFile

folder = Path(tempfile.mkdtemp())
tensix.save(folder / "x.npy", tensix.ones(3))
tensix.save(os.fspath(folder / "x.npz"), {"a": tensix.ones(3), "b": [1, 2]}, compress=True)
tensix.save(folder / "x.safetensors", {"a": tensix.ones(3)}, metadata={"made": "here"})

tensor: Tensor = tensix.load(folder / "x.npy", mmap_mode="c")
file: TensorFile = tensix.load(folder / "x.safetensors", None)
assert_type(file["a"], Tensor)
assert_type(file.metadata, dict[str, str])
assert_type(file.closed, bool)
assert_type(file.copy(), dict[str, Tensor])
for name, x in file.items():
    assert_type(name, str)
    assert_type(x, Tensor)
file.close()

with RawFile(folder / "x.npy") as raw:
    assert_type(raw.tensor((1, 3), "float32", 128), Tensor)
    assert_type(raw.read(0, 6), bytes)
    assert_type(raw.nbytes, int)

with open(folder / "x.npy", "rb") as stream:
    pages = FileMap(stream.fileno(), 6)
    assert_type(pages.storage(0, 6), Storage)
    assert_type(pages.closed, bool)

assert_type(tensix.from_file(folder / "new", (2, 3), dtype=tensix.int8, shared=True), Tensor)
try:
    tensix.load(folder / "new.npy")
except (OSError, FileFormatError) as error:
    assert_type(error, OSError | FileFormatError)
