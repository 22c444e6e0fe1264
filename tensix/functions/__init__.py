"""What is done with tensors: a module per chapter of the array API standard."""

from types import BuiltinFunctionType, FunctionType

from tensix import kernels  # noqa: F401 - calls need them
from tensix.functions import (
    constants,
    creation,
    data_types,
    elementwise,
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

# The modules whose names are names of tensix; `tensix` imports each by a line of its own, which type checkers follow.
CHAPTERS = (
    constants, creation, data_types, elementwise, familiar, indexing, inspection, linear_algebra, manipulation,
    searching, sets, sorting, sparse, statistical, utility,
)  # fmt: skip

# A pickle names a function by the package, as it names a class: see Note [Modules of classes].
for _chapter in CHAPTERS:
    for _name in _chapter.__all__:
        _function = getattr(_chapter, _name)
        if type(_function) in {FunctionType, BuiltinFunctionType} and _function.__module__ == _chapter.__name__:
            _function.__module__ = "tensix"
