"""What is done with tensors; importing it registers the kernels."""

from tensix.functions.creation import empty, from_numpy, full, ones, rand, randn, tensor, zeros
from tensix.functions.kernels import copy, ufunc  # noqa: F401
from tensix.functions.kernels.random import Generator, manual_seed
from tensix.tensors import indexing, reshaping, splitting, views  # noqa: F401

__all__ = ["Generator", "empty", "from_numpy", "full", "manual_seed", "ones", "rand", "randn", "tensor", "zeros"]
