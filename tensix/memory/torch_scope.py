"""Scopes in which PyTorch's CPU tensors lie in tensix's memory; ``torch_memory.pyx`` is what PyTorch then calls."""

import sys
import warnings
from importlib import import_module

from tensix._support.after_import import AfterImport
from tensix._support.argument_errors import names_signature
from tensix.memory.serving_scope import ServingScope

__all__ = ["TorchWhenImported", "serve_torch"]


class serve_torch(ServingScope):  # noqa: N801 - it reads as what it does
    """Let PyTorch's CPU tensors lie in tensix's memory, in all threads, from now on.

    Parameters
    ----------
    allocator : Allocator, optional
        Where blocks come from. If not given, each comes from the allocator in use when it is asked for: the innermost
        `use_allocator` of its thread, or the default.

    Raises
    ------
    TypeError
        If it is not an `Allocator`.
    RuntimeError
        If PyTorch was not imported before.

    Warns
    -----
    RuntimeWarning
        If this PyTorch cannot be served: its memory is not laid out as expected, or somebody installed an allocator
        with a higher priority. The program runs as it is then, and `is_open` is False.

    Notes
    -----
    Use it as a context manager, as a decorator, ``@serve_torch()``, or as a plain call that `close` ends. Scopes nest:
    the newest that is open serves. Statistics, profiles, recordings and limits then see PyTorch's tensors as they see
    NumPy's arrays, and a block that is freed is used again with its pages.

    If there is no memory, PyTorch raises its `RuntimeError` with the text of the allocator's error and, while a
    recording or a profile runs, the lines that hold most.

    Not seen: memory that oneDNN or MKL take for themselves, tensors in shared memory, mapped files, pinned and CUDA
    memory. ``torch.profiler`` keeps its numbers.

    Lifetime: tensors may outlive the scope; their blocks go back to where they came from. Tensors that are older than
    the scope stay where they are. PyTorch keeps a pointer to a static allocator of tensix for as long as it lives.

    Thread-safety: a scope holds for all threads; any thread may open and close it. PyTorch allocates and frees without
    the GIL.

    Examples
    --------
    ::

        import tensix
        import torch
        with tensix.memory.serve_torch(), tensix.memory.statistics() as s:
            x = torch.ones(1000)
        assert s.current_bytes == 4000

    >>> import tensix
    >>> tensix.memory.serve_torch("64MiB")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: serve_torch() needs an Allocator or None, found str. ...
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self, allocator=None):
        super().__init__(allocator)

    def _open_it(self):
        if "torch" not in sys.modules:
            raise RuntimeError("serve_torch() serves a PyTorch that is there: write import torch before it.")
        super()._open_it()

    def _serve(self, wanted, allocator):
        memory = import_module("tensix.memory.torch_memory")  # its code is for programs with PyTorch only
        problem = memory.serve(wanted, allocator)
        if problem is not None:
            version = getattr(sys.modules["torch"], "__version__", "?")
            warnings.warn(f"PyTorch {version} is not served by tensix: {problem}.", RuntimeWarning, 5)
        return problem is None


class TorchWhenImported:
    """A scope of `serve_torch` that begins when the program imports PyTorch, or at once if it did."""

    def __init__(self):
        self.scope = self.waiting = None

    def __enter__(self):
        if "torch" in sys.modules:
            self.begin()
        else:
            self.waiting = AfterImport(self.begin, "torch")
        return self

    def __exit__(self, *exc_info):
        if self.waiting is not None:
            self.waiting.stop()
        if self.scope is not None:
            self.scope.close()

    def begin(self, name="torch"):
        """Open the scope."""
        self.scope = serve_torch()
