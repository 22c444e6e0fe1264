"""What is done with tensors: a module per chapter of the array API standard."""

from tensix import kernels  # noqa: F401 - calls need them
from tensix.functions import (
    constants,
    creation,
    data_types,
    familiar,
    indexing,
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
from tensix.kernels import elementwise

# The modules whose names are names of tensix; `tensix` imports each by a line of its own, which type checkers follow.
CHAPTERS = (
    constants, creation, data_types, elementwise, familiar, indexing, inspection, linear_algebra, manipulation,
    searching, sets, sorting, sparse, statistical, utility,
)  # fmt: skip
