"""Tensors whose memory you can see and steer."""

from tensix import core, dispatch
from tensix._version import __version__
from tensix.core import *  # noqa: F403
from tensix.functions import Generator, empty, from_numpy, full, manual_seed, ones, rand, randn, tensor, zeros
from tensix.tensors.dtype import (  # noqa: A004
    DType,
    bfloat16,
    bool,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tensix.tensors.tensor import Tensor
from tensix.tensors.tensor_impl import TensorImpl
