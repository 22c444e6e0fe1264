"""Files: what loading costs before any element is touched, and what touching and saving cost."""

import tempfile
from pathlib import Path

import tensix

KIB, MIB = 1 << 10, 1 << 20
WEIGHTS = 22  # matrices of 4 MiB: 92 MB, a small model


def model(count=WEIGHTS):
    """Return tensors as a model has them."""
    return {f"layers.{i}.weight": tensix.rand(1024, 1024) for i in range(count)}


class Folder:
    """Keep a folder for files; they stay in the system's cache, so no disk is measured."""

    def setup(self, *parameters):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def teardown(self, *parameters):
        self.folder.cleanup()


class Load(Folder):
    """Loading 92 MB, and taking every tensor."""

    params = (".safetensors", ".npz")
    param_names = ("suffix",)

    def setup(self, suffix):
        super().setup()
        self.file = self.path / f"model{suffix}"
        tensix.save(self.file, model())
        self.loaded = tensix.load(self.file)
        self.time_take_again(suffix)

    def time_load(self, suffix):
        tensix.load(self.file)

    def time_load_and_take_all(self, suffix):
        dict(tensix.load(self.file))

    def time_take_again(self, suffix):
        self.loaded["layers.0.weight"]


class Map(Folder):
    """One tensor; the size must not matter."""

    params = (4 * KIB, 64 * MIB)  # one page; what no cache holds
    param_names = ("nbytes",)

    def setup(self, nbytes):
        super().setup()
        self.npy, self.raw = self.path / "x.npy", self.path / "raw"
        tensix.save(self.npy, tensix.ones(nbytes // 4))
        tensix.from_file(self.raw, nbytes // 4, shared=True).fill_(1)

    def time_load_npy(self, nbytes):
        tensix.load(self.npy)

    def time_from_file(self, nbytes):
        tensix.from_file(self.raw)

    def time_from_file_touch_all(self, nbytes):
        tensix.from_file(self.raw).sum()

    def time_read_npy(self, nbytes):
        tensix.load(self.npy, None)


class Save(Folder):
    """Writing, with the flush to the disk that makes the file safe."""

    def setup(self):
        super().setup()
        self.tensors = model(1)

    def time_save_safetensors(self):
        tensix.save(self.path / "x.safetensors", self.tensors)
