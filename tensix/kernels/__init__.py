"""What operators do: everything that is registered for one. Importing this package registers all of it."""

from tensix.kernels import (  # noqa: F401
    creation,
    elementwise,
    fourier,
    indexing,
    linear_algebra,
    manipulation,
    meta,
    random,
    searching,
    sets,
    sorting,
    sparse,
    statistical,
    utility,
    views,
)
