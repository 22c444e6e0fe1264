"""Tensors whose memory you can see and steer."""

from tensix import core, dispatch, functions, library, memory, ops
from tensix._version import __version__
from tensix.core import *  # noqa: F403
from tensix.functions import *  # noqa: F403
from tensix.tensors import dtype as _dtype
from tensix.tensors import memory_format as _memory_format
from tensix.tensors.dtype import *  # noqa: F403
from tensix.tensors.layout import Layout, sparse_coo, strided
from tensix.tensors.memory_format import *  # noqa: F403
from tensix.tensors.tensor import Tensor
from tensix.tensors.tensor_impl import TensorImpl
from tensix.tensors.type_meta import TypeIdentifier, TypeMeta, register_type
from tensix.tensors.typed_storage import TypedStorage

__all__ = [
    "Layout", "Tensor", "TensorImpl", "TypeIdentifier", "TypeMeta", "TypedStorage", "__version__", "core", "dispatch",
    "library", "memory", "ops", "register_type", "sparse_coo", "strided",
]  # fmt: skip
__all__ += core.__all__
__all__ += functions.__all__
__all__ += _dtype.__all__
__all__ += _memory_format.__all__
