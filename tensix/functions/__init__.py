"""What is done with tensors; importing it registers the kernels."""

from tensix.functions import (
    elementwise_arithmetic,
    elementwise_comparison,
    elementwise_exponential,
    elementwise_floating,
    elementwise_logical,
    elementwise_rounding,
    elementwise_trigonometric,
)
from tensix.functions.creation import empty, from_numpy, full, ones, rand, randn, tensor, zeros
from tensix.functions.data_types import can_cast, finfo, iinfo, isdtype, promote_types, result_type
from tensix.functions.elementwise_arithmetic import *  # noqa: F403
from tensix.functions.elementwise_comparison import *  # noqa: F403
from tensix.functions.elementwise_exponential import *  # noqa: F403
from tensix.functions.elementwise_floating import *  # noqa: F403
from tensix.functions.elementwise_logical import *  # noqa: F403
from tensix.functions.elementwise_rounding import *  # noqa: F403
from tensix.functions.elementwise_trigonometric import *  # noqa: F403
from tensix.functions.kernels import complex_parts, copy, matmul, meta, sparse_coo, ufunc_table  # noqa: F401
from tensix.functions.kernels import indexing as advanced_indexing  # noqa: F401
from tensix.functions.kernels.random import Generator, manual_seed
from tensix.functions.sparse import sparse_coo_tensor
from tensix.tensors import indexing, reshaping, splitting, views  # noqa: F401

__all__ = [
    "Generator", "can_cast", "empty", "finfo", "from_numpy", "full", "iinfo", "isdtype", "manual_seed", "ones",
    "promote_types", "rand", "randn", "result_type", "sparse_coo_tensor", "tensor", "zeros",
]  # fmt: skip
__all__ += elementwise_arithmetic.__all__
__all__ += elementwise_comparison.__all__
__all__ += elementwise_exponential.__all__
__all__ += elementwise_floating.__all__
__all__ += elementwise_logical.__all__
__all__ += elementwise_rounding.__all__
__all__ += elementwise_trigonometric.__all__
