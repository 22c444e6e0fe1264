"""Tensors whose memory you can see and steer. Examples in docstrings assume ``import tensix``."""

import sys as _sys
from importlib import import_module as _import_module
from types import BuiltinFunctionType as _BuiltinFunctionType
from types import FunctionType as _FunctionType
from typing import TYPE_CHECKING

# `python -m tensix run` and `memory` start the program before they import anything that it does not need. See Note
# [How a program is set up]. While Python looks for the module that it is to run, sys.argv[0] is "-m".
if getattr(_sys, "argv", [])[:2] in (["-m", "run"], ["-m", "memory"]) and _sys.orig_argv[-len(_sys.argv)] == "tensix":
    _sys.exit(_import_module("tensix.__main__").main())

try:
    _import_module("numpy")  # first: where it refuses, none of our modules has been bound to the interpreter
    _import_module("tensix._modules")  # which imports the compiled ones
except ImportError as error:
    if "interpreter" in str(error) or "once per process" in str(error):
        raise ImportError(
            "tensix and NumPy can be imported in one interpreter of a process only, best in the main one. Here another "
            "one was first, or this one has a GIL of its own: use processes instead of subinterpreters."
        ) from error
    raise
from tensix import core, dispatch, functions, memory
from tensix._support.loaded_later import loaded_later
from tensix._tensor import Tensor
from tensix._version import __version__
from tensix.core.free_threading import keep_for_ever as _keep_for_ever
from tensix.exchange.pickling import _storage_of_bytes, _storage_over  # noqa: F401 - pickles name them
from tensix.functions.constants import *  # noqa: F403
from tensix.functions.creation import *  # noqa: F403
from tensix.functions.data_types import *  # noqa: F403
from tensix.functions.familiar import *  # noqa: F403
from tensix.functions.indexing import *  # noqa: F403
from tensix.functions.inspection import *  # noqa: F403
from tensix.functions.linear_algebra import *  # noqa: F403
from tensix.functions.manipulation import *  # noqa: F403
from tensix.functions.searching import *  # noqa: F403
from tensix.functions.sets import *  # noqa: F403
from tensix.functions.sorting import *  # noqa: F403
from tensix.functions.sparse import *  # noqa: F403
from tensix.functions.statistical import *  # noqa: F403
from tensix.functions.utility import *  # noqa: F403
from tensix.kernels.elementwise import *  # noqa: F403
from tensix.kernels.random import Generator, manual_seed
from tensix.loops.corrected_loops import get_math, set_math
from tensix.loops.parallel import get_num_threads, set_num_threads
from tensix.tensors import dtype as _dtype
from tensix.tensors import memory_format as _memory_format
from tensix.tensors.dtype import *  # noqa: F403
from tensix.tensors.layout import Layout, sparse_coo, strided
from tensix.tensors.memory_format import *  # noqa: F403
from tensix.tensors.names_elsewhere import advice
from tensix.tensors.tensor_impl import TensorImpl

if TYPE_CHECKING:
    from tensix import abi as abi
    from tensix import explanation as explanation
    from tensix import fft, files, library, linalg, ops, testing
    from tensix.abi import get_include
    from tensix.core import *  # noqa: F403
    from tensix.dispatch import *  # noqa: F403
    from tensix.explanation import Explanation, explain
    from tensix.files.formats import FileFormatError, TensorFile, from_file, load, save
    from tensix.library import Library
    from tensix.memory import *  # noqa: F403
    from tensix.tensors.type_meta import TypeIdentifier, TypeMeta, register_type
    from tensix.tensors.typed_storage import TypedStorage
    from tensix.testing import DeleteTracker, FailingAllocator, FakeAllocator, assert_no_leaks

__all__ = [
    "DeleteTracker", "Explanation", "FailingAllocator", "FakeAllocator", "FileFormatError", "Generator", "Layout",
    "Library", "Tensor", "TensorFile", "TensorImpl", "TypeIdentifier", "TypeMeta", "TypedStorage", "__version__",
    "assert_no_leaks", "core", "dispatch", "explain", "fft", "files", "from_file", "get_include", "get_math",
    "get_num_threads", "library", "linalg", "load", "manual_seed", "memory", "ops", "register_type", "save", "set_math",
    "set_num_threads", "sparse_coo", "strided", "testing",
]  # fmt: skip
__all__ += core.__all__
__all__ += memory.__all__
__all__ += dispatch.__all__
__all__ += _dtype.__all__
__all__ += _memory_format.__all__
for _chapter in functions.CHAPTERS:
    __all__ += _chapter.__all__

# A pickle names a function by the package, as it names a class: see Note [Modules of classes].
for _name in __all__:
    if type(_function := globals().get(_name)) in {_FunctionType, _BuiltinFunctionType}:
        _function.__module__ = "tensix"

# Name -> the module that has it, None for a module of that name. Not every program explains, tests or reads files;
# those that do load these modules, and no other program waits for them. The floors below know themselves what is
# loaded later.
LOADED_LATER = {
    "Explanation": "explanation", "explain": "explanation", "Library": "library", "get_include": "abi",
    "TypedStorage": "tensors.typed_storage",
    **dict.fromkeys(("abi", "explanation", "fft", "files", "library", "linalg", "ops", "testing")),
    **dict.fromkeys(core.__all__, "core"),
    **dict.fromkeys(dispatch.__all__, "dispatch"),
    **dict.fromkeys(("FileFormatError", "TensorFile", "from_file", "load", "save"), "files.formats"),
    "load_ipython_extension": "command_line.notebook",
    **dict.fromkeys(memory.__all__, "memory"),
    **dict.fromkeys(("TypeIdentifier", "TypeMeta", "register_type"), "tensors.type_meta"),
    **dict.fromkeys(("DeleteTracker", "FailingAllocator", "FakeAllocator", "assert_no_leaks"), "testing"),
}  # fmt: skip
if not TYPE_CHECKING:  # a checker that knew of __getattr__ would take any name for one of the package
    __getattr__, __dir__ = loaded_later(__name__, LOADED_LATER, advice)

# What calls of all threads go through.
_every = [globals().get(name) for name in __all__]
_every += [each for base in Tensor.__mro__[:2] for each in vars(base).values()]
_every += [dispatch.dispatcher.get_op_table(name) for name in dispatch.dispatcher.operators()]
_keep_for_ever([each for each in [*_every, core.get_allocator("cpu")] if not isinstance(each, type)])
del _every

# See Note [Imported once].
_sys.modules["tensix._modules"].imported.update(
    (name, module) for name, module in [*_sys.modules.items()] if name.partition(".")[0] == "tensix"
)
