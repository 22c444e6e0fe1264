"""What is done with tensors; importing it registers the kernels."""

from tensix.functions.creation import empty, from_numpy, full, ones, rand, randn, tensor, zeros
from tensix.functions.kernels import copy as _copy
from tensix.functions.kernels import ufunc as _ufunc
from tensix.functions.kernels.random import Generator, manual_seed
from tensix.tensors import views as _views

__all__ = ["Generator", "empty", "from_numpy", "full", "manual_seed", "ones", "rand", "randn", "tensor", "zeros"]
