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
from tensix.functions.kernels import (  # noqa: F401
    complex_parts,
    copy,
    matmul,
    meta,
    moments,
    reduction,
    searching,
    sparse_coo,
    ufunc_table,
)
from tensix.functions.kernels import indexing as advanced_indexing  # noqa: F401
from tensix.functions.kernels.parallel import get_num_threads, set_num_threads
from tensix.functions.kernels.random import Generator, manual_seed
from tensix.functions.searching import argmax, argmin, count_nonzero
from tensix.functions.sparse import sparse_coo_tensor
from tensix.functions.statistical import cumulative_prod, cumulative_sum, max, mean, min, prod, std, sum, var
from tensix.functions.utility import all, any
from tensix.tensors import indexing, reshaping, splitting, views  # noqa: F401

__all__ = [
    "Generator", "all", "any", "argmax", "argmin", "can_cast", "count_nonzero", "cumulative_prod", "cumulative_sum",
    "empty", "finfo", "from_numpy", "full", "get_num_threads", "iinfo", "isdtype", "manual_seed", "max", "mean", "min",
    "ones", "prod", "promote_types", "rand", "randn", "result_type", "set_num_threads", "sparse_coo_tensor", "std",
    "sum", "tensor", "var", "zeros",
]  # fmt: skip
__all__ += elementwise_arithmetic.__all__
__all__ += elementwise_comparison.__all__
__all__ += elementwise_exponential.__all__
__all__ += elementwise_floating.__all__
__all__ += elementwise_logical.__all__
__all__ += elementwise_rounding.__all__
__all__ += elementwise_trigonometric.__all__
