"""What is done with tensors: a module per chapter of the array API standard. Importing it registers the kernels."""

from tensix.functions import (
    constants,
    creation,
    creation_exchange,
    creation_like,
    creation_ranges,
    data_types,
    differences,
    elementwise_arithmetic,
    elementwise_comparison,
    elementwise_exponential,
    elementwise_floating,
    elementwise_logical,
    elementwise_rounding,
    elementwise_trigonometric,
    finding,
    indexing_functions,
    inspection,
    linear_algebra,
    manipulation,
    searching,
    sets,
    sorting,
    sparse,
    statistical,
    utility,
)
from tensix.functions.kernels import (  # noqa: F401
    choosing,
    complex_parts,
    copy,
    joining,
    meta,
    moments,
    products,
    random,
    ranges,
    reduction,
    sparse_coo,
    ufunc_table,
)
from tensix.functions.kernels import indexing as advanced_indexing  # noqa: F401
from tensix.functions.kernels import linear_algebra as linear_algebra_kernels  # noqa: F401
from tensix.functions.kernels import searching as searching_kernels  # noqa: F401
from tensix.tensors import indexing, reshaping, splitting, views  # noqa: F401

# The modules whose names are names of tensix; `tensix` imports each by a line of its own, which type checkers follow.
CHAPTERS = (
    constants, creation, creation_exchange, creation_like, creation_ranges, data_types, differences,
    elementwise_arithmetic, elementwise_comparison, elementwise_exponential, elementwise_floating,
    elementwise_logical, elementwise_rounding, elementwise_trigonometric, finding, indexing_functions, inspection,
    linear_algebra, manipulation, searching, sets, sorting, sparse, statistical, utility,
)  # fmt: skip
