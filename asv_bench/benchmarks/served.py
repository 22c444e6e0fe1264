"""NumPy's arrays and PyTorch's tensors in their own memory and in tensix's: the same program, served and not."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np

from tensix.memory import serve_numpy, serve_torch

KIB, MIB = 1 << 10, 1 << 20

SIZES = (
    1,  # all cost is bookkeeping: NumPy keeps a few blocks below 1 KiB itself
    512,
    4 * KIB,  # beyond that; glibc's lists of free blocks serve NumPy
    64 * KIB,
    1 * MIB,
    16 * MIB,  # below the 32 MiB up to which glibc keeps what is freed
    64 * MIB,  # above: NumPy's blocks are mapped and faulted in each time
    256 * MIB,
)


def programs(nbytes):
    """Return what is measured with arrays of so many bytes, by name."""
    x = np.ones(max(nbytes // 8, 1))

    def zeros_touched():
        np.zeros(nbytes, np.uint8)[:] = 1

    return {
        "empty": lambda: np.empty(nbytes, np.uint8),
        "zeros": lambda: np.zeros(nbytes, np.uint8),
        "zeros, touched": zeros_touched,
        "y + 1": lambda: x + 1,
        "sqrt(x*x + 1) - x": lambda: np.sqrt(x * x + 1) - x,
    }


PROGRAMS = tuple(programs(1))
TEMPORARIES = ("y + 1", "sqrt(x*x + 1) - x")  # blocks of one size that come again and again


class Served:
    """Each program runs once before: its first run faults pages in, with either memory."""

    params = (PROGRAMS, SIZES, ("numpy", "tensix"))
    param_names = ("program", "nbytes", "memory")

    def setup(self, program, nbytes, memory):
        self.scope = serve_numpy() if memory == "tensix" else None
        self.program = programs(nbytes)[program]
        self.program()

    def teardown(self, program, nbytes, memory):
        del self.program
        if self.scope is not None:
            self.scope.close()

    def time_program(self, program, nbytes, memory):
        self.program()


class ServedTorch:
    """The same for PyTorch, where it is installed."""

    params = (("empty", "y + 1", "linear, backward"), SIZES, ("torch", "tensix"))
    param_names = ("program", "nbytes", "memory")

    def setup(self, program, nbytes, memory):
        if find_spec("torch") is None:
            raise NotImplementedError("PyTorch is not installed")
        torch = import_module("torch")
        torch.set_num_threads(1)
        self.scope = serve_torch() if memory == "tensix" else None
        x = torch.ones(max(nbytes // 4, 1))
        layer, rows = torch.nn.Linear(64, 64), torch.ones(max(nbytes // 256, 1), 64)
        self.program = {
            "empty": lambda: torch.empty(nbytes, dtype=torch.uint8),
            "y + 1": lambda: x + 1,
            "linear, backward": lambda: layer(rows).sum().backward(),
        }[program]
        self.program()

    def teardown(self, program, nbytes, memory):
        del self.program
        if self.scope is not None:
            self.scope.close()

    def time_program(self, program, nbytes, memory):
        self.program()
