"""Scopes in which NumPy's arrays lie in tensix's memory; ``numpy_memory.pyx`` is what NumPy then calls."""

import importlib

from numpy._core import _exceptions as numpy_exceptions

from tensix._support.argument_errors import names_signature
from tensix.memory.numpy_memory import failure_of, serve
from tensix.memory.serving_scope import ServingScope

__all__ = ["serve_numpy"]


class serve_numpy(ServingScope):  # noqa: N801 - it reads as what it does
    """Let NumPy's arrays lie in tensix's memory, in all threads, from now on.

    Parameters
    ----------
    allocator : Allocator, optional
        Where blocks come from. If not given, each comes from the allocator in use when it is asked for: the innermost
        `use_allocator` of its thread, or the default.

    Raises
    ------
    TypeError
        If it is not an `Allocator`.

    Notes
    -----
    Use it as a context manager, as a decorator, ``@serve_numpy()``, or as a plain call that `close` ends. Scopes nest:
    the newest that is open serves. Statistics, profiles, recordings and limits then see arrays as they see tensors, and
    a block that is freed is used again with its pages. A handler that a program sets itself (NEP 49) stays in force.

    If there is no memory, NumPy raises its `MemoryError`, whose text ends in that of the allocator's; any other
    exception of the allocator is its cause.

    Lifetime: arrays may outlive the scope. Their blocks go back to the allocator that they came from, which they keep
    alive. Arrays that are older than the scope stay where they are.

    Thread-safety: a scope holds for all threads; any thread may open and close it.

    Examples
    --------
    >>> import numpy as np, tensix
    >>> with tensix.memory.serve_numpy(), tensix.memory.statistics() as s:
    ...     x = np.ones(1000)
    >>> s.current_bytes, x.ctypes.data % 64
    (8000, 0)
    """

    __module__ = "tensix"  # See Note [Modules of classes]

    @names_signature
    def __init__(self, allocator=None):
        for name in ("numpy.ma", "numpy.polynomial"):  # they make lasting arrays: the first call in a scope might do so
            importlib.import_module(name)
        super().__init__(allocator)

    def _serve(self, wanted, allocator):
        name_the_reason()
        serve(wanted, allocator)
        return True


def name_the_reason():
    """Let NumPy's error for an array without memory say what our allocator said."""
    error_class = numpy_exceptions._ArrayMemoryError
    if error_class.__str__ is text_with_reason:
        return
    initialise = error_class.__init__

    def initialise_with_reason(self, *args):
        initialise(self, *args)
        failure = failure_of(max(self._total_size, 1))
        if isinstance(failure, MemoryError):
            self.reason = str(failure)  # not as a cause: two tracebacks would say the same
        else:
            self.__cause__ = failure

    error_class.__init__, error_class.__str__ = initialise_with_reason, text_with_reason


def text_with_reason(error, text_of=numpy_exceptions._ArrayMemoryError.__str__):
    """Return what NumPy's error says, and why."""
    reason = getattr(error, "reason", error.__cause__)
    return text_of(error) if reason is None else f"{text_of(error)}: {reason}"
