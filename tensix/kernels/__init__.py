"""What operators do: everything that is registered for one. Importing this package registers all of it."""

from tensix.kernels import (  # noqa: F401
    advanced_indexing,
    basic_indexing,
    choosing,
    complex_parts,
    copy,
    elementwise,
    joining,
    linear_algebra,
    meta,
    moments,
    products,
    random,
    ranges,
    reduction,
    reshaping,
    searching,
    sparse_coo,
    splitting,
    views,
)
